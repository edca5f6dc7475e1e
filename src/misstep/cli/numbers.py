"""Whole numbers on the command line, which are refused in our own words."""

from typing import Any

import click

from misstep.errors import UsageError

SHOWN = 50  # characters of what was given


class WholeNumber(click.IntRange):
    """A number from `min` to `max`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            expected = f"expected a whole number from {self.min:,} to {self.max:,}"
            where = param.opts[-1] if param else ""
            raise UsageError(f"can't be {str(value)[:SHOWN]!r}", expected, where=where) from None


PORT = WholeNumber(0, 65_535)
MOST = WholeNumber(0, 10**9)
