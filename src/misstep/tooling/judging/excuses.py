"""Says when arguments may be refused, or a call may take long, though they fit the schema."""

import json
import re
from collections.abc import Mapping
from typing import Any

from misstep.core.tool import Described, Reaction
from misstep.schemas.breaches import find_breach
from misstep.tooling.judging.words.given import Given
from misstep.tooling.judging.words.reading import mentions
from misstep.tooling.judging.words.wording import load_wording

SAFE = 2**53  # beyond it not every integer is a number to everybody
DEEPEST = 30
READ = 10_000  # characters of a reply
HUGE = 1e9  # seconds, more than anybody waits
LONG_NAME = 100  # bytes; file systems take 143 to 255, and tools add something to what they are given

# How an operating system refuses a name or an argument for its length, or a name that it can't write.
_TOO_LONG = re.compile(
    r"ENAMETOOLONG|E2BIG|\b(?:file ?name|argument list|filename or extension is|AF_UNIX path) too long\b"
    r"|filename or extension is too long",
    re.IGNORECASE,
)
_NOT_WRITABLE = re.compile(r"EILSEQ|\billegal byte sequence\b|incomplete multibyte", re.IGNORECASE)

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MILLISECONDS = re.compile(r"(?:^|_)(?:ms|msecs?|millis|milliseconds?)(?:_|$)")
_MINUTES = re.compile(r"(?:^|_)(?:mins?|minutes?)(?:_|$)")
_HOURS = re.compile(r"(?:^|_)(?:hours?|hrs?|days?)(?:_|$)")
_TIME = re.compile(
    r"(?:^|_)(?:ms|msecs?|millis|milliseconds?|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|delay|duration"
    r"|timeout|wait|sleep|pause|interval|time)(?:_|$)"
)
_WRITTEN_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?[a-z]*\s*", re.IGNORECASE)
_SLOW_NAME = re.compile(r"(?:^|_)(?:sleep|wait|delay|pause|countdown|timer|long_running)(?:_|$)")
_SLOW_WORDS = re.compile(
    r"^\W*(?:sleeps?|waits?|pauses?|delays?|blocks?)\b|\b(?:waits|blocks|sleeps) (?:for|until)\b"
    r"|\blong[- ]running\b"
    r"|\b(?:takes|can take|may take) (?:very |a )?(?:long|while|several|many|minutes|hours)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")

_BEYOND_KEYWORDS = (
    '"format"',
    '"contentEncoding"',
    '"contentMediaType"',
    '"not"',
    '"pattern"',
    '"if"',
    '"dependentRequired"',
)


def excuse_for(schema: Mapping[str, Any], message: str, given: Given) -> str:
    """Why such a refusal does not make the schema a lie, to end "were refused, …"; empty if it does."""
    beyond = load_wording().beyond
    if mentions(beyond.own_words, message):
        return "by a rule of the tool's own that it put into words"
    if mentions(beyond.unknown_names, message):
        return "since they name what the tool does not know"
    if (breach := find_breach(schema, given.arguments, schema)) and breach[0] == "format":
        return f"since the schema asks for another format at {'.'.join(map(str, breach[1]))}"
    if _named_with_more_to_it(schema, message):
        return "and the schema asks for a format or pattern there"
    if _holds_no_text(given.arguments):
        return "since they hold a text that is not valid Unicode"
    if _is_extreme(given.arguments):
        return "since they hold a number or a depth that not every program takes"
    return ""


def refused_by_system(reaction: Reaction, given: Given) -> str:
    """Why an error is what any program says to such a name, to begin a sentence; empty if it is not."""
    said = reaction.raised.message if reaction.raised else f"{reaction.text[:READ]}\n{reaction.detail[:READ]}"
    if _TOO_LONG.search(said) and any(
        len(text) > LONG_NAME / 4 and _size(text) > LONG_NAME for text in given.texts
    ):
        return "the operating system takes no name or argument of this length"
    if _NOT_WRITABLE.search(said) and not all(text.isascii() for text in given.texts):
        return "the file system can't write this name"
    return ""


def asked_to_take_long(described: Described, given: Given, seconds: float) -> str:
    """Why a call that waited for so long did what it is for, to begin a sentence; empty if it did not.

    Arguments that name a time decide; without any, the tool's name and description do.
    """
    times = {
        name: _seconds(name, value) for name, value in given.arguments.items() if _TIME.search(_snake(name))
    }
    asked = {name: time for name, time in times.items() if time is not None}
    long = [name for name, time in asked.items() if time >= seconds]
    if long:
        return f"`{long[0]}` asks for {min(asked[long[0]], HUGE):,g} seconds"
    if asked:
        return ""
    slow = _SLOW_NAME.search(_snake(described.name)) or _SLOW_WORDS.search(described.tool.description)
    return "its name or description says that it takes long" if slow else ""


def _seconds(name: str, value: Any) -> float | None:
    """What a value means as a time, by the unit in its name or behind the number; None if it is no time."""
    plain = _snake(name)
    unit = 0.001 if _MILLISECONDS.search(plain) else 60.0 if _MINUTES.search(plain) else 1.0
    unit = 3600.0 if _HOURS.search(plain) else unit
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(value, HUGE) * unit
    if isinstance(value, str) and (found := _WRITTEN_TIME.fullmatch(value[:50])):
        return float(found[1]) * (_UNITS[found[2].lower()] if found[2] else unit)
    return None


def _snake(name: str) -> str:
    return _CAPITAL.sub("_", name).lower()


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _named_with_more_to_it(schema: Mapping[str, Any], message: str) -> bool:
    """Whether the message names a parameter with demands that nobody looks at when arguments are checked."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return False
    text = json.dumps(schema.get("$defs") or {}, default=str)
    for name, each in properties.items():
        words = json.dumps(each, default=str)
        words += text if '"$ref"' in words else ""
        if mentions(_BEYOND_KEYWORDS, words) and re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", message):
            return True
    return False


def _holds_no_text(arguments: dict[str, Any]) -> bool:
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except RecursionError:
        return False  # its depth is reason enough
    return False


def _is_extreme(value: Any, depth: int = 0) -> bool:
    if depth > DEEPEST:
        return True
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return abs(value) > SAFE
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_extreme(each, depth + 1) for each in inner)
