"""§III-B: synthetic problems from a rule table, which isolate structural from lexical generalization."""

from comdiv.synthesis.building import synthesize_dataset
from comdiv.synthesis.options import SynthesisOptions
from comdiv.synthesis.rules import Rule, RuleTable, load_rules

__all__ = ["Rule", "RuleTable", "SynthesisOptions", "load_rules", "synthesize_dataset"]
