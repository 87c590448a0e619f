"""All targets by name."""

from fuzz import expressions, folders, rows, texts
from fuzz.target import Target

TARGETS = {
    target.name: target
    for target in (
        Target("expressions", expressions.draw, expressions.examine, full=10_000_000),
        Target("rows", rows.draw, rows.examine, units=rows.ROWS, full=1_000_000),
        Target("predictions", rows.draw_predictions, rows.examine_predictions),
        Target("texts", texts.draw, texts.examine),
        Target("folders", folders.draw, folders.examine, full=20_000, prepare=folders.prepare),
    )
}
