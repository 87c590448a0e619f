"""All targets by name."""

from functools import partial

from fuzz import answers, exchanged, expressions, folders, rows, texts
from fuzz.target import Target

EXCHANGED = partial(folders.draw, kinds=exchanged.FOLDERS)
TARGETS = {
    target.name: target
    for target in (
        Target("expressions", expressions.draw, expressions.examine, full=10_000_000),
        Target("rows", rows.draw, rows.examine, units=rows.ROWS, full=1_000_000),
        Target("predictions", rows.draw_predictions, rows.examine_predictions),
        Target("replies", answers.draw, answers.examine),
        Target("logs", answers.draw_log, answers.examine_log),
        Target("texts", texts.draw, texts.examine),
        Target("folders", folders.draw, folders.examine, full=20_000, prepare=folders.prepare),
        Target("exchanged", EXCHANGED, folders.examine, full=20_000, prepare=folders.prepare),
    )
}
