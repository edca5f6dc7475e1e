"""What a run uses up, and how much of it is allowed."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from misstep.core.transcript import Usage

AGENT = "agent"  # the role of the agent's own model; others judge and generate


def tokens_of(usage: Mapping[str, Usage]) -> int:
    """The tokens of all roles together."""
    return sum(each.input + each.output for each in usage.values())


class Spent(msgspec.Struct, frozen=True):
    """Tokens by the role of the model that used them, tool calls, and seconds at work."""

    usage: Mapping[str, Usage] = {}
    calls: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return tokens_of(self.usage)

    def __add__(self, other: "Spent") -> "Spent":
        roles = {**self.usage, **other.usage}
        usage = {role: self.usage.get(role, Usage()) + other.usage.get(role, Usage()) for role in roles}
        return Spent(usage, self.calls + other.calls, self.seconds + other.seconds)


class Cost(msgspec.Struct, frozen=True):
    """An amount of everything that can be limited."""

    usd: float = 0.0
    tokens: float = 0
    seconds: float = 0.0
    calls: float = 0


class Budget(msgspec.Struct, frozen=True):
    """The most that a run may use up; None where there is no limit."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    calls: int | None = None

    def __bool__(self) -> bool:
        return any([getattr(self, kind) is not None for kind in self.__struct_fields__])


class Account(Protocol):
    """Told what a case uses up while it does, from any thread."""

    def spend(self, role: str, usage: Usage) -> None: ...

    def call(self) -> None:
        """Count one tool call."""
        ...


class Nobody:
    """An account that nobody keeps."""

    def spend(self, role: str, usage: Usage) -> None:
        pass

    def call(self) -> None:
        pass


UNCOUNTED = Nobody()
