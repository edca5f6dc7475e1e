"""Describes and judges exceptions that a tool raised, or that it caught and put into its reply.

An exception that the tool's own code raised with a message is an answer (a refusal). One that just happened
to it is a defect, unless the environment caused it.
"""

import linecache
import re
from collections.abc import Callable, Iterator, Sequence
from dis import opmap
from functools import cache
from types import TracebackType
from typing import Any, TypeAlias

from misstep.core.outcome import storable
from misstep.core.results.trial import Judged, Ruling
from misstep.core.text import cut, in_words, is_ours
from misstep.core.tool import Frame, Raised
from misstep.fuzzing.judging.echoes import QUOTED, GivenValues, place_of, signature_of, spot
from misstep.fuzzing.judging.reading import fails_vaguely, find_trouble, has_own_words, read_error
from misstep.fuzzing.judging.wording import in_short, load_wording

_RAISE = opmap["RAISE_VARARGS"]
_ASSERTION = opmap.get("LOAD_ASSERTION_ERROR")  # later Python versions use LOAD_COMMON_CONSTANT
_COMMON = opmap.get("LOAD_COMMON_CONSTANT")
_ENDS = frozenset(opmap[name] for name in ("RAISE_VARARGS", "RERAISE", "RETURN_VALUE") if name in opmap)


def _made_by_raise(place: TracebackType, error: BaseException) -> bool:
    """Whether the exception comes from a `raise` statement with an operand, and not from `assert`."""
    code, at = place.tb_frame.f_code.co_code, place.tb_lasti
    is_raise = 0 <= at < len(code) - 1 and code[at] == _RAISE and code[at + 1] != 0
    return is_raise and not (isinstance(error, AssertionError) and _is_assert(code, at))


def _is_assert(code: bytes, at: int) -> bool:
    """Whether an `assert` loaded the exception since the last instruction that ends a block."""
    for place in range(at - 2, -1, -2):
        if code[place] == _ASSERTION or (code[place] == _COMMON and code[place + 1] == 0):
            return True
        if code[place] in _ENDS:
            return False
    return False


MESSAGE = 2_000  # characters
NAME = 200
OUTER, INNER = 8, 24  # frames kept at either end of a long traceback
DEEPEST = 20  # nested or chained exceptions
MOST_BASES = 12
MOST_WALKED = 100_000  # frames; only a cyclic traceback has more

# Exception names of libraries that validate arguments before the tool runs.
_CHECKERS = frozenset({"ValidationError", "ArgumentsRefused", "RequestValidationError", "SchemaError"})
_BINDING = ("missing", "unexpected keyword", "positional argument", "multiple values for")

Owns: TypeAlias = Callable[[str], bool]


def describe_exception(error: BaseException, owns: Owns) -> Raised:
    """Describe an exception that a tool raised, as plain data; `owns` tells which files are the tool's.

    For a group, or an exception that foreign code wrapped around another, this is the first one that passed
    through the tool's own code. Frames of misstep and those before the tool's are left out.
    """

    @cache
    def is_own_file(file: str) -> bool:
        try:
            return not is_ours(file) and bool(owns(file))
        except (OSError, ValueError):  # for example, a name that is not a path
            return False

    def own(place: TracebackType) -> bool:
        return is_own_file(place.tb_frame.f_code.co_filename)

    telling = next((each for each in _related(error) if any(map(own, _walk(each)))), None)
    chosen = _innermost_of_group(error) if telling is None else telling
    way = list(_walk(chosen))
    first = next((number for number, place in enumerate(way) if own(place)), 0)
    shown = way[first:] if telling is not None or chosen is error else [*_walk(error), *way[first:]]
    frames = [_frame(place, own(place)) for place in shown if not is_ours(place.tb_frame.f_code.co_filename)]
    message = _message(chosen)
    return Raised(
        kind=_name(type(chosen)),
        message=message,
        bases=tuple(_qualified(each) for each in type(chosen).__mro__[:MOST_BASES] if each is not object),
        frames=tuple(_few(frames)),
        deliberate=bool(way)
        and own(way[-1])
        and _made_by_raise(way[-1], chosen)
        and all(message.strip() != _message(reason).strip() for reason in _reasons(chosen))
        and _is_sayable(chosen),
        validation=not any(frame.own for frame in frames) and _is_check(chosen, message),
    )


def _frame(place: TracebackType, own: bool) -> Frame:
    code = place.tb_frame.f_code
    file, function = storable(cut(code.co_filename, NAME)), storable(cut(code.co_name, NAME))
    line = place.tb_lineno or 0
    return Frame(file, line, function, own, source_line(code.co_filename, line) if own else "")


def source_line(file: str, line: int) -> str:
    """A line of source code, empty if it can't be read; to be called where the tool runs, in its sandbox."""
    try:
        return storable(cut(linecache.getline(file, line).strip(), NAME))
    except Exception:  # the tool may have replaced what files are opened with
        return ""


def _few(frames: list[Frame]) -> list[Frame]:
    """The outermost and innermost frames, including the innermost of the tool's own."""
    if len(frames) <= OUTER + INNER:
        return frames
    own = [number for number, frame in enumerate(frames) if frame.own][-1:]
    kept = {*range(OUTER), *own, *range(len(frames) - INNER, len(frames))}
    return [frames[number] for number in sorted(kept)]


def _walk(error: BaseException) -> Iterator[TracebackType]:
    place = _own_attribute(error, "__traceback__")
    for _ in range(MOST_WALKED):
        if place is None:
            return
        yield place
        place = place.tb_next


def _related(error: BaseException) -> Iterator[BaseException]:
    """The exception, the members of a group, and their causes, each once."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < DEEPEST:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, BaseExceptionGroup):
            waiting[:0] = each.exceptions[:DEEPEST]
        else:
            yield each
        waiting.extend(_reasons(each))


def _reasons(error: BaseException) -> list[BaseException]:
    cause, context = _own_attribute(error, "__cause__"), _own_attribute(error, "__context__")
    return [each for each in (cause, context) if each is not None][:1]


def _innermost_of_group(error: BaseException) -> BaseException:
    for _ in range(DEEPEST):
        if not isinstance(error, BaseExceptionGroup) or not error.exceptions:
            break
        error = error.exceptions[0]
    return error


def _own_attribute(error: BaseException, name: str) -> Any:
    """The attribute of BaseException, even if the tool's class overrides it."""
    return getattr(BaseException, name).__get__(error)


def _message(error: BaseException) -> str:
    return storable(cut(in_words(error), MESSAGE))


def _is_sayable(error: BaseException) -> bool:
    """Whether `str` works on it: some exceptions fail in `__str__`."""
    try:
        str(error)
    except BaseException:
        return False
    return True


def _is_check(error: BaseException, message: str) -> bool:
    if any(_name(each) in _CHECKERS for each in type(error).__mro__):
        return True
    return isinstance(error, TypeError) and any(words in message for words in _BINDING)


def _name(kind: type) -> str:
    return storable(cut(str(type.__dict__["__name__"].__get__(kind)), NAME))


def _qualified(kind: type) -> str:
    module, plain = kind.__dict__.get("__module__"), _name(kind)
    if not isinstance(module, str) or module == "builtins":
        return plain
    return storable(cut(f"{module}.{plain}", NAME))


MOST = 3  # exceptions reported
LONG = 8  # characters of a message with a space in it that cannot be a coincidence
SHORT = 600  # characters of a reply that is only about the error
_END = re.compile(r"[\s\"'`)\]}.!]*\Z")


def put_into(text: str, errors: Sequence[BaseException], owns: Owns) -> tuple[Raised, ...]:
    """The exceptions whose type or message the reply contains."""
    found = list[BaseException]()
    for error in reversed(errors):
        message = storable(in_words(error)).strip()
        if type(error).__name__ in text or (message and message in text):
            found.append(error)
    return tuple(describe_exception(error, owns) for error in found[:MOST])


def is_told_in(text: str, raised: Raised, given: GivenValues, by_name: bool) -> bool:
    """Whether a reply passes on an exception, instead of explaining the problem in its own words.

    `by_name` if the name of its type alone is enough. Text from the call's arguments does not count.
    """
    start = _place(text, raised, given, by_name)
    return start is not None and not has_own_words(text[:start])


def _place(text: str, raised: Raised, given: GivenValues, by_name: bool) -> int | None:
    message, name = raised.message.strip()[:SHORT], raised.kind  # replies and messages may be truncated
    echo = not message or any(message.strip("'\"") in each or message in each for each in given.texts)
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    if found and not any(name in each for each in given.texts):
        rest = text[found.end() :]
        if message and message in rest[: len(message) + LONG]:
            return found.start()
        if by_name and len(text) <= SHORT and _END.match(rest) and fails_vaguely(text[: found.start()]):
            return found.start()
    start = text.find(message) if message and not echo else -1
    if start < 0 or (len(message) >= LONG and " " in message):
        return start if start >= 0 else None
    ends = len(text) <= SHORT and _END.match(text[start + len(message) :])
    return start if ends and fails_vaguely(text[:start]) else None


UNANSWERED = "the server it connects to does not answer"

_ERRNO = re.compile(r"\[Errno (-?\d+)\]")
_VAGUE = re.compile(r"(?i)\b(fail\w*|errors?|exceptions?|problems?|wrong|unexpected\w*|unable|could)\b")
_SLIP = re.compile("(?:Index|Attribute|Type|Assertion|Name|ZeroDivision)Error")  # simple programming errors
_EXIT_STATUS = re.compile(r"returned non-zero exit status (\d+)")
_NETWORK_FILES = re.compile(
    r"(?:^|/)(?:socket|ssl|http/client|urllib/request|asyncio/selector_events)\.py$|/(?:urllib3|httpcore|httpx|requests|aiohttp|anyio)/"
)


def judge_raised(raised: Raised, given: GivenValues) -> Judged:
    """Judge an exception by its type, by whose code raised it, and by its message."""
    kinds = _kinds(raised)
    if load_wording().types.exits.intersection(kinds):
        return _defect(raised, f"{raised.kind} is not handled and would end the agent's process")
    if "MemoryError" in kinds:
        return _defect(raised, f"it ran out of memory{_at(raised)}", "blow-up")
    if raised.deliberate:
        return _judge_deliberate(raised, given)
    if reason := _environment(raised, given, set(kinds)):
        said = in_short(raised.message)
        why, signature = f"{reason}: {said}", f"environment: {reason}"
        return Judged("environment", why, signature, raised.kind, message=said)
    return _defect(raised, f"unhandled {raised.kind}{_at(raised)}{_reason(raised)}")


def _judge_deliberate(raised: Raised, given: GivenValues) -> Judged:
    """Judge an exception that the tool's own code raised: an answer, if it says what is wrong."""
    message, shown = raised.message.strip(), in_short(raised.message)
    told = read_error(message, bare=False, said=given.texts) if message else None
    if raised.kind == "AssertionError":
        return _defect(raised, f"failed assertion{_at(raised)}")
    before, colon, _ = message.partition(": ")
    explains = bool(colon) and " " in before.strip() and not _VAGUE.search(before)
    if told is not None and told.sort == "crash" and not (explains and "Traceback" not in message):
        return _defect(raised, f"{raised.kind} wraps another exception without adding information")
    if told is not None and told.sort == "environment":
        return Judged("environment", f"{told.why}: {shown}", f"environment: {told.why}", raised.kind)
    plain = message.strip("'\"")
    is_echo = any(plain == text.strip("'\"") for text in given.texts) and " " not in plain.strip()
    if raised.kind in load_wording().types.general and (not message or is_echo):
        return _defect(raised, f"its own code{_at(raised)} raised {raised.kind} without saying what is wrong")
    said = f"{raised.kind}: {shown}" if message else raised.kind
    why = f"the tool reported what was wrong, which is not a defect: {said}"
    return Judged("refused", why, signature_of(raised), raised.kind, message=shown)


def _environment(raised: Raised, given: GivenValues, kinds: set[str]) -> str:
    """What in the environment caused it; empty if the tool did."""
    types, message = load_wording().types, raised.message
    if kinds & types.input or "unknown url type" in message or "no host given" in message:
        return ""
    if "OSError" in kinds and (errno := _ERRNO.search(message)):
        return _by_errno(int(errno.group(1)), message, given, kinds)
    if "KeyError" in kinds:
        return "an environment variable is not set" if _looked_into_environ(raised, given) else ""
    if kinds & {"ModuleNotFoundError", "ImportError"}:
        return "" if given.are_quoted_in(message) else "a package is not installed"
    if status := _EXIT_STATUS.search(message):
        return "a program is not installed" if status.group(1) in {"126", "127"} else ""
    if kinds & types.environment:
        return UNANSWERED if "Connect" in raised.kind else "the environment lacks something it needs"
    if "TimeoutError" in kinds:
        foreign = (frame.file for frame in raised.frames if not frame.own)
        return UNANSWERED if any(map(_NETWORK_FILES.search, foreign)) else ""
    return "" if _SLIP.fullmatch(raised.kind) else find_trouble(message, given.texts)


def _by_errno(number: int, message: str, given: GivenValues, kinds: set[str]) -> str:
    errno = load_wording().errno
    if number < 0 or kinds & {"gaierror", "herror"}:
        return "no network"
    if number == errno.missing:
        is_given = given.are_quoted_in(message) or not QUOTED.search(message)
        return "" if is_given else "a file or program is missing"
    if number in errno.network:
        return UNANSWERED
    return "the sandbox forbids it" if number in errno.sandbox else ""


def _looked_into_environ(raised: Raised, given: GivenValues) -> bool:
    last = raised.frames[-1] if raised.frames else None
    if last is None or last.function != "__getitem__":
        return False
    in_os = re.search(r"(?:^|[/\\])os\.py$|^<frozen os>$", last.file)
    return in_os is not None and not given.has(raised.message.strip("'\""))


def _kinds(raised: Raised) -> list[str]:
    """The names of its types, without modules."""
    return [raised.kind, *(base.rpartition(".")[2] for base in raised.bases)]


def _defect(raised: Raised, why: str, ruling: Ruling = "crash") -> Judged:
    message = in_short(raised.message)
    return Judged(ruling, why, signature_of(raised), raised.kind, place_of(raised), message)


def _reason(raised: Raised) -> str:
    """What went wrong in the tool's own code, or what that code called, as far as the frames show."""
    if not any(frame.own for frame in raised.frames):
        return ""
    last, reasons = raised.frames[-1], load_wording().reasons
    if last.own:
        return next((f" ({reasons[name]})" for name in _kinds(raised) if name in reasons), "")
    return f" (raised by {last.function} at {spot(last).partition(' in ')[0]})"


def _at(raised: Raised) -> str:
    place = place_of(raised)
    return f" at {place.partition(' in ')[0]}" if place else ""
