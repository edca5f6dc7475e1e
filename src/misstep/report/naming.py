"""What an agent is called wherever people see it."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import msgspec

from misstep.core.capability import Capability
from misstep.report.text import plain

IN_A_COLUMN = 60  # characters
IN_FULL = 300


class Named(Protocol):
    """Whatever knows its agent."""

    @property
    def agent(self) -> str: ...

    @property
    def model(self) -> str | None: ...


def agent_name(one: Named, most: int = IN_A_COLUMN) -> str:
    """The agent with its model, if it has one, on one line. It is foreign text, and no markup."""
    return plain(f"{one.agent}, {one.model}" if one.model else one.agent, most)


def told_apart(curves: Sequence[Capability]) -> list[Capability]:
    """The same curves; agents of one name get that of their run as well."""
    names = Counter([agent_name(curve, IN_FULL) for curve in curves])
    return [
        curve
        if names[agent_name(curve, IN_FULL)] == 1
        else msgspec.structs.replace(curve, agent=f"{curve.agent} ({curve.run})")
        for curve in curves
    ]
