"""What the process in which tools are called and our side say to each other.

The conditions under which tools are tried.
"""

import sys
from typing import Literal, TypeAlias

import msgspec

from misstep.adapters.subprocess.protocol import Unfit, Unloadable
from misstep.core.results.fixing import Wording
from misstep.core.tool import Described, Frame, Reaction

MEGABYTE = 1 << 20
# With what status a process that calls tools ends if one of them has closed its line, taken all memory, or
# changed the interpreter so that nothing works any more.
LINE_CLOSED, MEMORY_FULL, BROKEN = 113, 114, 115
# Calls after which the process that made them ends by itself: it could not be as it was.
LAST_WORDS = frozenset(("died", "garbled", "exhausted"))


class _Message(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True):
    pass


class Limits(msgspec.Struct, frozen=True):
    """What tools may use: bytes of memory and of files, processes at once, and seconds for one call."""

    timeout: float = 10.0
    memory: int = 1024 * MEGABYTE
    disk: int = 256 * MEGABYTE
    processes: int = 64


class GuardOrder(_Message, frozen=True, tag="guard"):
    """The warden's order; the other end of the zygote's line comes with it.

    `outside` is the name of our own process namespace, so that it can be told whether there is another one.
    `litter` are folders to remove if our side is gone.
    """

    limits: Limits
    outside: str
    litter: tuple[str, ...] = ()


class WatchCalls(_Message, frozen=True, tag="watch"):
    """Whether calls are under way, while which the warden looks at all processes again and again.

    It does so from the beginning, since tools are loaded then.
    """

    busy: bool


class LoadTools(_Message, frozen=True, tag="load"):
    """Load the tools that `spec` means.

    They start in `folder`, which holds a copy of the `workspace`; `roots` are all folders that they can write
    to. Modules are found from the folder `origin` too. If they load `apart`, every process that calls tools
    loads them for itself. If they are only `read`, none is ever called.
    """

    spec: str
    limits: Limits
    folder: str
    roots: tuple[str, ...]
    workspace: str = ""
    origin: str = ""
    apart: bool = False
    read: bool = False


class Start(_Message, frozen=True):
    """Begin a process that calls tools; its end of a line comes with it."""


class Measure(_Message, frozen=True):
    """Watch from now on whether the process that calls tools computes or waits, with all it has started."""


class Stop(_Message, frozen=True):
    """End the process that calls tools, with all that it has started."""


class ToolsLoaded(_Message, frozen=True, tag="loaded"):
    """The tools are there. They are `forkable` if a copy of the process can call them.

    `files` are the names of some files and folders where the tools start. `skipped` tells of tools that were
    left out and why, `notes` of what else was odd.
    """

    tools: tuple[Described, ...]
    forkable: bool = True
    files: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class CallerStopped(_Message, frozen=True, tag="stopped"):
    """The process that calls tools has ended, with this status or by this signal as a negative number.

    `frames` are where it was last seen, `peak` is the most memory it had, `restored` is whether its files are
    what they were. `computed` are the seconds of processor time that it used since it was to be measured,
    unless it waited for most of that time.
    """

    status: int
    frames: tuple[Frame, ...] = ()
    peak: int = 0
    restored: bool = True
    computed: float = 0.0


class Overrun(_Message, frozen=True):
    """The warden had to end everything: there was too much of `what`."""

    what: str
    amount: int


class Report(msgspec.Struct, frozen=True, array_like=True):
    """What came of a call, and the lines of the tool's file that had not been run before."""

    reaction: Reaction
    lines: dict[str, tuple[int, ...]] = {}


ToZygote: TypeAlias = LoadTools | Start | Measure | Stop
FromZygote: TypeAlias = ToolsLoaded | Unloadable | CallerStopped
FromWarden: TypeAlias = Unfit | Overrun

to_warden: msgspec.json.Decoder[GuardOrder] = msgspec.json.Decoder(GuardOrder)
while_guarding: msgspec.json.Decoder[WatchCalls] = msgspec.json.Decoder(WatchCalls)
from_warden: msgspec.json.Decoder[FromWarden] = msgspec.json.Decoder(FromWarden)
to_zygote: msgspec.json.Decoder[ToZygote] = msgspec.json.Decoder(ToZygote)
from_zygote: msgspec.json.Decoder[FromZygote] = msgspec.json.Decoder(FromZygote)


Shelter = Literal["auto", "bubblewrap", "none"]


class CallConditions(msgspec.Struct, frozen=True):
    """How the user wants tools to be called.

    `workspace` is a folder that is copied to where they start. `folder` is one on the disk in which they
    start themselves, for a caller who has to see what they do there: what is in it is never put back.
    `allow_read` are files and folders that they can read beside their own.
    `environment` are variables beside the few that tools get anyway, among which no keys are.
    `load_limit` are the seconds until tools have to be there; servers may take longer than code.
    `only` are the names of the tools that will be called; all of them if there are none. `wordings` are what
    agents are told about tools in other words, by their names.
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
