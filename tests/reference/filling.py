"""Puts generated parts where pages want them, between two comments that name them."""

import re
from collections.abc import Callable

from tests.reference.commands import every_command
from tests.reference.names import every_name
from tests.reference.settings import every_setting
from tests.reference.shapes import every_constraint, every_event, fields_of
from tests.reference.words import (
    every_error,
    every_exit_code,
    every_finding,
    every_key,
    every_verdict,
    every_violation,
)

PARTS: dict[str, Callable[[], str]] = {
    "settings": every_setting,
    "commands": every_command,
    "python": every_name,
    "events": every_event,
    "constraints": every_constraint,
    "exit codes": every_exit_code,
    "verdicts": every_verdict,
    "errors": every_error,
    "findings": every_finding,
    "violations": every_violation,
    "keys": every_key,
    **{
        name: lambda name=name: fields_of(name)  # type: ignore[misc]
        for name in (
            "Case",
            "Action",
            "World",
            "Planned",
            "Transcript",
            "Call",
            "Usage",
            "Metered",
            "Verdict",
        )
    },
}

MARKED = re.compile(r"(<!-- generated: ([\w ]+) -->\n)(.*?)(<!-- /generated -->)", re.DOTALL)


def filled(text: str) -> str:
    """The text of a page with its generated parts as they should be."""
    return MARKED.sub(lambda found: f"{found[1]}{PARTS[found[2]]()}\n{found[4]}", text)


def named(text: str) -> list[str]:
    """The parts that a page has."""
    return [found[2] for found in MARKED.finditer(text)]
