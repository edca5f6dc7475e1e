"""Collects values from results that later calls may need: ids, names, paths."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from misstep.core.tool import Path, Reaction, ReturnedNumber, ReturnedText
from misstep.fuzzing.inputs.edges import endings_for
from misstep.fuzzing.inputs.semantic import texts_starting_with
from misstep.fuzzing.returned import NAME, READ, latest_in, returned, values_in
from misstep.fuzzing.search.acceptance import has_word, quotes
from misstep.fuzzing.search.subject import Parameter
from misstep.schemas.samples import words_of

_KEPT = 24  # values per name

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


class NamedValues:
    """Values from the results of a toolkit by name, the latest last."""

    def __init__(self) -> None:
        self._named = dict[str, dict[Any, None]]()
        self._loose = dict[Any, None]()
        self._made = dict[str, dict[Any, None]]()
        self._latest = dict[str, dict[str, str | int]]()  # by tool that creates something

    def gather(self, reaction: Reaction, maker: str = "") -> bool:
        """Keep the named values of a result; if `maker` created something, also by the words of its name.

        Returns whether this is the first result of the maker.
        """
        if reaction.ended != "returned" or reaction.flagged:
            return False
        is_first = bool(maker) and maker not in self._latest
        for name, value in values_in(reaction):
            _keep(value, self._named.setdefault(plain_name(name), {}) if name else self._loose)
        if maker:
            self._latest[maker] = latest_in(reaction)
        if maker and NAME.fullmatch(reaction.text):
            for word in words_of(maker):
                _keep(reaction.text, self._made.setdefault(word, {}))
        return is_first

    def returned_by(self, tools: Sequence[str], name: str) -> ReturnedText | ReturnedNumber | None:
        """The latest value that one of these tools returned under a name like this.

        `columns` is also like `columns_affected`, if that is no number. The `requestId` of an earlier tool is
        more like `requestId` than the `id` of a later one.
        """
        wanted, words = plain_name(name), name.lower().split("_")
        results = [latest for tool in reversed(tools) if (latest := self._latest.get(tool))]
        for latest in results if len(words_of(name)) > 1 else ():
            same = next((each for each in latest if wanted and plain_name(each) == wanted), None)
            if same is not None:
                return returned(same, latest[same])
        for latest in results:
            known = {plain_name(each): each for each in latest if plain_name(each)}
            near = (each for each in known if wanted and (wanted.endswith(each) or each.endswith(wanted)))
            texts = [each for each, value in latest.items() if isinstance(value, str)]
            lists = (each for each in texts if _is_list_of(each.lower().split("_"), words))
            found = known.get(wanted) or known.get(next(near, "")) or next(lists, None)
            if found is not None:
                return returned(found, latest[found])
        return None

    def wanted(self, parameter: Parameter) -> list[Any]:
        """Values for a parameter: those with its name, else any that fit."""
        return self.named(parameter) or _typed(self._loose, parameter)

    def named(self, parameter: Parameter) -> list[Any]:
        """Values with the parameter's name, else a similar one, else from a tool with a word of it."""
        name = plain_name(parameter.name)
        same = list(self._named.get(name, ()))
        near = (each for other, each in self._named.items() if name.endswith(other) or other.endswith(name))
        made = (self._made.get(word, ()) for word in words_of(parameter.name))
        found = same or list(chain.from_iterable(near)) or chain.from_iterable(made)
        return _typed(found, parameter)


_CUE = re.compile(
    r"\b(?:available|valid(?!at)|allowed|supported|existing|known|possible|accepted|registered|choose|one of"
    r"|(?P<must>(?:must|should) be)|expected|did you mean|for example|such as|e\.g\."
    r"|(?:(?<![a-z] )|please |must |should )use(?=(?: one of| either)? ?['\"`])"
    r"|(?:options|choices)(?=(?: are)? ?[:=\[(]))"
    r"(?P<about>[^:'\"`\[\n]{0,40})(?P<rest>[^\n]{1,400})",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""['"`]([^'"`\n]{1,80})['"`]""")
_LISTED = re.compile(r"[\w./@+-]{1,60}")
_BEGINNING = re.compile(
    r"""(?P<about>[\w ]{0,40})\b(?:starts?|begins?) with ['"`]?(?P<beginning>[^\s'"`]{1,40})""", re.IGNORECASE
)
# What follows is what was given, which messages quote as well.
_GIVEN = re.compile(r"\b(?:(?:received|got|but|instead of|input_value)\b|input:)|\[type=", re.IGNORECASE)
_ESCAPED = re.compile(r"\\+(?=['\"`])")  # of a message inside JSON
# Alternatives without quotes: the list has to end with the clause, or it is prose. No separator may be part
# of an alternative, which would make the number of ways to split a list exponential.
_ALTERNATIVE = r"[\w./@+-]{1,30}"
_ALTERNATIVES = re.compile(
    r"\b(?:(?P<of>one of|either) \(?|(?:must|should) be (?:set to )?|expected )"
    rf"(?P<list>{_ALTERNATIVE}(?:(?:, or | or |, | ?\| ?){_ALTERNATIVE}){{1,11}})(?=[.,;:)\n]|$| [(\[])",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r", or | or |, | ?\| ?")
# Words that say what a value is like, rather than what it is.
_NO_VALUES = frozenset((
    "a", "absent", "absolute", "an", "and", "any", "array", "blank", "bool", "boolean", "bytes", "checked",
    "date", "defined", "dict", "dictionary", "digits", "empty", "equal", "file", "finite", "fixed", "float",
    "given", "greater", "higher", "int", "integer", "it", "larger", "less", "letters", "list", "longer",
    "lower", "more", "negative", "no", "non-empty", "non-negative", "not", "number", "numbers", "object",
    "omitted", "one", "or", "positive", "present", "provided", "relative", "removed", "set", "shorter",
    "smaller", "specified", "str", "string", "strings", "that", "the", "this", "tuple", "undefined",
    "unique", "unset", "valid", "zero",
))  # fmt: skip
_OFFERED = 6  # values per message


def offers_in(message: str) -> list[tuple[str, str]]:
    """Values that an error message offers instead of what was given, each with words next to it.

    For example, "Available sheets: 'Sheet1'" offers Sheet1 with the words "sheets". What values start with
    is offered alone, too: tools often expect something after it.
    """
    message = _ESCAPED.sub("", message[:READ])
    found = dict[tuple[str, str], None]()
    for cue in _CUE.finditer(message):
        rest = _GIVEN.split(cue["rest"])[0]
        values = _QUOTED.findall(rest)
        if not values and rest.startswith((":", "[")):
            parts = [part.strip(" .[]") for part in re.split(r",|\||;| or ", rest[1:])]
            values = [part for part in parts if _LISTED.fullmatch(part)]
        about = cue["about"].strip() or (_words_before(message, cue.start()) if cue["must"] else "")
        found.update(dict.fromkeys((about, value) for value in values))
    for listed in _ALTERNATIVES.finditer(message):
        values = [each.strip(".") for each in _SEPARATOR.split(listed["list"])]
        is_clear = listed["of"] or " or " in listed["list"] or "|" in listed["list"]
        if is_clear and not _NO_VALUES & {each.lower() for each in values}:
            found.update(dict.fromkeys((_words_before(message, listed.start()), value) for value in values))
    for told in _BEGINNING.finditer(message):
        for value in (told["beginning"], f"{told['beginning']}1"):
            found[told["about"].strip(), value] = None
    return list(found)[:_OFFERED]


def _words_before(message: str, place: int) -> str:
    """The last words before a place, which may name a parameter, even on the line before."""
    return " ".join(re.findall(r"\w+", message[max(0, place - 60) : place])[-3:])


_NUMBER = r"-?\d{1,15}(?:\.\d{1,10})?"
# What is counted is no limit of a number: "at least 3 characters".
_COUNTED = r"(?![\w.-]*\w)(?! ?(?!and |or |but |got |received |inclusive)[a-z])"
_REQUIRED = re.compile(
    r"\b(?:must|should|has to|have to|needs? to|cannot|can't|may not|expected|allowed|range|valid|invalid"
    r"|minimum|maximum|available|out of bounds)\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?P<negated>(?:not|n't) (?:be )?)?"
    r"(?:(?P<above>(?:greater|more|larger|higher|bigger) than|>)|(?P<below>(?:less|smaller|lower) than|<)"
    r"|(?P<least>at least|minimum(?: value)?(?: of| is|:)?)"
    r"|(?P<most>at most|up to|not exceed|n't exceed|maximum(?: value)?(?: of| is|:)?))"
    rf"(?P<equal> or equal(?: to)?|=)? ?(?P<number>{_NUMBER}){_COUNTED}",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"(?<![\w.-])(?P<low>{_NUMBER}) ?(?:and|to|-|\u2013|\.\.\.?) ?(?P<high>{_NUMBER}){_COUNTED}",
    re.IGNORECASE,
)
# An index that is too large: "Invalid line: 43. The file has 4 lines."
_SIZE = re.compile(
    r"\b(?:has|have|contains)(?: only)? (?P<size>\d{1,9})"
    r" (?:lines?|rows?|columns?|cells?|slides?|pages?|sheets?|items?|elements?|entries)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[^;\n]+")
_INSIDE = 3  # numbers per range


def allowed_numbers_in(message: str) -> list[tuple[str, int | float]]:
    """Numbers inside the ranges that an error message names, each with the words before the range.

    For example, "limit must be between 1 and 100" offers 1, 50 and 100 with the word "limit".
    """
    message = _ESCAPED.sub("", message[:READ])
    found = dict[tuple[str, int | float], None]()
    for clause in _CLAUSE.finditer(message):
        if (cue := _REQUIRED.search(clause[0])) is not None:
            about = _words_before(message, clause.start() + cue.start())
            numbers = _inside([*_limits(_GIVEN.split(clause[0])[0])])
            found.update(dict.fromkeys((about, number) for number in numbers))
    return list(found)[:_OFFERED]


def _limits(clause: str) -> Iterator[tuple[bool, int | float, bool]]:
    """The limits in a clause: whether it is a lower one, the number, and whether that is allowed."""
    for told in _BETWEEN.finditer(clause):
        yield from ((True, _number(told["low"]), True), (False, _number(told["high"]), True))
    for told in _SIZE.finditer(clause):
        yield from ((True, 0, False), (False, int(told["size"]), True))
    for told in _LIMIT.finditer(clause):
        if told["least"] or told["most"]:
            yield bool(told["least"]), _number(told["number"]), True
        else:
            is_negated = bool(told["negated"])
            yield (
                bool(told["above"]) != is_negated,
                _number(told["number"]),
                bool(told["equal"]) != is_negated,
            )


def _inside(limits: Sequence[tuple[bool, int | float, bool]]) -> list[int | float]:
    """A few numbers that keep to all limits; none if there is no limit, or no such number."""
    lows = [number for is_low, number, _ in limits if is_low]
    highs = [number for is_low, number, _ in limits if not is_low]
    tried = list[int | float]()
    if lows and highs:
        low, high = max(lows), min(highs)
        tried = [low, (low + high) // 2, high, low + 1, high - 1]
        tried += [(low + high) / 2] if high - low <= 1 and not any(allowed for *_, allowed in limits) else []
    elif lows:
        tried = [max(lows), *(int(max(lows)) + more for more in (1, 10))]
    elif highs:
        tried = [min(highs), min(highs) - 1, 1, 0]
    return [each for each in dict.fromkeys(tried) if all(_keeps(each, *limit) for limit in limits)][:_INSIDE]


def _keeps(number: int | float, is_low: bool, limit: int | float, allowed: bool) -> bool:
    return (allowed and number == limit) or (number > limit if is_low else number < limit)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


_KEYWORD = re.compile(r"\b[A-Z]{4,}\b")
_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]{0,40})>")


def texts_named_in(message: str) -> list[str]:
    """Texts that an error message asks for: "Only SELECT queries are allowed", "must be <svg> XML"."""
    message = message[:READ]
    elements = dict.fromkeys(_ELEMENT.findall(message) if _REQUIRED.search(message) else ())
    markup = [text for name in elements for text in (f"<{name}/>", f"<{name}></{name}>")]
    return [*markup, *texts_starting_with(_KEYWORD.findall(message))][:_OFFERED]


_ENDING = re.compile(r"\.[A-Za-z]\w{1,4}\b")
_ENDING_ASKED_FOR = re.compile(
    r"\b(?:only|must|should|supported|expected|extension)\b[^\n]{0,60}\.[a-z]\w{1,6}\b", re.IGNORECASE
)


def asks_for_ending(message: str) -> bool:
    """Whether a refusal says how names of files have to end."""
    return _ENDING_ASKED_FOR.search(message[:READ]) is not None


def files_told(message: str, files: Sequence[str], others: Sequence[str] = ()) -> list[str]:
    """The files that an error message asks for: of a kind or with an ending that it names, or absolute.

    They are from `others` if none of `files` is of that kind.
    """
    said = message[:READ].lower()
    endings = tuple(_ENDING.findall(said)) or endings_for(said)
    found = [file for file in (*files, *others) if endings and file.lower().endswith(endings)]
    named = [file for file in found if file in files] or found
    if "absolute" in said:
        return [file for file in named or files if file.startswith("/")]
    return named


def absolute_files(
    message: str, places: Iterable[tuple[Path, Any]], files: Sequence[str]
) -> Iterator[tuple[Path, str]]:
    """The absolute names of the files of a refused call that have to be absolute, with their places."""
    if "absolute" not in message[:READ].lower():
        return
    for place, value in places:
        if isinstance(value, str) and quotes(message, value):
            yield from (
                (place, file) for file in files if file.startswith("/") and file.endswith(f"/{value}")
            )


def meant_by(
    about: str, message: str, parameters: Sequence[Parameter], arguments: Mapping[str, Any]
) -> list[Parameter]:
    """The parameters that an offer may be for: those it names, those whose value it quotes, other texts."""
    named = _named(about, message, parameters)
    texts = {name for name, value in arguments.items() if isinstance(value, str) and quotes(message, value)}
    quoted = [each for each in parameters if each.name in texts]
    others = [each for each in parameters if "string" in each.kinds]
    return list({each.name: each for each in (*named, *quoted, *others)}.values())


def limited_by(about: str, message: str, parameters: Sequence[Parameter]) -> list[Parameter]:
    """The parameters that a range of numbers may be for: those that the message names, or the only one."""
    numeric = [each for each in parameters if {"integer", "number"} & {*each.kinds}]
    return _named(about, message, numeric) or (numeric if len(numeric) == 1 else [])


# Words that validators write whatever the parameter.
_GENERIC = frozenset(("expected", "input", "invalid", "message", "number", "string", "value"))


def _named(about: str, message: str, parameters: Sequence[Parameter]) -> list[Parameter]:
    """The parameters that share a word with what a message says next to an offer, else those it names."""
    words = {*words_of(about)} - _GENERIC
    near = [each for each in parameters if words & {*words_of(each.name)}]
    return near or [each for each in parameters if has_word(message, each.name)]


def _typed(values: Iterable[Any], parameter: Parameter) -> list[Any]:
    """The values converted to the parameter's types, without duplicates."""
    typed = [each for value in values for each in as_kinds(value, parameter.kinds)]
    return list(dict.fromkeys(typed))


def _is_list_of(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether words that begin with the wanted ones name several things."""
    return wanted[-1].endswith("s") and words[: len(wanted)] == wanted


def _keep(value: Any, kept: dict[Any, None]) -> None:
    kept.pop(value, None)
    kept[value] = None
    if len(kept) > _KEPT:
        del kept[next(iter(kept))]


def as_kinds(value: Any, kinds: tuple[str, ...]) -> Iterator[Any]:
    """The value converted to the types of a parameter."""
    if "string" in kinds:
        yield str(value)
    elif "integer" in kinds or "number" in kinds:
        if isinstance(value, int) or (isinstance(value, float) and "number" in kinds):
            yield value
        elif isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < 19:
            yield int(value)


def plain_name(name: str) -> str:
    """The name in lower case and singular, without separators."""
    plain = "".join(_WORD.findall(name)).lower()
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain
