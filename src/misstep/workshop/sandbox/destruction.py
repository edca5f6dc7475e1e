"""Refuses to try tools that look as if they could do harm, where nothing would keep them from it."""

import functools
import re
import tomllib
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.workshop.conditions import Shelter
from misstep.workshop.sandbox.sandbox import INSTALL, Sandbox

SHOWN = 12  # tools that are named
MEANT = "--sandbox none calls them all the same, if you mean it"
_SPLIT = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")


def refuse_destruction(
    tools: Sequence[Described], sandbox: Sandbox, shelter: Shelter, remote: bool = False
) -> None:
    """Raise a `UsageError` that names the tools which had better not be called here."""
    if shelter == "none" or (sandbox.holds and not remote):
        return
    found = {tool.name: why for tool in tools if (why := looks_destructive(tool))}
    if not found:
        return
    named = [f"  {name}: {why}" for name, why in list(found.items())[:SHOWN]]
    more = [f"  … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    reason = "they are on a server that no sandbox reaches" if remote else sandbox.why_not
    hints = [*named, *more, *([] if remote else [INSTALL]), MEANT]
    raise UsageError(f"tools that look destructive are not called without a sandbox: {reason}", *hints)


def looks_destructive(tool: Described) -> str:
    """Why a tool looks as if it could do harm, going by its words and its code; empty if it does not."""
    promises = tool.promises
    if promises.destructive:
        return "it says that it is destructive"
    if promises.read_only:
        return ""
    signs = _signs()
    words = {word.lower() for word in _SPLIT.split(tool.name)}
    if found := sorted(words & signs.names):
        return f"its name says '{found[0]}'"
    if said := signs.descriptions.search(tool.tool.description):
        return f"its description says '{said[0]}'"
    if done := signs.sources.search(tool.source.text if tool.source else ""):
        return f"its code says '{done[0].strip()}'"
    return ""


class _Signs(NamedTuple):
    """What gives a tool away."""

    names: frozenset[str]
    descriptions: re.Pattern[str]
    sources: re.Pattern[str]


@functools.cache
def _signs() -> _Signs:
    text = resources.files(__package__).joinpath("data/destruction.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    said, done = "|".join(read["descriptions"]), "|".join(read["sources"])
    return _Signs(frozenset(read["names"]), re.compile(said, re.IGNORECASE), re.compile(done))
