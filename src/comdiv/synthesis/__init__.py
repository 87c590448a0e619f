"""§III-B: synthetic problems from a rule table, which isolate structural from lexical generalization."""

from comdiv.synthesis.assembly import SynthesisOptions
from comdiv.synthesis.rules import Rule, RuleTable, load_rules
from comdiv.synthesis.synthetic import synthesize_dataset

__all__ = ["Rule", "RuleTable", "SynthesisOptions", "load_rules", "synthesize_dataset"]
