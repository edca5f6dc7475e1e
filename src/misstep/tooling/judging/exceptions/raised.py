"""Rules on an exception that left a tool in a process whose code can be seen."""

import re

from misstep.core.ruling import Judged, Ruling
from misstep.core.tool import Frame, Raised
from misstep.tooling.judging.signatures import place_of, signature_of, spot
from misstep.tooling.judging.words.given import Given
from misstep.tooling.judging.words.plain import in_short
from misstep.tooling.judging.words.reading import find_trouble, read_error
from misstep.tooling.judging.words.wording import load_wording

_ERRNO = re.compile(r"\[Errno (-?\d+)\]")
_QUOTED = re.compile(r"""(?:'([^']*)'|"([^"]*)")""")
_VAGUE = re.compile(
    r"\b(fail\w*|errors?|exceptions?|problems?|wrong|unexpected\w*|unable|could)\b", re.IGNORECASE
)
_EXIT_STATUS = re.compile(r"returned non-zero exit status (\d+)")
_NETWORK_FILES = re.compile(
    r"(?:^|/)(?:socket|ssl|http/client|urllib/request|asyncio/selector_events)\.py$|/(?:urllib3|httpcore|httpx|requests|aiohttp|anyio)/"
)


def judge_raised(raised: Raised, given: Given) -> Judged:
    """A ruling on an exception by its type, by who raised it, and by what it says."""
    types, kinds = load_wording().types, _kinds(raised)
    if kinds & types.exits:
        return _defect(
            raised, f"{raised.kind} left the tool, which would end the process that the agent runs in"
        )
    if "MemoryError" in kinds:
        return _defect(raised, f"it wanted more memory than there is{_at(raised)}", blow_up=True)
    if raised.deliberate:
        return _judge_deliberate(raised, given)
    if reason := _environment(raised, given, kinds):
        message = in_short(raised.message)
        return Judged(
            "environment", f"{reason}: {message}", f"environment: {reason}", raised.kind, message=message
        )
    return _defect(raised, f"{raised.kind} left the tool: {_deed(raised)}")


def _judge_deliberate(raised: Raised, given: Given) -> Judged:
    """A ruling on an exception that the tool's own code raised: an answer, if it says what is wrong."""
    message, shown = raised.message.strip(), in_short(raised.message)
    told = read_error(message, bare=False, said=given.texts) if message else None
    if raised.kind == "AssertionError":
        return _defect(raised, f"its own code{_at(raised)} says itself that this must not happen")
    if told is not None and told.sort == "crash" and not _has_own_words(message):
        why = f"{raised.kind} was raised around another exception, and says no more than that one"
        return _defect(raised, why)
    if told is not None and told.sort == "environment":
        return Judged("environment", f"{told.why}: {shown}", f"environment: {told.why}", raised.kind)
    if raised.kind in load_wording().types.general and (not message or _is_echo(message, given)):
        why = f"its own code{_at(raised)} raised {raised.kind} without a word about what is wrong"
        return _defect(raised, why)
    said = f"{raised.kind}: {shown}" if message else raised.kind
    why = f"the tool said what was wrong, which is an answer and no defect: {said}"
    return Judged("refused", why, signature_of(raised), raised.kind, message=shown)


def _has_own_words(message: str) -> bool:
    """Whether something stands before what another exception says, other than that one's type."""
    before, colon, _ = message.partition(": ")
    return bool(colon) and " " in before.strip() and not _VAGUE.search(before) and "Traceback" not in message


def _is_echo(message: str, given: Given) -> bool:
    plain = message.strip("'\"")
    return any(plain == text.strip("'\"") for text in given.texts) and " " not in plain.strip()


def _environment(raised: Raised, given: Given, kinds: set[str]) -> str:
    """What is to blame, if it is not the tool; empty if it is."""
    types, message = load_wording().types, raised.message
    if kinds & types.input or "unknown url type" in message or "no host given" in message:
        return ""
    if "OSError" in kinds and (errno := _ERRNO.search(message)):
        return _by_errno(int(errno.group(1)), message, given, kinds)
    if "KeyError" in kinds:
        return "a variable of the environment is not set" if _looked_into_environ(raised, given) else ""
    if kinds & {"ModuleNotFoundError", "ImportError"}:
        return "" if _names_given(message, given) else "something is not installed here"
    if status := _EXIT_STATUS.search(message):
        return "a program is missing here" if status.group(1) in {"126", "127"} else ""
    if kinds & types.environment:
        return (
            "nothing answers where it wants to connect to"
            if "Connect" in raised.kind
            else "the environment lacks what it needs"
        )
    if "TimeoutError" in kinds:
        return "nothing answers where it wants to connect to" if _is_about_network(raised) else ""
    return _by_words(raised, given)


def _by_words(raised: Raised, given: Given) -> str:
    """The same by the message; those of mere slips say nothing about the environment."""
    if raised.kind in {
        "IndexError",
        "AttributeError",
        "TypeError",
        "AssertionError",
        "NameError",
        "ZeroDivisionError",
    }:
        return ""
    return find_trouble(raised.message, given.texts)


def _by_errno(number: int, message: str, given: Given, kinds: set[str]) -> str:
    errno = load_wording().errno
    if number < 0 or kinds & {"gaierror", "herror"}:
        return "there is no network"
    if number == errno.missing:
        return (
            ""
            if _names_given(message, given) or not _QUOTED.search(message)
            else "a file or program is missing here"
        )
    if number in errno.network:
        return "nothing answers where it wants to connect to"
    return "the sandbox does not allow it" if number in errno.sandbox else ""


def _names_given(message: str, given: Given) -> bool:
    """Whether something that a message quotes comes from the arguments."""
    quoted = [one or other for one, other in _QUOTED.findall(message)]
    return any(each in given.texts or (each and given.has_path(each)) for each in quoted)


def _looked_into_environ(raised: Raised, given: Given) -> bool:
    last = raised.frames[-1] if raised.frames else None
    in_os = (
        last is not None
        and last.function == "__getitem__"
        and re.search(r"(?:^|[/\\])os\.py$|^<frozen os>$", last.file)
    )
    return bool(in_os) and not given.has(raised.message.strip("'\""))


def _is_about_network(raised: Raised) -> bool:
    return any(_NETWORK_FILES.search(frame.file) for frame in raised.frames if not frame.own)


def _kinds(raised: Raised) -> set[str]:
    """The names of its types without their modules."""
    return {raised.kind, *(base.rpartition(".")[2] for base in raised.bases)}


def _defect(raised: Raised, why: str, blow_up: bool = False) -> Judged:
    ruling: Ruling = "blow-up" if blow_up else "crash"
    message = in_short(raised.message)
    return Judged(ruling, why, signature_of(raised), raised.kind, place_of(raised), message)


def _deed(raised: Raised) -> str:
    """What the tool's own code did, as far as the frames tell."""
    own = [frame for frame in raised.frames if frame.own]
    if not own:
        return "nobody handled it"
    last, deeds = raised.frames[-1], load_wording().deeds
    if last.own:
        names = (raised.kind, *(base.rpartition(".")[2] for base in raised.bases))
        deed = next((deeds[name] for name in names if name in deeds), "brought it about")
        return f"its own code{_at(raised)} {deed} and did not handle it"
    return f"its own code{_at(raised)} called {_library(last)}, and did not handle what came of it"


def _library(frame: Frame) -> str:
    return f"{frame.function} ({spot(frame).partition(' in ')[0]})"


def _at(raised: Raised) -> str:
    place = place_of(raised)
    return f" at {place.partition(' in ')[0]}" if place else ""
