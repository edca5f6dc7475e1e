"""The interface of an agent: it gets an assignment, calls tools through a toolbox, and answers."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from misstep.core.outcome import Ended, Usage

AGENT_THREAD = "agent"  # name of the threads that run synchronous agents


class Tool(msgspec.Struct, frozen=True):
    """A tool as the agent sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class Meter(Protocol):
    """Counts what a case costs."""

    def spend(self, usage: Usage) -> None:
        """Count tokens; they stay counted however the case ends."""

    def wait(self, seconds: float) -> None:
        """Report that the agent is about to wait for reasons outside its control: a rate limit, a queue.

        The seconds are added to the agent's time limit. If the wait turns out shorter, pass the difference as
        a negative number.
        """


class Toolbox(Meter, Protocol):
    """The tools of one case. Records everything that goes through it; safe to use from any thread.

    A simple agent needs only `tools` and `call`. An agent that sees more of its model can also report when
    turns begin, which calls the model asked for (whether or not they are executed), and replies that were
    neither a call nor an answer.
    """

    @property
    def tools(self) -> Sequence[Tool]: ...

    @property
    def max_steps(self) -> int:
        """The maximum number of turns."""

    def begin_turn(self) -> int:
        """Start a turn and return its number. Raises `StepsExhausted` past the limit."""

    def ask(self, name: str, arguments: Any, turn: int | None = None) -> None:
        """Record a call as the model emitted it. Arguments that are not valid JSON are passed as text.

        The next `call` of the same tool counts as the execution of this one, unless the model has asked for
        the tool again by then. Without `turn` it belongs to the turn that began last.
        """

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        """Execute a call and return its result, or a text that says what was wrong with the call.

        Without `turn`, a call that was not announced with `ask` belongs to the turn that began last, or is a
        turn of its own if the agent never reports turns. Raises `StepsExhausted` past the limit on turns.
        """

    def misread(self) -> None:
        """Count a model reply that was neither a call nor an answer."""

    def note(self, message: Any) -> None:
        """Store a raw message, if the user asked for messages to be stored."""

    def warn(self, text: str) -> None:
        """Show the user a warning about a problem that is not the agent's fault."""


class StepsExhausted(Exception):
    """The agent has used all turns allowed for one case; agents must not catch it."""


class Displaced(Exception):
    """A case was cancelled because another case blocked its event loop; nothing it has done counts.

    It can be tried again from the start, with a new toolbox.
    """


class Origin(msgspec.Struct, frozen=True):
    """Where one of the user's own tools comes from: its spec and its kind."""

    spec: str
    kind: str


class Assignment(msgspec.Struct, frozen=True):
    """The request, and the seed for the agent's random choices.

    `origins`, by tool name, are for agents of a framework that keeps more information about its own tools
    than a name, a description and a schema.
    """

    request: str
    seed: int
    origins: dict[str, Origin] = {}


class Answer(msgspec.Struct, frozen=True):
    """How an agent ended when it was not stopped from outside."""

    text: str = ""
    ended: Ended = "answered"


class Agent(Protocol):
    """The agent under test. One object serves many concurrent cases, all on one event loop."""

    @property
    def name(self) -> str: ...

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer: ...


@runtime_checkable
class Closing(Protocol):
    """An agent or model that holds resources such as connections or processes."""

    async def close(self) -> None: ...


@runtime_checkable
class Preparing(Protocol):
    """An agent that can check before the first case whether it will work at all."""

    async def prepare(self) -> None:
        """Raise a `MisstepError` that says what is wrong, if anything is."""
