"""Taking comdiv's problems elsewhere, and what was found out there back: hubs, language-model harnesses, judges."""

from comdiv.exchange.hub import export_hub, push_to_hub
from comdiv.exchange.label_studio import export_label_studio
from comdiv.exchange.lm_eval import export_lm_eval
from comdiv.exchange.pairs import compose_pairs, export_compositional_pairs
from comdiv.exchange.renumbering import renumber_problem
from comdiv.exchange.sheets import export_csv

__all__ = [
    "compose_pairs",
    "export_compositional_pairs",
    "export_csv",
    "export_hub",
    "export_label_studio",
    "export_lm_eval",
    "push_to_hub",
    "renumber_problem",
]
