"""All targets by name."""

from fuzz import expressions, folders, rows, texts
from fuzz.target import Target

TARGETS = {
    target.name: target
    for target in (
        Target("expressions", expressions.draw, expressions.examine),
        Target("rows", rows.draw, rows.examine, units=rows.ROWS),
        Target("predictions", rows.draw_predictions, rows.examine_predictions),
        Target("texts", texts.draw, texts.examine),
        Target("folders", folders.draw, folders.examine, prepare=folders.prepare),
    )
}
