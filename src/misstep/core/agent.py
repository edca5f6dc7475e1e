"""What an agent is, seen from the case: it gets an assignment, uses a toolbox, answers."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from misstep.core.outcome import Ended, Usage

AGENT_THREAD = "agent"  # the name of threads in which agents run that are not async


class Tool(msgspec.Struct, frozen=True):
    """A tool as the agent sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class Meter(Protocol):
    """Keeps count of what a case costs."""

    def spend(self, usage: Usage) -> None:
        """Count tokens; what is counted stays counted however the case ends."""
        ...

    def wait(self, seconds: float) -> None:
        """Tell that the next so many seconds go by through no fault of the agent: a rate limit, a queue.

        They are added to its time limit; what turned out to be too much is given back as less than nothing.
        """
        ...


class Toolbox(Meter, Protocol):
    """The tools of one case. It records whatever goes through it, from any thread.

    A simple agent needs `tools` and `call`. One that sees more of what its model does can tell: turns that
    begin, calls that the model asked for whether or not they are ever carried out, words that made no sense.
    """

    @property
    def tools(self) -> Sequence[Tool]: ...

    @property
    def max_steps(self) -> int:
        """How many turns the agent is allowed."""
        ...

    def begin_turn(self) -> int:
        """The number of the turn that begins now. Raises `StepsExhausted` past the limit."""
        ...

    def ask(self, name: str, arguments: Any, turn: int | None = None) -> None:
        """Record a call as the model emitted it; arguments that are no JSON come as the text they were.

        A `call` of the same tool that follows is taken to be this one carried out, unless the model has asked
        for the tool again by then. Without `turn` it belongs to the turn that began last.
        """
        ...

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        """Carry out a call and get its result, or a text that says what was wrong with the call.

        Without `turn` a call that nobody asked for belongs to the turn that began last, or is a turn of its
        own where the agent tells of none. Raises `StepsExhausted` past the limit on turns.
        """
        ...

    def misread(self) -> None:
        """Count words of the model that were neither a call nor an answer."""
        ...

    def note(self, message: Any) -> None:
        """Keep a raw message, if the user asked for messages to be kept."""
        ...

    def warn(self, text: str) -> None:
        """Tell the user what is not as it should be through no fault of the agent."""
        ...


class StepsExhausted(Exception):
    """The agent has used up the turns allowed for one case; agents let it pass through."""


class Displaced(Exception):
    """A case has lost its place to another one that blocked it; nothing it has done counts.

    Its agent is ready for it to be tried again from the start, with a new toolbox.
    """


class Origin(msgspec.Struct, frozen=True):
    """Where a tool comes from that is the user's own: the spec that means it, and its kind."""

    spec: str
    kind: str


class Assignment(msgspec.Struct, frozen=True):
    """The request, and the seed for whatever the agent leaves to chance.

    `origins`, by the names of tools, are for agents of a framework that knows more of its own tools than a
    name, a description and a schema.
    """

    request: str
    seed: int
    origins: dict[str, Origin] = {}


class Answer(msgspec.Struct, frozen=True):
    """How an agent ended on its own."""

    text: str = ""
    ended: Ended = "answered"


class Agent(Protocol):
    """The thing under test. One object serves many cases, several of them at once, all on one event loop."""

    @property
    def name(self) -> str: ...

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer: ...


@runtime_checkable
class Closing(Protocol):
    """An agent or model with something to give back: connections, processes."""

    async def close(self) -> None: ...


@runtime_checkable
class Preparing(Protocol):
    """An agent that can find out before the first case whether it will work at all."""

    async def prepare(self) -> None:
        """Raise a `MisstepError` that says what is wrong, if something is."""
        ...
