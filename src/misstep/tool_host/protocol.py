"""The messages between misstep and the processes in the sandbox, and the conditions for calling tools."""

import sys
from typing import Literal, TypeAlias

import msgspec

from misstep.adapters.subprocess.protocol import Unfit, Unloadable
from misstep.core.results.descriptions import Wording
from misstep.core.tool import Described, Frame, Reaction

MEGABYTE = 1 << 20
# Exit statuses of a process that calls tools, if a tool has closed its channel, used all memory, or broken
# the interpreter.
LINE_CLOSED, MEMORY_FULL, BROKEN = 113, 114, 115
# Results after which the calling process exits, because its state cannot be restored.
LAST_WORDS = frozenset(("died", "garbled", "exhausted"))


class _Message(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True):
    pass


class Limits(msgspec.Struct, frozen=True):
    """Limits for tools: seconds per call, bytes of memory and of files, and number of processes."""

    timeout: float = 10.0
    memory: int = 1024 * MEGABYTE
    disk: int = 256 * MEGABYTE
    processes: int = 64


class GuardOrder(_Message, frozen=True, tag="guard"):
    """The first message to the supervisor, sent with the other end of the zygote's channel.

    `outside` identifies our own process namespace, to detect whether the sandbox has another one. `litter`
    are folders to remove if our side is gone.
    """

    limits: Limits
    outside: str
    litter: tuple[str, ...] = ()


class WatchCalls(_Message, frozen=True, tag="watch"):
    """Whether calls are in flight, so that the supervisor checks all processes; at first it does."""

    busy: bool


class LoadTools(_Message, frozen=True, tag="load"):
    """Load the tools of `spec`.

    They start in `folder`, which holds a copy of `workspace`; `roots` are all folders they can write to.
    Modules are also imported from the folder `origin`. With `apart`, every process that calls tools loads
    them itself. With `read`, they are never called. `beside` includes what servers offer besides tools.
    """

    spec: str
    limits: Limits
    folder: str
    roots: tuple[str, ...]
    workspace: str = ""
    origin: str = ""
    apart: bool = False
    read: bool = False
    beside: bool = False


class Start(_Message, frozen=True):
    """Start a process that calls tools; its end of a channel comes with the message."""


class Measure(_Message, frozen=True):
    """Measure from now on whether the calling process and its children compute or wait."""


class Stop(_Message, frozen=True):
    """End the process that calls tools, with all its children."""


class ToolsLoaded(_Message, frozen=True, tag="loaded"):
    """The tools are loaded. They are `forkable` if a copy of the process can call them.

    `files` are some files and folders in the tools' working directory. `skipped` says which tools were left
    out and why, `notes` what else was odd. `about` are names and versions of servers, as they tell them.
    """

    tools: tuple[Described, ...]
    forkable: bool = True
    files: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


class CallerStopped(_Message, frozen=True, tag="stopped"):
    """The calling process has ended with this exit status, or by a signal (as a negative number).

    `frames` are its last known stack, `peak` is its maximum memory, `restored` whether its files could be
    restored. `computed` is the CPU time in seconds since measuring began, or 0 if it waited most of that
    time.
    """

    status: int
    frames: tuple[Frame, ...] = ()
    peak: int = 0
    restored: bool = True
    computed: float = 0.0


class Overrun(_Message, frozen=True):
    """The supervisor had to end all processes: there was too much of `what`."""

    what: str
    amount: int


class Report(msgspec.Struct, frozen=True, array_like=True):
    """The reaction to a call, and lines of the tool's file that ran for the first time.

    `functions` are all lines of those functions of a server that the call reached, by file.
    """

    reaction: Reaction
    lines: dict[str, tuple[int, ...]] = {}
    functions: dict[str, tuple[tuple[int, ...], ...]] = {}


ToZygote: TypeAlias = LoadTools | Start | Measure | Stop
FromZygote: TypeAlias = ToolsLoaded | Unloadable | CallerStopped
FromSupervisor: TypeAlias = Unfit | Overrun

to_supervisor: msgspec.json.Decoder[GuardOrder] = msgspec.json.Decoder(GuardOrder)
while_guarding: msgspec.json.Decoder[WatchCalls] = msgspec.json.Decoder(WatchCalls)
from_supervisor: msgspec.json.Decoder[FromSupervisor] = msgspec.json.Decoder(FromSupervisor)
to_zygote: msgspec.json.Decoder[ToZygote] = msgspec.json.Decoder(ToZygote)
from_zygote: msgspec.json.Decoder[FromZygote] = msgspec.json.Decoder(FromZygote)


Shelter = Literal["auto", "bubblewrap", "none"]


class CallConditions(msgspec.Struct, frozen=True):
    """How the user wants tools to be called.

    `workspace` is a folder that is copied to the tools' working directory. `folder` is a folder on disk that
    is used as their working directory itself, for callers who need to see the files; it is never restored.
    `allow_read` are additional files and folders they can read. `environment` are variables in addition to
    the few that tools always get, which contain no keys. `load_limit` is the time in seconds for loading;
    servers get more by default. `only` are the names of the tools to call, or all if empty. `wordings`
    replace descriptions of tools, by name. `beside` includes what servers offer besides tools.
    """

    shelter: Shelter = "auto"
    limits: Limits = Limits()
    allow_network: bool = False
    workspace: str = ""
    folder: str = ""
    allow_read: tuple[str, ...] = ()
    python: str = sys.executable
    environment: dict[str, str] = {}
    load_limit: float | None = None
    only: tuple[str, ...] = ()
    wordings: dict[str, Wording] = {}
    beside: bool = False
