"""Taking comdiv's problems elsewhere and bringing results back: hubs, language-model harnesses, judges."""

from comdiv.exchange.composing import compose_chains
from comdiv.exchange.compositional_pairs import export_compositional_pairs
from comdiv.exchange.every_eval_ever import export_every_eval_ever
from comdiv.exchange.exports import Export, ExportSource, write_export
from comdiv.exchange.hub_repository import export_hub, push_to_hub
from comdiv.exchange.human_evaluation import export_csv, export_label_studio
from comdiv.exchange.inspect_tasks import export_inspect
from comdiv.exchange.lm_eval import export_lm_eval
from comdiv.exchange.renumbering import renumber_problem

__all__ = [
    "Export",
    "ExportSource",
    "compose_chains",
    "export_compositional_pairs",
    "export_csv",
    "export_every_eval_ever",
    "export_hub",
    "export_inspect",
    "export_label_studio",
    "export_lm_eval",
    "push_to_hub",
    "renumber_problem",
    "write_export",
]
