"""Patterns out of other people's schemas, matched only where that can't take long."""

import re
import warnings
from functools import lru_cache
from math import log

MOST_STEPS = 10_000_000  # that a match may take, by a rough estimate
LONGEST = 10_000  # characters
MOST_STEPS_NESTED = 1_000_000  # where each character may multiply them

_TOKEN = re.compile(
    r"""
    (?P<atom> \\. | \[ \^? \]? (?: \\. | [^\]\\] )* \] )
    | (?P<open> \( (?: \? (?: [:=!>] | <[=!] | P?<\w+> ) )? )
    | (?P<close> \) )
    | (?P<repeat> (?: [*+?] | \{ \d* ,? \d* \} ) [?+]? )
    | (?P<branch> \| )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)


def matches(pattern: str, text: str) -> bool | None:
    """Whether the pattern is found in the text; None where it can't be read or the text is too long."""
    compiled, longest = _prepared(pattern)
    if compiled is None or len(text) > longest:
        return None
    return compiled.search(text) is not None


def is_readable(pattern: str) -> bool:
    return _prepared(pattern)[0] is not None


@lru_cache(maxsize=1024)
def _prepared(pattern: str) -> tuple[re.Pattern[str] | None, int]:
    """The pattern compiled, and the most characters that it may be held against."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what will mean something else one day
        try:
            return re.compile(pattern), _longest_text(pattern)
        except (re.error, OverflowError, RecursionError, ValueError):
            return None, 0


class _Group:
    """What has been read of a group: how many parts of it repeat, and how many may match in several ways."""

    def __init__(self) -> None:
        self.repeats = 0
        self.choices = 0


def _longest_text(pattern: str) -> int:
    """How long a text may be: steps grow with its length to the power of the repeats, or worse."""
    groups, last, longest = [_Group()], _Group(), LONGEST
    for token in _TOKEN.finditer(pattern):
        match token.lastgroup:
            case "open":
                groups.append(_Group())
            case "close" if len(groups) > 1:
                last = groups.pop()
                groups[-1].repeats += last.repeats
                groups[-1].choices += last.choices
            case "branch":
                groups[-1].choices += 1
            case "repeat":
                longest = min(longest, _longest_nested(token[0], last.choices))
                groups[-1].repeats += token[0][0] in "*+" or "," in token[0]
                groups[-1].choices += token[0][0] != "{" or "," in token[0]
            case "atom" | "other":
                last = _Group()
    power = groups[0].repeats + (not pattern.startswith("^"))
    return min(longest, int(MOST_STEPS ** (1 / max(1, power))))


def _longest_nested(repeat: str, choices: int) -> int:
    """How long a text may be where something with choices is repeated: each time multiplies the steps."""
    if not choices or repeat.startswith("?"):
        return LONGEST
    times = int(log(MOST_STEPS_NESTED, choices + 1))
    most = max(map(int, re.findall(r"\d+", repeat)), default=0)
    return times if most <= times else 0
