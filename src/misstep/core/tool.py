"""A tool that can be called, a call of it, the observed reaction, and how plausible calls are."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.core.agent import Tool

# A location within the arguments of a call: property names and list indices.
Path: TypeAlias = tuple[str | int, ...]

ToolKind = Literal[
    "function",
    "definition",  # data for somebody else to execute: it can be read but not called
    "adk",
    "ag2",
    "agent-framework",
    "autogen",
    "composio",
    "crewai",
    "langchain",
    "llama-index",
    "mcp",
    "openai-agents",
    "pydantic-ai",
    "smolagents",
]


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """The source code of a tool: its file, first line and text."""

    file: str
    line: int
    text: str


class Promises(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tool declares about its effects; None if it declares nothing."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class Described(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool as the agent sees it, and what else is known about it.

    `output` is the JSON schema of the declared return value. `examples` are JSON texts of example arguments
    from its author. `where` is for messages. `is_reworded` if its description has been replaced.
    `server_says` is what its server tells agents about itself, for the first tool of a server.
    """

    tool: Tool
    kind: ToolKind
    where: str = ""
    output: dict[str, Any] | None = None
    is_async: bool = False
    source: Source | None = None
    examples: tuple[str, ...] = ()
    promises: Promises = Promises()
    is_reworded: bool = False
    server_says: str = ""

    @property
    def name(self) -> str:
        return self.tool.name


Sending = Literal[
    "in turn",  # after the reply to the call before it
    "afresh",  # the same, from a fresh start of the tools
    "together",  # without waiting for its reply before the next call is sent
    "cancelled",  # and cancelled at once
    "timed out",  # and cancelled after half of the time limit, unless there is a reply
    "unlisted",  # under a name that the server does not list
]
UNLISTED = "misstep_unlisted_tool"  # that name


class Invocation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call to be made. `arguments` is the JSON text of an object, in ASCII.

    As text it can hold what some encoders refuse, such as lone surrogates, and it is hashable. Only servers
    get calls together, cancelled or under another name; other tools get them in turn.
    """

    tool: str
    arguments: str
    sent: Sending = "in turn"


RESULT = "${result."  # begins what stands in stored arguments for a value that an earlier call returned


class ReturnedText(str):
    """A text that a result had under a name. It is an ordinary text, until it is stored in a call."""

    name: str


class ReturnedNumber(int):
    """A number that a result had under a name."""

    name: str


_PLAIN = frozenset((str, int, float, bool, type(None)))


def with_markers(value: Any) -> Any:
    """The arguments as they are stored; unchanged if they are nested too deeply."""
    try:
        return _marked(value)
    except RecursionError:
        return value


def _marked(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, ReturnedText):
        return f"{RESULT}{value.name}}}"
    if isinstance(value, ReturnedNumber):
        return f"{RESULT}{value.name}:number}}"
    if isinstance(value, dict):
        return {name: _marked(each) for name, each in value.items()}
    return [_marked(each) for each in value] if isinstance(value, list | tuple) else value


class Probe(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call to be made and observed.

    `mark` also tracks what the code does with its arguments, `watch` which files it changes.
    """

    invocation: Invocation
    mark: bool = False
    watch: bool = False


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stack frame on the way to an error; `own` is true for the tool's own code, false for libraries.

    `text` is the source line, if it is the tool's own.
    """

    file: str
    line: int
    function: str
    own: bool
    text: str = ""


class Raised(msgspec.Struct, frozen=True, omit_defaults=True):
    """An unhandled exception. `kind` is the name of its type, `bases` the names of its base classes in order.

    `frames` run from the outermost to the innermost. `deliberate` if the tool's own code raised it with an
    explicit `raise`; an `assert` does not count. `validation` if it came from a check of the arguments before
    the tool's own code was reached.
    """

    kind: str
    message: str
    bases: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    deliberate: bool = False
    validation: bool = False


class Observation(msgspec.Struct, frozen=True):
    """What the code did with a part of its arguments: `operation` with the `operand`, a JSON text.

    `outcome` is the result, if the operation was a test. `via` are the steps, each a name and a JSON text,
    that produced the value from the argument at `path`.
    """

    path: Path
    operation: str
    operand: str = "null"
    outcome: bool | None = None
    via: tuple[tuple[str, str], ...] = ()


AT_HOME = "~/"  # begins the paths of files in the tools' home folder


class FileChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a call did to a file or folder; `lost` if it held words that are gone now."""

    path: str
    what: Literal["created", "changed", "removed"]
    lost: bool = False


Ended = Literal[
    "returned",  # with a result, which may describe an error
    "raised",
    "hung",  # stopped after its time limit
    "died",  # the process or server that it ran in ended
    "exhausted",  # it needed more memory than allowed
    "garbled",  # the response did not follow the protocol
]


class Reaction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The observed result of a call.

    `text` is the result as an agent would see it, truncated for storage; `size` is its full length in
    characters. `structured` is the JSON text of the structured result, if there is one. `flagged` is MCP's
    isError. `edges` are numbers of code transitions in the tool's own code that no earlier call had reached;
    for a marked call, all that it reached. `detail` says how the call ended if it neither returned nor
    raised. `computed` is processor time in seconds, for a call that was stopped while computing rather than
    waiting. `handled` are exceptions that the tool's own code handled and that the result seems to be about.
    """

    ended: Ended
    text: str = ""
    size: int = 0
    structured: str | None = None
    flagged: bool = False
    raised: Raised | None = None
    detail: str = ""
    seconds: float = 0.0
    memory: int = 0  # growth of the process's peak memory in bytes
    computed: float = 0.0
    edges: tuple[int, ...] = ()
    observations: tuple[Observation, ...] = ()
    handled: tuple[Raised, ...] = ()
    changes: tuple[FileChange, ...] = ()  # if it was watched
    connections: int = 0  # attempts to reach the network, if it was watched
    background: int = 0  # attempts in a pause after it, if it repeats the call but one before, and made some


LONG = 200  # characters; longer texts are implausible
LARGE = 10**12  # larger numbers are implausible
DEEP = 8  # levels of nested lists and objects

ORDINARY, UNUSUAL, CONTROL, UNTYPABLE = range(4)


def oddity_of(calls: Sequence[Invocation]) -> int:
    """How strange the strangest value is: 0 for ordinary ones, up to 3 for NUL bytes and lone surrogates."""
    try:
        return max(map(_oddity, _leaves_of(calls)), default=ORDINARY)
    except (ValueError, RecursionError):
        return UNTYPABLE


def largest_number_in(calls: Sequence[Invocation]) -> float:
    """The largest number in the arguments, regardless of its sign; 0 if there is none."""
    try:
        numbers = (leaf for leaf in _leaves_of(calls) if isinstance(leaf, int | float))
        return max(map(abs, numbers), default=0)
    except (ValueError, RecursionError):
        return 0


def product_of_numbers(calls: Sequence[Invocation]) -> float:
    """How much work the numbers in the arguments ask for together: so many times so many."""
    try:
        numbers = (leaf for leaf in _leaves_of(calls) if isinstance(leaf, int | float))
        return math.prod(float(max(abs(number), 1)) for number in numbers)
    except (ValueError, OverflowError, RecursionError):
        return math.inf


_PLACE = re.compile(r"(?:index|offset|page|position)\Z", re.IGNORECASE)


def has_fractional_place(calls: Sequence[Invocation]) -> bool:
    """Whether an argument that says which one of several is meant has a fraction: `index: 0.5`."""
    given = (item for call in calls for item in arguments_of(call).items())
    return any(type(value) is float and value % 1 and _PLACE.search(name) for name, value in given)


def arguments_of(call: Invocation) -> dict[str, Any]:
    """The arguments of a call; none if they are nested too deeply to be read."""
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def length_of(calls: Sequence[Invocation]) -> int:
    return sum(len(call.arguments) for call in calls)


def _leaves_of(calls: Sequence[Invocation]) -> list[Any]:
    return [leaf for call in calls for leaf in _leaves(json.loads(call.arguments))]


def _oddity(leaf: Any) -> int:
    if not isinstance(leaf, str):
        is_large = isinstance(leaf, int | float) and not abs(leaf) <= LARGE
        return UNUSUAL if is_large else ORDINARY
    if leaf.isprintable() or all(each.isprintable() or each in "\n\t" for each in leaf):
        return ORDINARY if len(leaf) <= LONG else UNUSUAL
    is_untypable = any(
        each == "\0" or "\ud800" <= each <= "\udfff" or each in "\ufffe\uffff" for each in leaf
    )
    return UNTYPABLE if is_untypable else CONTROL


def _leaves(value: Any) -> Iterator[Any]:
    """All scalars and keys in a value; parts nested too deeply yield a number that is too large."""
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        if depth > DEEP:
            yield 2 * LARGE
        elif isinstance(each, dict):
            yield from each
            waiting += [(inner, depth + 1) for inner in each.values()]
        elif isinstance(each, list):
            waiting += [(inner, depth + 1) for inner in each]
        else:
            yield each
