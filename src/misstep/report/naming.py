"""What an agent is called wherever people see it."""

from typing import Protocol

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
