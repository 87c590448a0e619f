"""The rule table: what it says, and what a wrong one is told."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from comdiv.errors import ComdivError
from comdiv.expression import Expression, Leaf, Reference, equivalent, map_leaves, to_infix
from comdiv.synthesis.rules import Rule, load_rules

PAPER = {
    "1": ("n1*(1-n2)", ["n1*n2", "1-n1"]),
    "2": ("n1*n2/n3", ["n1*n2", "n1/n2"]),
    "3": ("n1*n2+n3", ["n1*n2", "n1+n2"]),
    "4": ("n1*n2*n3", ["n1*n2", "n1*n2"]),
    "5": ("n1/(1-n2)", ["n1/n2", "1-n1"]),
    "6": ("(n1-n2)/n3", ["n1-n2", "n1/n2"]),
    "7": ("(n1+n2)*n3", ["n1+n2", "n1*n2"]),
    "8": ("n1/n2*n3", ["n1/n2", "n1*n2"]),
    "9": ("n1*n2-n3", ["n1*n2", "n1-n2"]),
    "10": ("n1+n2", ["n1-n2"]),
    "11": ("n1-n2", ["n1+n2"]),
    "12": ("n1*n2", ["n1/n2"]),
    "13": ("n1/n2", ["n1*n2"]),
}
RULES = load_rules().rules


def entry(**changes: Any) -> dict[str, Any]:
    rule = {
        "id": "mine",
        "kind": "decomposition",
        "template": "n1*n2/n3",
        "clauses": ["s1", "s2", "s3", "s4"],
        "places": [
            {"clauses": ["s1", "s2"], "quantities": ["n1", "n2"]},
            {"clauses": ["s3"], "quantities": ["n3"]},
        ],
        "products": [
            {"clauses": ["s1", "s2", "delta"], "template": "n1*n2", "delta": "question"},
            {"clauses": ["delta", "s3", "s4"], "template": "n1/n2", "delta": "narrative", "role": "n1"},
        ],
    }
    return {**rule, **changes}


def product(number: int, **changes: Any) -> list[dict[str, Any]]:
    products = [dict(given) for given in entry()["products"]]
    products[number] = {key: value for key, value in {**products[number], **changes}.items() if value is not None}
    return products


def complaint(tmp_path: Path, *rules: dict[str, Any]) -> str:
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"rules": list(rules)}), encoding="utf-8")
    with pytest.raises(ComdivError) as error:
        load_rules(path)
    assert len(str(error.value).splitlines()) == 1
    assert str(error.value).startswith(str(path))
    return str(error.value)


def test_the_table_is_the_papers() -> None:
    assert {rule.id: (rule.template, [p.template for p in rule.products]) for rule in RULES} == PAPER
    assert [rule.kind for rule in RULES] == ["decomposition"] * 9 + ["reformulation"] * 4


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.kind == "decomposition"], ids=lambda rule: rule.id)
def test_one_product_in_the_place_of_the_others_new_quantity_is_the_seed(rule: Rule) -> None:
    stating = rule.products[1 - rule.asking]
    quantities = rule.quantities_of(stating)

    def joined(leaf: Leaf) -> Expression:
        if not isinstance(leaf, Reference):
            return leaf
        index = quantities[leaf.index]
        return rule.x if index is None else Reference(index)

    assert equivalent(map_leaves(stating.tree, joined), rule.tree)


def test_x_is_what_the_first_half_asks_for() -> None:
    found = {rule.id: to_infix(rule.x) for rule in RULES if rule.kind == "decomposition"}
    assert found == {
        "1": "1-N1", "2": "N0*N1", "3": "N0*N1", "4": "N0*N1", "5": "1-N1", "6": "N0-N1", "7": "N0+N1", "8": "N0/N1",
        "9": "N0*N1",
    }  # fmt: skip


def test_a_table_of_ones_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"rules": [entry()]}), encoding="utf-8")
    assert [rule.id for rule in load_rules(path).rules] == ["mine"]


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"template": "n1*"}, "template", "not a template"),
        ({"template": "n2*n1/n3"}, "template", "must be written n1*n2/n3"),
        ({"clauses": ["s1", "s2", "s3"]}, "places", "s3 is the question"),
        ({"places": [{"clauses": ["s1", "s2"], "quantities": ["n1", "n2"]}]}, "places", "n1, n2, n3"),
        ({"places": [{"clauses": ["s9"], "quantities": ["n1"]}]}, "places", "no clause 's9'"),
        ({"places": [{"clauses": ["s1"], "quantities": ["x"]}]}, "'x' is not a quantity", "n1, n2"),
        ({"products": product(0, template="n1-n2")}, "products", "not the seed's n1*n2/n3"),
        ({"products": product(0, template="n1*n2*n3")}, "products.0.template", "has 3 quantities"),
        ({"products": product(0, clauses=["s1", "s2", "delta", "s4"])}, "products.0.clauses", "one question"),
        ({"products": product(0, clauses=["s2", "s1", "delta"])}, "products.0.clauses", "seed's order"),
        ({"products": product(0, clauses=["s1", "delta"])}, "products.0.clauses", "stay together"),
        ({"products": product(0, clauses=["s1", "s2"])}, "products.0.clauses", "exactly one of them is delta"),
        ({"products": product(0, clauses=["s1", "s7", "delta"])}, "products.0.clauses", "no clause 's7'"),
        ({"products": product(1, role="n2")}, "products.1.role", "the role n1"),
        ({"products": product(1, role=None)}, "products.1.role", "the role n1"),
        ({"products": product(0, role="n1")}, "products.0.role", "no role"),
        ({"products": product(0)[:1]}, "products", "has two"),
        ({"kind": "reformulation"}, "products", "one product"),
        ({"kind": "magic"}, "kind", "decomposition"),
        ({"colour": "red"}, "colour", "not permitted"),
    ],
)
def test_a_wrong_rule_is_named_with_its_field(changes: dict[str, Any], field: str, said: str, tmp_path: Path) -> None:
    message = complaint(tmp_path, entry(**changes))
    assert "rule mine" in message
    assert field in message
    assert said in message


def chain(asked: str, clauses: list[str], stated: str, rest: list[str]) -> dict[str, Any]:
    """A rule for n1+n2+n3+n4, one quantity per clause, that splits the sum as the arguments say."""
    names = ["s1", "s2", "s3", "s4"]
    places = [{"clauses": [name], "quantities": [f"n{number}"]} for number, name in enumerate(names, 1)]
    products = [
        {"clauses": [*clauses, "delta"], "template": asked, "delta": "question"},
        {"clauses": ["delta", *rest, "s5"], "template": stated, "delta": "narrative", "role": "n1"},
    ]
    return entry(template="n1+n2+n3+n4", clauses=[*names, "s5"], places=places, products=products)


def test_an_x_of_one_operator_is_read_and_one_of_two_is_refused(tmp_path: Path) -> None:
    """The unit of x is that of its operator: a rule with another x would load and never fire."""
    path = tmp_path / "one.yaml"
    path.write_text(yaml.safe_dump({"rules": [chain("n1+n2", ["s1", "s2"], "n1+n2+n3", ["s3", "s4"])]}))
    assert to_infix(load_rules(path).rules[0].x) == "N0+N1"
    message = complaint(tmp_path, chain("n1+n2+n3", ["s1", "s2", "s3"], "n1+n2", ["s4"]))
    assert "rule mine: products.0.template: the question asks for x = n1+n2+n3, which has 2 operators" in message
    assert message.endswith("x must have exactly one, as in n1*n2 or 1-n1")


def test_ids_are_unique(tmp_path: Path) -> None:
    assert "'mine' occurs twice" in complaint(tmp_path, entry(), entry())


@pytest.mark.parametrize("text", ["", "rules: [", "- 1", "rules: 3", "rules: []"])
def test_what_is_no_table_is_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ComdivError) as error:
        load_rules(path)
    assert len(str(error.value).splitlines()) == 1


def test_a_missing_table_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="No such file"):
        load_rules(tmp_path / "none.yaml")
