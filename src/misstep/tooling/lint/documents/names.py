"""Names that providers refuse."""

import re
from collections.abc import Iterator

from misstep.core.remark import Remark
from misstep.core.words import cut
from misstep.tooling.lint.subject import Subject

LONGEST = 64  # characters
_TOOL = re.compile(r"[a-zA-Z0-9_-]*")
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]*")


def refused_names(subject: Subject) -> Iterator[Remark]:
    """The tool's own name, by what OpenAI and Anthropic both take, and those of parameters by Anthropic's."""
    if problem := _problem(subject.name, _TOOL):
        yield _remark(
            "name",
            subject.name,
            f"{problem} OpenAI and Anthropic take in the name of a tool",
            "a-z, A-Z, 0-9, _ and -",
        )
    for part in subject.parts:
        if problem := _problem(part.name, _PARAMETER):
            message = f"{problem} Anthropic takes in the name of a parameter"
            yield _remark(part.where, part.name, message, "a-z, A-Z, 0-9, _, . and -")


def _problem(name: str, allowed: re.Pattern[str]) -> str:
    if not name:
        return "is empty: that is not what"
    if len(name) > LONGEST:
        return f"has {len(name)} characters, more than the {LONGEST} that"
    return "" if allowed.fullmatch(name) else "has characters other than those that"


def _remark(where: str, name: str, message: str, allowed: str) -> Remark:
    return Remark(
        "name", "ill", where, message, cut(repr(name), 200), f"use {allowed}, {LONGEST} at the most"
    )
