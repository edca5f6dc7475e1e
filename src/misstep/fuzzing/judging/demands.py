"""Names the constraint that arguments violate, and says which refusals and long calls are no defects."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from misstep.core.tool import Described, Path, Reaction
from misstep.fuzzing.judging.echoes import GivenValues, leaves_of
from misstep.fuzzing.judging.reading import mentions
from misstep.fuzzing.judging.wording import MOST_READ, compiled, load_wording
from misstep.fuzzing.returned import misfit_of, with_unknowns
from misstep.schemas.limits import LIMITS
from misstep.schemas.schema import alone, find_breach, first_missing, fits
from misstep.schemas.shape import as_list, find_reference, mapping, resolve

DEEPEST = 30

# Limits that the author stated explicitly, besides `enum` and `const`: violating them should be reported.
_CLEAR = frozenset((
    "required", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength",
    "maxLength",
))  # fmt: skip


def broken_demand(schema: Mapping[str, Any], value: Any) -> str:
    """The first constraint that a value violates and where, as in `minimum at amount`; empty if it fits."""
    if misfit_of(schema, value) is None:
        return ""
    keyword, place = _find(schema, with_unknowns(value), schema)
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")
    return f"{keyword} at {where}" if where else keyword


def is_clear(broken: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether the violated constraint is explicit, and the value not just a spelling of a valid one."""
    keyword, _, name = broken.partition(" at ")
    if keyword not in {"enum", "const"}:
        return keyword in _CLEAR
    wanted = mapping(resolve(mapping(schema.get("properties")).get(name), schema))
    choices = [*as_list(wanted.get("enum")), *([wanted["const"]] if "const" in wanted else [])]
    return _plain(arguments.get(name)) not in {_plain(each) for each in choices}


def _plain(value: Any) -> str:
    text = str(value).strip().casefold()
    return text.removesuffix(".0").replace("-", "_").replace(" ", "_")


def _find(
    schema: Any, value: Any, root: Mapping[str, Any], place: Path = (), depth: int = 0
) -> tuple[str, Path]:
    """The first violated constraint, as deep as it can be located, and its path."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "schema", place
    for keyword in schema:
        if fits(alone(keyword, schema), value, root) is None:
            continue
        if keyword == "required":
            return keyword, (*place, str(first_missing(schema[keyword], value)))
        inner = None if keyword in LIMITS else _inner(keyword, schema, value, root)
        if inner is None:
            return keyword, place
        part, held, way = inner
        return _find(part, held, root, (*place, *way), depth + 1)
    return "schema", place


def _inner(
    keyword: str, schema: Mapping[str, Any], value: Any, root: Mapping[str, Any]
) -> tuple[Any, Any, Path] | None:
    """The nested part that is violated: its schema, its value and the path to it."""
    wanted = schema[keyword]
    match keyword:
        case "$ref":
            return find_reference(wanted, root), value, ()
        case "properties":
            for name, each in wanted.items():
                if name in value and fits(each, value[name], root) is not None:
                    return each, value[name], (name,)
        case "items" if isinstance(wanted, Mapping):
            for number, each in enumerate(value):
                if fits(wanted, each, root) is not None:
                    return wanted, each, (number,)
        case "allOf":
            return next((each, value, ()) for each in wanted if fits(each, value, root) is not None)
        case "anyOf" | "oneOf":
            # Something else must be violated about the only alternative that has the value's type.
            types = [{"type": mapping(resolve(each, root)).get("type", [])} for each in wanted]
            of_type = [each for each, own in zip(wanted, types, strict=True) if fits(own, value) is None]
            return (of_type[0], value, ()) if len(of_type) == 1 else None
    return None


SAFE = 2**53  # larger integers are not exact everywhere
READ = 10_000  # characters of a reply
HUGE = 1e9  # seconds, longer than any call
LONG_NAME = 100  # bytes; file systems allow 143 to 255, and tools add something to names

# How operating systems refuse a name or argument as too long, or a name that they cannot encode.
_TOO_LONG = re.compile(
    r"(?i)ENAMETOOLONG|E2BIG|\b(?:file ?name|argument list|filename or extension is|AF_UNIX path) too long\b"
)
# How they refuse any other path.
_REFUSED_PATH = re.compile(
    r"\b(?:EINVAL|ELOOP|ENOTDIR|EISDIR|EEXIST|ENOTEMPTY|EACCES|EPERM|EXDEV|EBUSY): "
    r"|\[Errno (?:22|40|20|21|17|39|13|1|18|16)\] "
)
_NOT_WRITABLE = re.compile(r"EILSEQ|\billegal byte sequence\b|incomplete multibyte", re.IGNORECASE)

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_NAMED_UNITS = (  # the last one decides
    (re.compile(r"(?:^|_)(?:mins?|minutes?)(?:_|$)"), 60.0),
    (re.compile(r"(?:^|_)(?:ms|msecs?|millis|milliseconds?)(?:_|$)"), 0.001),
    (re.compile(r"(?:^|_)(?:hours?|hrs?|days?)(?:_|$)"), 3600.0),
)
_TIME = re.compile(
    r"(?:^|_)(?:ms|msecs?|millis|milliseconds?|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|delay|duration"
    r"|timeout|wait|sleep|pause|interval|time)(?:_|$)"
)
_WAITING_TIME = re.compile(r"(?:^|_)(?:delay|timeout|wait|sleep|pause)(?:_|$)")
_SEARCHES = re.compile(
    r"(?i)\b(?:search\w*|find\w*|list\w*|walk\w*|trees?|glob\w*|grep\w*|scan\w*|index\w*|recursive\w*)\b"
)
_PLACE = re.compile(r"(?:^|_)(?:paths?|dirs?|director(?:y|ies)|folders?|roots?|cwd|location|repo)(?:_|$)")
_ROOT = re.compile(
    r"(?:file:/)?/+(?:\.{1,2}/*)*(?:(?:usr|proc|sys|lib|nix|home|opt|var)/*)?|~/*|[A-Za-z]:[\\/]*|(?:\.\./*){3,}"
)
_WRITTEN_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?[a-z]*\s*", re.IGNORECASE)
_SLOW_NAME = re.compile(
    r"(?:^|_)(?:sleep|wait|delay|pause|countdown|timer|long_running|poll|listen|watch)(?:_|$)"
)
_SLOW_WORDS = re.compile(
    r"(?i)^\W*(?:sleeps?|waits?|pauses?|delays?|blocks?)\b|\b(?:waits|blocks|sleeps) (?:for|until)\b"
    r"|\blong[- ]running\b"
    r"|\b(?:takes|can take|may take) (?:very |a )?(?:long|while|several|many|minutes|hours)\b"
)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")

_BEYOND_KEYWORDS = re.compile('"(?:format|content(?:Encoding|MediaType)|not|pattern|if|dependentRequired)"')


def excuse_for(schema: Mapping[str, Any], message: str, given: GivenValues) -> str:
    """Why this refusal does not contradict the schema, completing "were refused, …"; empty if it does."""
    beyond = load_wording().beyond
    if mentions(beyond.own_words, message):
        return "by a rule of the tool that its message states"
    if mentions(beyond.unknown_names, message):
        return "because they name something the tool does not know"
    if (breach := find_breach(schema, given.arguments, schema)) and breach[0] == "format":
        return f"because the schema requires another format at {'.'.join(map(str, breach[1]))}"
    if _named_with_more_to_it(schema, message):
        return "and the schema requires a format or pattern there"
    if _holds_no_text(given.arguments):
        return "because they contain invalid Unicode"
    if _is_extreme(given.arguments):
        return "because they contain a number or depth that not every program accepts"
    return ""


_LIMIT = re.compile(r"(?i)(?:\bthan(?: or equal to)?|\bat (?:least|most)|[<>]=?)\s*(-?\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")


def states_limit(described: Described, message: str) -> bool:
    """Whether the documentation mentions the limits that a refusal is about, beyond the schema."""
    limits = {float(number) for number in _LIMIT.findall(message[:READ])}
    return bool(limits) and limits <= {float(number) for number in _NUMBER.findall(_documentation(described))}


def refused_by_system(reaction: Reaction, given: GivenValues) -> str:
    """Why any program would fail with such a name, as the start of a sentence; empty if not."""
    said = reaction.raised.message if reaction.raised else f"{reaction.text[:READ]}\n{reaction.detail[:READ]}"
    if _TOO_LONG.search(said) and any(
        len(text) > LONG_NAME / 4 and len(text.encode(errors="surrogatepass")) > LONG_NAME
        for text in given.texts
    ):
        return "the operating system does not allow a name or argument of this length"
    is_told = reaction.raised is None or not reaction.raised.frames
    if is_told and _REFUSED_PATH.search(said) and given.are_quoted_in(said):
        return "the operating system refuses this path, and the tool says so"
    if _NOT_WRITABLE.search(said) and not all(text.isascii() for text in given.texts):
        return "the file system does not allow this name"
    return ""


def searches_everything(described: Described, given: GivenValues) -> str:
    """Why a search may take as long as it likes, as the start of a sentence; empty if it may not."""
    if not _SEARCHES.search(f"{_snake(described.name).replace('_', ' ')} {described.tool.description}"):
        return ""
    places = [
        name for name, value in given.arguments.items() if _PLACE.search(_snake(name)) and _is_root(value)
    ]
    return f"`{places[0]}` asks for everything on the machine" if places else ""


def _is_root(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(text, str) and _ROOT.fullmatch(text.strip()) for text in texts)


def asked_to_take_long(described: Described, given: GivenValues, seconds: float) -> str:
    """Why a call that took this long did what it should, as the start of a sentence; empty if it did not.

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
    if waits := _waiting_time(described, given, seconds):
        return f"it waits for `{waits}` by default"
    slow = _SLOW_NAME.search(_snake(described.name)) or _SLOW_WORDS.search(described.tool.description)
    return "its name or description says that it is slow" if slow else ""


def _waiting_time(described: Described, given: GivenValues, seconds: float) -> str:
    """A parameter for a time to wait that was left out, unless its default is shorter."""
    for name, schema in mapping(described.tool.parameters.get("properties")).items():
        if name not in given.arguments and _WAITING_TIME.search(_snake(name)):
            usual = _seconds(name, mapping(schema).get("default"))
            if usual is None or usual >= seconds:
                return name
    return ""


def _seconds(name: str, value: Any) -> float | None:
    """The value in seconds, by the unit in its name or after the number; None if it is not a time."""
    units = [1.0, *(unit for pattern, unit in _NAMED_UNITS if pattern.search(_snake(name)))]
    unit = units[-1]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(value, HUGE) * unit
    if isinstance(value, str) and (found := _WRITTEN_TIME.fullmatch(value[:50])):
        return float(found[1]) * (_UNITS[found[2].lower()] if found[2] else unit)
    return None


def _snake(name: str) -> str:
    return _CAPITAL.sub("_", name).lower()


def _named_with_more_to_it(schema: Mapping[str, Any], message: str) -> bool:
    """Whether the message names a parameter with constraints that the validation of arguments ignores."""
    definitions = json.dumps(schema.get("$defs") or {}, default=str)
    for name, each in mapping(schema.get("properties")).items():
        words = json.dumps(each, default=str)
        words += definitions if '"$ref"' in words else ""
        if _BEYOND_KEYWORDS.search(words) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message):
            return True
    return False


def _holds_no_text(arguments: dict[str, Any]) -> bool:
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError) as error:
        return isinstance(error, UnicodeEncodeError)  # `_is_extreme` handles deep values
    return False


def _is_extreme(value: Any, depth: int = 0) -> bool:
    if depth > DEEPEST:
        return True
    if isinstance(value, int | float) and not isinstance(value, bool):
        return abs(value) > SAFE
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_extreme(each, depth + 1) for each in inner)


SHORTEST = 3  # letters of a meaningful word
BEGINNING = 80  # characters of a long value that stand for it
STEM = 5  # letters that related words share
MOST_WORDS = 600  # of the documentation
_LETTERS = re.compile(rf"[^\W\d_]{{{SHORTEST},}}")
_EMPTY = re.compile(
    r"(?:the|and|for|not|with|from|that|this|are|was|were|has|have|can|could|will|would|errors?|failed|failure"
    r"|exception|values?|none|null|true|false|unexpected|internal|while|during)\Z"
)


def find_suspicion(described: Described, message: str, given: GivenValues, error: str = "") -> str:
    """Why a refusal of valid arguments is suspicious, as the end of a sentence; empty if it is not.

    `error` is the exception type, if known. Words from the call or from the tool's documentation don't count
    as internals.
    """
    words, text = load_wording().suspicion, message[:MOST_READ]
    about = _documentation(described)
    if found := _said_by_tool(words.certain, text, about, given):
        return f"the message exposes the tool's internals ({found})"
    if compiled(words.vague).match(text) and not names_call(described, text, given):
        return "the message says nothing about the call"
    # Related to the call, or by a word stem to the documentation.
    related = names_call(described, text, given) or any(
        word[:STEM] in _stems(about) for word in _content(text)
    )
    if not related and (found := _said_by_tool(words.likely, text, about, given)):
        return f"the message exposes the tool's internals ({found})"
    if error in words.types and not related and not compiled(words.refusing).search(text):
        return f"{error} names no argument, and the message is unrelated to the tool's purpose"
    return ""


def _said_by_tool(pattern: str, text: str, about: str, given: GivenValues) -> str:
    """The first match that is the tool's own wording."""
    for found in compiled(pattern).finditer(text):
        words = found.group().strip()
        plain, content = words.casefold(), _content(words)
        documented = plain in about or (content and all(word[:STEM] in _stems(about) for word in content))
        if plain and not documented and not any(plain in each.casefold() for each in given.texts):
            return " ".join(words.split())
    return ""


def names_call(described: Described, text: str, given: GivenValues) -> bool:
    """Whether the text names a parameter or a value of the call."""
    lower = text.casefold()
    names = described.tool.parameters.get("properties") or {}
    words = {word for name in names for word in (name.casefold(), name.replace("_", " ").casefold())}
    scalars = (each for each in leaves_of(given.arguments, keys=False) if each is not None)
    values = {str(each).casefold() for each in scalars if not isinstance(each, bool)}
    if any(each[:BEGINNING] in lower for each in values if len(each) >= BEGINNING):  # it may be cut off
        return True
    # A short value occurs by coincidence, unless it has a digit or is quoted.
    words |= {each for each in values if len(each) >= SHORTEST or re.search(r"\d", each)}
    quoted = {f"{mark}{each}{mark}" for each in values if len(each) < SHORTEST for mark in "'\"`"}
    patterns = (rf"(?<!\w){re.escape(word)}(?:s|es)?(?!\w)" for word in words if word and word in lower)
    return any(re.search(each, lower) for each in patterns) or any(each in lower for each in quoted)


@lru_cache(maxsize=256)
def _stems(about: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in _content(about))


def _content(text: str) -> list[str]:
    return [word for word in _LETTERS.findall(text.casefold())[:MOST_WORDS] if not _EMPTY.match(word)]


def _documentation(described: Described) -> str:
    """All text about the tool, including names of parameters and choices, in lower case."""
    parts = [described.name.replace("_", " "), described.tool.description]
    for name, schema in mapping(described.tool.parameters.get("properties")).items():
        parts.append(name.replace("_", " "))
        if isinstance(schema, dict):
            parts += [str(schema.get("description", "")), *map(str, schema.get("enum") or ())]
    return " ".join(parts).casefold()
