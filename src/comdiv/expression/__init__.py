"""Expressions: parse, print, draw, evaluate exactly, normalise, compare."""

from comdiv.expression.drawing import draw_svg, draw_text
from comdiv.expression.equation import NotExpressible, equation_holds, parse_equation
from comdiv.expression.evaluation import TOLERANCE, answers_agree, evaluate, format_number, parse_answer
from comdiv.expression.normalisation import (
    canonical,
    equivalent,
    in_text_order,
    mathen_normal_form,
    shape,
    template,
    template_tree,
)
from comdiv.expression.parsing import parse, parse_postfix, parse_prefix
from comdiv.expression.printing import postfix_tokens, prefix_tokens, to_infix, to_latex, to_postfix, to_prefix
from comdiv.expression.tree import (
    OPERATORS,
    Constant,
    Expression,
    ExpressionError,
    Leaf,
    Operation,
    Reference,
    leaves,
    map_leaves,
    operator_count,
    renumber,
    subtrees,
    used_quantities,
)

__all__ = [
    "OPERATORS",
    "TOLERANCE",
    "Constant",
    "Expression",
    "ExpressionError",
    "Leaf",
    "NotExpressible",
    "Operation",
    "Reference",
    "answers_agree",
    "canonical",
    "draw_svg",
    "draw_text",
    "equation_holds",
    "equivalent",
    "evaluate",
    "format_number",
    "in_text_order",
    "leaves",
    "map_leaves",
    "mathen_normal_form",
    "operator_count",
    "parse",
    "parse_answer",
    "parse_equation",
    "parse_postfix",
    "parse_prefix",
    "postfix_tokens",
    "prefix_tokens",
    "renumber",
    "shape",
    "subtrees",
    "template",
    "template_tree",
    "to_infix",
    "to_latex",
    "to_postfix",
    "to_prefix",
    "used_quantities",
]
