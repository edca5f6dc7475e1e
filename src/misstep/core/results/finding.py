"""Findings: defects of tools, how much each matters, and which of them have one cause."""

import builtins
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import PurePath
from typing import Literal

import msgspec

from misstep.core.results.trial import REFUSED, Ruling
from misstep.core.tool import (
    ORDINARY,
    UNTYPABLE,
    UNUSUAL,
    Frame,
    Invocation,
    arguments_of,
    has_fractional_place,
    largest_number_in,
    length_of,
    oddity_of,
    product_of_numbers,
)

FINDING_VERSION = 1

FindingKind = Literal[
    "crash",  # an unhandled exception, or a process that died
    "hang",
    "blow-up",  # far more memory or processor time than the input explains
    "schema",  # a result that breaks the output schema, or valid arguments that were refused
    "protocol",
    "acceptance",  # arguments that the documentation forbids were accepted silently
    "security",  # it can be made to do what it should not: read other files, run what it is given
    "contract",  # the tool does not do what its annotations or its description promise
    "suspicious-refusal",  # valid arguments were refused with an internal error message, or with none
    "refusal",  # arguments that the documentation allows were refused
]

# Rulings and kinds of findings about a call that failed at run time.
RUNTIME_ERRORS: tuple[FindingKind, ...] = ("crash", "hang", "blow-up", "protocol")

# Errors in code that all tools of a server share.
SHARED = frozenset(
    (
        "error flag",
        "success flagged",
        "concurrency",  # tools that read, change and write one file
        "path outside",
        "stack trace",
        "cancellation",
        "time-out",
        "unlisted tool",
        "exception without words",
    )
)
# Broken contracts by which data is lost.
LOSSES = frozenset(("not destructive", "all or nothing", "nothing else", "read back", "still readable"))
# The worst first: security, lost data, a server that died or no longer answers, broken contracts and schemas,
# failures with ordinary values, failures with values that hardly anybody sends, the rest.
_UNSAFE, _LOST, _DEATH, _BREACH, _FAILURE, _ODD_FAILURE, _REST = range(7)
_KINDS_BY_WEIGHT = ("contract", "schema", "crash", "hang", "blow-up", "protocol", "refusal", "acceptance")
ENDLESS = ("hang", "blow-up")
_REFUSING = ("OSError", "library")  # families of exceptions with words for whoever gave the value
# Exceptions by which a language refuses a value, and those of code that takes for granted what a value is.
_VALUE_ERRORS = frozenset(
    (
        "ValueError",
        "RangeError",
        "OverflowError",
        "UnicodeError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
    )
)
_VALUE_WORDS = re.compile(  # of Node; undefined is what a tool has passed on without looking
    r"(?!.*Received (?:undefined|null))(?:URI malformed|The (?:argument|property) '|The \"[^\"]+\" argument )"
)
_COUNT_VALUE = re.compile(r"\bInvalid count value: (\S+)")
_TOO_LONG = "a message of more than"
_SLIPS = frozenset(("KeyError", "TypeError", "IndexError", "AttributeError"))
_SPEAKING = ("crash", "protocol", "suspicious-refusal")  # kinds whose messages tell causes apart
# What checks of arguments say that differs from value to value and from tool to tool.
_CHECKED = re.compile(
    r"(?<=for )\w+(?:Arguments|Args|Params|Input|Request|Model)\b|\b(?:input_type=|received )\w+"
)
_LIMIT = re.compile(
    r"(?i)\b(?:less|greater|more|fewer|shorter|longer) than\b|\bat (?:least|most) \d|\bmust be [<>]=?"
)
# What a validation says of the first value that it refuses; the names of fields stand outside.
_COMPLAINT = re.compile(
    r"\[type=(\w+)|(?i:\bexpected (?:a |an )?[\w…\"'/ ]+?(?:, received \w+)?(?=, received | at |[,;.]|\Z))"
)
_MODEL = re.compile(r"validation errors? for (\w+)")
_WRAPPED = re.compile(r"\A(?:\W*(?:error|failed|failure|unable|could not)\b[^:]{0,80}: )+", re.IGNORECASE)
_READ_AS_JSON = re.compile(r"type=string_type, input_value=.*, input_type=(?:list|dict)\]")
_SERVER = re.compile(r"\Amcp:|\.json(?::|\Z)")  # specs of MCP servers
_METHOD = re.compile(r"\bself\.[\w.]+")  # a copy of a line may call another one
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNNUMBERED = re.compile(r":\d+(?= in )")
SMALL_REQUEST = 1_000  # characters of arguments
MUCH = 1_000_000  # a number in a call that may ask for as much work or memory
DIGITS = 10  # length of a cause id
ENOUGH_WORDS = 2  # needed in a message to tell one cause from another
DIED = "process died"  # the error of such a finding
HIDDEN = "hidden exception"  # the error of a finding that says nothing about itself


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One defect of a tool with the minimal calls that show it; all calls but the last are preparation.

    `found_after` counts the calls up to the one that first showed it, `seen` all that did. `original` are the
    calls that first showed it. It was reproduced `reproduced` of `replayed` times from a fresh start.
    """

    id: str
    tool: str
    kind: FindingKind
    error: str
    where: str
    message: str
    why: str
    signature: str
    calls: tuple[Invocation, ...]
    original: tuple[Invocation, ...]
    found_after: int
    seen: int = 1
    replayed: int = 0
    reproduced: int = 0
    origin: str = ""  # how the arguments were generated
    frames: tuple[Frame, ...] = ()
    spec: str = ""  # the tool's spec
    request: str = ""  # natural-language request with which an agent triggered it
    fits: bool = True  # whether the arguments fit the schemas
    documented: int = 0  # number of values among them that the documentation names
    minimised: bool = True  # as far as time allowed
    version: int = FINDING_VERSION

    @property
    def weight(self) -> tuple[int, bool, int, int, bool, int, int, int, str]:
        """Sort key of findings, worst first: severity, then how plausible the calls are."""
        calls, listed = self.calls, self.kind in _KINDS_BY_WEIGHT
        kind = _KINDS_BY_WEIGHT.index(self.kind) if listed else len(_KINDS_BY_WEIGHT)
        plausible = (not self.request, self._oddity, kind, not self.fits, len(calls))
        return (self._severity, *plausible, -self.documented, length_of(calls), self.id)

    @property
    def _severity(self) -> int:
        if self.kind == "security" or self._denies_service:
            return _UNSAFE
        if self._is_mild:
            return _REST
        if self.kind == "contract":
            return _LOST if self.error in LOSSES else _BREACH
        if self.error == DIED or self.kind in ENDLESS:
            return _DEATH
        if self.kind not in ("crash", "protocol", "schema") or self._oddity == UNTYPABLE:
            return _REST
        if self._oddity > ORDINARY:
            return _ODD_FAILURE
        return _BREACH if self.kind == "schema" else _FAILURE

    @property
    def _denies_service(self) -> bool:
        """Whether a small request to a server uses up the time or memory that a call has."""
        is_costly = self.kind == "blow-up" and self.error in ("CPU", "memory") and not self._is_mild
        return is_costly and self._is_server and length_of(self.calls) <= SMALL_REQUEST

    @property
    def _is_mild(self) -> bool:
        """Whether a caller hardly ever meets it, may be content with it, or is told what was wrong."""
        match self.kind:
            case "acceptance":  # what does not fit may stand for a default; what is missing can't be right
                return not self.signature.startswith("acceptance: required")
            case "contract" if self.error == "time-out":  # after a call that asks for much
                return largest_number_in(self.calls) >= MUCH
            case "contract":  # clients call what a server lists
                return self.error == "unlisted tool"
            case "blow-up":  # a number in the call says how much it asks for
                return largest_number_in(self.calls[-1:]) >= MUCH
            case "protocol" if _TOO_LONG in self.message:  # a reply as long as the call asks for
                return product_of_numbers(self.calls[-1:]) >= MUCH
            case "schema":  # the reply names the limit, or a library has read a text as JSON
                return self._names_limit or (
                    self._is_refusal and _READ_AS_JSON.search(self.message) is not None
                )
            case "crash":
                return self._says_why
        return False

    @property
    def _oddity(self) -> int:
        if self.request:
            return ORDINARY
        return max(oddity_of(self.calls), UNUSUAL if has_fractional_place(self.calls) else ORDINARY)

    @property
    def _says_why(self) -> bool:
        """Whether the system, the language or a library refused a value, and the tool did not handle that."""
        if not self.where:  # of a server, whose caller gets the message as an error
            computed = _COUNT_VALUE.search(self.message)  # by the tool, unless it was given
            if computed and not any(computed[1] in call.arguments for call in self.calls):
                return False
            is_refused = self.error in _VALUE_ERRORS and "values to unpack" not in self.message
            return self._is_server and (is_refused or _VALUE_WORDS.match(self.message) is not None)
        if self._family not in _REFUSING:
            return False
        return self._family == _REFUSING[0] or any(not frame.own for frame in self.frames[-1:])

    @property
    def is_minor(self) -> bool:
        """Whether it is a failure for values that hardly anybody sends, or one that does little harm."""
        is_unlikely = self._oddity > ORDINARY or self._is_mild
        return self._severity > _FAILURE and is_unlikely and not self.request

    @property
    def cause(self) -> str:
        """An id shared by findings that fail at one place, whichever tool shows it; see also `marks`.

        It is made of the kind of exception and the place in the code; if no place is known, of the message
        without its variable parts, among tools of one spec. Texts that tools of a server read and that have
        another format are one cause. A finding whose message says too little is a cause by itself.
        """
        spec, kind = self.spec, self.kind
        if self.error in SHARED or (kind == "acceptance" and self._is_server):
            return _digest("server", spec, kind, self.error)
        if self.where:
            # A hang may stop at any line of a loop.
            place = _UNNUMBERED.sub("", self.where) if kind == "hang" else self.where
            return _digest("place", self._home, kind, self._family, place)
        if len(words := self._words) >= ENOUGH_WORDS:
            return _digest("message", spec, kind, self.error, *words)
        if kind == "crash" and self.signature == self.error and self._is_server:  # it read something wrong
            return _digest("reading", spec, self.error)
        return _digest("finding", spec, self.tool, kind, self.signature)

    @property
    def marks(self) -> tuple[str, ...]:
        """Ids of what it may have in common with findings of one cause.

        Besides `cause`, that is a copy of the failing line in the same file, or the function of a library
        that raised the exception when it was called from there. Limits that a server checks, but does not
        declare, are one cause; so are exceptions of one of its tools about a parameter that is not checked.
        """
        if self._names_limit:
            return self.cause, _digest("limits", self.spec)
        if parameter := self._unchecked:
            return self.cause, _digest("parameter", self.spec, self.tool, parameter, str(self._oddity))
        return (self.cause, shared) if (shared := self._shared_code) else (self.cause,)

    @property
    def _shared_code(self) -> str:
        """An id of a copied line, or of a library's function; empty if there is neither."""
        own = [frame for frame in self.frames if frame.own]
        if not self.where or not own or self.kind != "crash":
            return ""
        last, file = self.frames[-1], PurePath(own[-1].file).name
        if not last.own:
            shared = f"{PurePath(last.file).name} {last.function}"
        elif len(_WORD.findall(last.text)) > ENOUGH_WORDS:
            shared = _METHOD.sub("", last.text)
        else:
            return ""
        return _digest("shared", self._home, self._family, file, shared)

    @property
    def _names_limit(self) -> bool:
        """Whether arguments were refused with the limit that they exceed."""
        return self._is_refusal and _LIMIT.search(self.message) is not None

    @property
    def _is_refusal(self) -> bool:
        return self.signature.startswith(REFUSED)

    @property
    def _unchecked(self) -> str:
        """The parameter whose value made a server's code fail; empty unless it can be only one.

        Minimised calls have the simplest value wherever it does not matter.
        """
        is_careless = self.kind == "crash" and self.error in _SLIPS | _VALUE_ERRORS
        if not is_careless or self.where or not self._is_server:
            return ""
        given = arguments_of(self.calls[-1])
        chosen = [name for name, value in given.items() if value and not str(value).startswith("${")]
        names = chosen or [*given]
        return names[0] if len(names) == 1 else ""

    @property
    def _is_server(self) -> bool:
        return _SERVER.search(self.spec) is not None

    @property
    def _home(self) -> str:
        """The server, or the file or module of the tools; places are given without folders."""
        return self.spec if self._is_server else self.spec.rpartition(":")[0] or self.spec

    @property
    def _family(self) -> str:
        """The exceptions that one `except` clause would handle: of the system, or of a library."""
        known = getattr(builtins, self.error, None)
        if not isinstance(known, type):
            return self.error if self.error in (DIED, HIDDEN) or " " in self.error else _REFUSING[1]
        return _REFUSING[0] if issubclass(known, OSError) else self.error

    @property
    def _words(self) -> list[str]:
        """What its message says but for names and values; nothing if it is not about a cause."""
        is_refusal = self.signature.startswith(REFUSED)
        if complaint := self._complaint:  # tools may get the same arguments, but their results are their own
            return [REFUSED if is_refusal else self.tool, complaint]
        if not (is_refusal or self.kind in _SPEAKING) or self.error in (DIED, HIDDEN):
            return []
        named = [name for call in self.calls[-1:] for name in re.findall(r'"(\w+)":', call.arguments)]
        # Checks of arguments name the parameter; elsewhere a plain word may be just that.
        names = {re.escape(self.tool), *(name for name in named if is_refusal or "_" in name)}
        said = _CHECKED.sub("", self.signature.partition(": ")[2])
        plain = re.sub(rf"\b(?:{'|'.join(names)})\b", "", said).casefold()
        words = _WORD.findall(_WRAPPED.sub("", plain))
        if len(words) < ENOUGH_WORDS:
            words = _WORD.findall(plain)
        return [*dict.fromkeys(words)]  # a check repeats itself for each value

    @property
    def _complaint(self) -> str:
        """What a validation says first, without names of fields and values; empty if it can't be told."""
        if self.kind != "schema":
            return ""
        said = self.signature.partition(": ")[2]
        model = _MODEL.search(_CHECKED.sub("", said))
        if self.signature.startswith(REFUSED):
            said = _CHECKED.sub("", said)
        found = _COMPLAINT.search(said)
        return f"{model[1] if model else ''} {found[0]}" if found else ""

    @property
    def ruling(self) -> Ruling:
        """The ruling on the last of its calls."""
        return "refused" if self.kind == "refusal" else self.kind

    @property
    def identity(self) -> str:
        """A key that stays the same from run to run, even if lines move.

        Defects of one kind in one function share it.
        """
        place = _UNNUMBERED.sub("", self.where) or self.signature
        return "\0".join((self.tool, self.kind, self.error, place))


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:DIGITS]


class Cause(msgspec.Struct, frozen=True):
    """Findings with one root cause, the most severe first."""

    id: str
    findings: tuple[Finding, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.tool for finding in self.findings))


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings for display: the worst and most plausible first."""
    return sorted(findings, key=lambda finding: finding.weight)


def causes_of(findings: Iterable[Finding]) -> list[Cause]:
    """Group findings by root cause, in the order of the worst of each."""
    groups = dict[str, list[Finding]]()  # by marks
    for finding in findings:
        joined = {id(group): group for mark in finding.marks if (group := groups.get(mark)) is not None}
        group = [finding, *(each for other in joined.values() for each in other)]
        groups |= {mark: group for each in group for mark in each.marks}
    causes = [ranked(group) for group in {id(group): group for group in groups.values()}.values()]
    return [
        Cause(group[0].cause, tuple(group)) for group in sorted(causes, key=lambda group: group[0].weight)
    ]
