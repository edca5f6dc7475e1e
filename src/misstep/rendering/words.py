"""Names of agents, tools and methods, results of statistical tests and calls, as text."""

import json
import os
from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from misstep.core.outcome import Call
from misstep.core.results.capability import Capability
from misstep.core.results.consistency import CHECKS
from misstep.core.run import RunSpec
from misstep.core.settings import Settings, ToolRunSettings
from misstep.rendering.text import plain

IN_A_COLUMN = 60  # characters
IN_FULL = 300


class Named(Protocol):
    @property
    def agent(self) -> str: ...

    @property
    def model(self) -> str | None: ...


def agent_name(one: Named, most: int = IN_A_COLUMN) -> str:
    """The agent with its model, if any, on one line. It is foreign text, not markup."""
    return plain(f"{one.agent}, {one.model}" if one.model else one.agent, most)


def subject_name(settings: ToolRunSettings, purpose: RunSpec) -> str:
    """The agent or tools that a run tested, on one line, for comparisons."""
    tools = f" with {', '.join(purpose.tools)}" if purpose.kind.group == "bench" else ""
    words = f", described by {os.path.basename(settings.descriptions)}" if settings.descriptions else ""
    return agent_name(settings, IN_FULL) + plain(tools + words)


def told_apart(curves: Sequence[Capability]) -> list[Capability]:
    """The same curves; agents with the same name also get that of their run."""
    names = [agent_name(curve, IN_FULL) for curve in curves]
    return [
        curve if names.count(name) == 1 else replace(curve, agent=f"{curve.agent} ({curve.run})")
        for curve, name in zip(curves, names, strict=True)
    ]


def specs_in_short(specs: Sequence[str], most: int = IN_FULL) -> str:
    """Specs of tools without the folders of their files."""
    short = [os.path.basename(spec) if os.path.isabs(spec) else spec for spec in specs]
    return plain(", ".join(short), most)


def method_in_words(settings: Settings, purpose: RunSpec) -> str:
    """What distinguishes runs on the same tools, to add after the command; empty if nothing does."""
    if purpose.verb not in ("fuzz", "consistency") or not settings.agent:
        return ""
    told = [settings.tool_method, "without sanity check" if settings.skip_sanity else ""]
    if purpose.verb == "consistency" and settings.checks != CHECKS:
        told.append(f"checks {', '.join(settings.checks)}")
    return f" ({'; '.join(filter(None, told))})"


def p_value(p: float) -> str:
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2f}" if p >= 0.1 else f"{p:.3f}"


def p_in_words(p: float) -> str:
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"


def points(difference: float) -> str:
    """A difference of two rates, in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def interval(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{100 * low:.1f} – {100 * high:.1f} %"


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def listed(words: list[str], most: int) -> str:
    """The first few, and how many more there are."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")


LONGEST = 200  # of a name, in characters


def written(tool: str, arguments: object, most: int = LONGEST) -> str:
    """The call as it would be typed, with its arguments cut to this many characters."""
    given = "" if arguments == {} else plain(json.dumps(arguments, ensure_ascii=False), most)
    return f"{plain(tool, LONGEST)}({given})"


def carried_out(call: Call) -> str:
    """A note on a call that was not carried out when it was requested."""
    if call.ran < 0:
        return "(never carried out)"
    return f"(carried out as number {call.ran})" if call.ran else ""
