"""A tool that can be called, and what comes of a call."""

from typing import Any, Literal, TypeAlias

import msgspec

from misstep.core.agent import Tool

# Where in the arguments of a call something stands: names of properties, places in lists.
Path: TypeAlias = tuple[str | int, ...]

ToolKind = Literal[
    "function",
    "definition",  # data that somebody else carries out: it can be read and not be called
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
    """The code of a tool: the file it is in, its first line there, and its text."""

    file: str
    line: int
    text: str


class Promises(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tool says about its effects; None where it says nothing."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class Described(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool as the agent sees it, and what is known about it beside that.

    `output` is the JSON schema of what it promises to return. `examples` are JSON texts of arguments that its
    author gives as examples. `where` is for messages. One that `is_reworded` is told of in words
    that are not its own.
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

    @property
    def name(self) -> str:
        return self.tool.name


class Invocation(msgspec.Struct, frozen=True):
    """A call to be made. `arguments` is the JSON text of an object, all of it ASCII.

    As a text it can hold what some encoders refuse, such as lone surrogates, and it can be hashed.
    """

    tool: str
    arguments: str


class Probe(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call to be made and watched; `mark` asks for what the code does with its arguments as well."""

    invocation: Invocation
    mark: bool = False


class Frame(msgspec.Struct, frozen=True):
    """A place in the code on the way to an error; `own` tells the tool's own code from its libraries'."""

    file: str
    line: int
    function: str
    own: bool


class Raised(msgspec.Struct, frozen=True, omit_defaults=True):
    """An exception that nobody handled. `kind` is its type's name, `bases` are those of its types in turn.

    `frames` run from the outermost to the innermost. `deliberate` if the tool's own code raised it in so many
    words, with a `raise` that made it; an `assert` is not that. `validation` if it came from whatever checks
    arguments before the tool's own code is reached.
    """

    kind: str
    message: str
    bases: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    deliberate: bool = False
    validation: bool = False


class Observation(msgspec.Struct, frozen=True):
    """What the code did with a part of its arguments: `operation` with the `operand`, a JSON text.

    `outcome` is whether a test came out true, where it was one. `via` are the steps, each a name and a JSON
    text, by which the value in question was made out of what stands at `path`.
    """

    path: Path
    operation: str
    operand: str = "null"
    outcome: bool | None = None
    via: tuple[tuple[str, str], ...] = ()


Ended = Literal[
    "returned",  # with a result, which may tell of an error
    "raised",
    "hung",  # it was given up on
    "died",  # the process or server that it ran in ended
    "exhausted",  # it wanted more memory than it was allowed
    "garbled",  # what came back was no answer by the rules of the protocol
]


class Reaction(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a call.

    `text` is the result as an agent would see it, cut to a length that can be kept, with `size` characters in
    all. `structured` is the JSON text of the structured result, if there is one. `flagged` is MCP's isError.
    `edges` are numbers of places in the tool's own code that no call before had reached in this order; for a
    marked call, of all that it reached.
    `detail` says how it ended where it neither returned nor raised. `computed` are seconds of processor time,
    of a call that was given up on and had computed rather than waited. `handled` are exceptions that came
    through the tool's own code and were handled, and of which the result seems to tell.
    """

    ended: Ended
    text: str = ""
    size: int = 0
    structured: str | None = None
    flagged: bool = False
    raised: Raised | None = None
    detail: str = ""
    seconds: float = 0.0
    memory: int = 0  # bytes by which the peak of the process has grown
    computed: float = 0.0
    edges: tuple[int, ...] = ()
    observations: tuple[Observation, ...] = ()
    handled: tuple[Raised, ...] = ()
