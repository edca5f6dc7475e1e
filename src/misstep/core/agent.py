"""What an agent is, seen from the case: it gets an assignment, uses a toolbox, answers."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from misstep.core.transcript import Ended, Usage


class Tool(msgspec.Struct, frozen=True):
    """A tool as the agent sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class Toolbox(Protocol):
    """The tools of one case; every call, fitting or not, goes through it and is recorded by it."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        """Call a tool and get its result, or a text that says what was wrong with the call.

        Without `turn` the call is a turn of its own. Raises `StepsExhausted` past the limit on turns.
        """
        ...


class StepsExhausted(Exception):
    """The agent has used up the turns allowed for one case; agents let it pass through."""


class Assignment(msgspec.Struct, frozen=True):
    """The request, and the seed for whatever the agent leaves to chance."""

    request: str
    seed: int


class Answer(msgspec.Struct, frozen=True):
    """How an agent ended on its own."""

    text: str = ""
    usage: Usage = Usage()
    ended: Ended = "answered"


class Agent(Protocol):
    """The thing under test. One object serves many cases, several of them at once."""

    @property
    def name(self) -> str: ...

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer: ...
