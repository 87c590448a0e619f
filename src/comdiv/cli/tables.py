"""Tables in the terminal."""

from typing import TYPE_CHECKING

from comdiv.cli.console import output_console

if TYPE_CHECKING:
    from comdiv.splitting.measurement import Measurement


def print_measurement(measurement: "Measurement", title: str) -> None:
    """The report on a split."""
    from rich.table import Table
    from rich.text import Text

    from comdiv.splitting.measurement import table_rows

    table = Table(title=Text(title), title_justify="left", show_header=False, box=None)
    for name, value in table_rows(measurement):
        table.add_row(name, value)
    output_console().print(table)
