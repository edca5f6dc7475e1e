"""Regular expressions out of schemas, as rules for the texts of JSON that they are about."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

MOST = 60  # times that a part may be repeated which has no bound of its own
_NEVER = r'"\\\x00-\x1F\x7F'  # what a text of JSON holds only in disguise, inside of brackets
_CATEGORIES = {"CATEGORY_DIGIT": "0-9", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a-zA-Z0-9_"}


def pattern_rule(pattern: Any) -> str | None:
    """The right-hand side of a rule for texts in quotes, all of which match; None for what is beyond it.

    It may accept less than the pattern: no quotes within, no part that is repeated without end.
    """
    parser = getattr(re, "_parser", None)  # not promised by anybody: without it all patterns are beyond
    if not isinstance(pattern, str) or parser is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = list(parser.parse(pattern))
        begins, ends = _is_at(parts[:1], "BEGINNING"), _is_at(parts[-1:], "END")
        inside = _all(parts[begins : len(parts) - ends])
    except (re.error, LookupError, OverflowError, RecursionError, ValueError):
        return None
    anything = f"char{{0,{MOST}}}"
    return rf'"\"" {"" if begins else anything} {inside} {"" if ends else anything} "\""'


def _is_at(parts: Sequence[Any], place: str) -> bool:
    return any(str(name) == "AT" and place in str(argument) for name, argument in parts)


def _all(parts: Sequence[Any]) -> str:
    return " ".join([_RULES[str(name)](argument) for name, argument in parts]) or '""'


def _repeated(argument: Any) -> str:
    least, most, parts = argument
    if least > MOST:
        raise ValueError("too often")
    return f"({_all(parts)}){{{least},{min(int(most), max(MOST, least))}}}"


def _branches(argument: Any) -> str:
    return f"({' | '.join(map(_all, argument[1]))})"


def _group(argument: Any) -> str:
    _, added, removed, parts = argument
    if added or removed:
        raise ValueError("other flags")
    return f"({_all(parts)})"


def _one_of(members: Any) -> str:
    if str(members[0][0]) != "NEGATE":
        return f"[{_members(members)}]"
    if any(str(name) == "CATEGORY" for name, _ in members):
        raise ValueError("all but a category, of which only a part is known")
    return f"[^{_members(members[1:])}{_NEVER}]"


def _members(members: Any) -> str:
    return "".join([_member(str(name), argument) for name, argument in members])


def _member(name: str, argument: Any) -> str:
    match name:
        case "LITERAL":
            return _character(argument)
        case "RANGE":
            return f"{_character(argument[0])}-{_character(argument[1])}"
        case "CATEGORY":
            return _CATEGORIES[str(argument)]
    raise ValueError(name)


def _character(code: int) -> str:
    """A character by its number, so that it means nothing but itself."""
    if code < 0x20 or code == 0x7F or chr(code) in '"\\' or 0xD800 <= code < 0xE000:
        raise ValueError("not in a text of JSON as it is")
    return f"\\U{code:08X}"


_RULES: dict[str, Callable[[Any], str]] = {
    "LITERAL": lambda code: f"[{_character(code)}]",
    "NOT_LITERAL": lambda code: f"[^{_character(code)}{_NEVER}]",
    "ANY": lambda _: f"[^{_NEVER}]",
    "IN": _one_of,
    "MAX_REPEAT": _repeated,
    "MIN_REPEAT": _repeated,
    "BRANCH": _branches,
    "SUBPATTERN": _group,
}
