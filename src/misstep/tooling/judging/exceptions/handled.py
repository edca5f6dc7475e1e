"""Finds exceptions that a tool caught and put into its reply."""

import re
from collections.abc import Callable, Sequence

from misstep.core.tool import Raised
from misstep.core.transcript import storable
from misstep.core.words import in_words
from misstep.tooling.judging.exceptions.describing import describe_exception
from misstep.tooling.judging.words.given import Given
from misstep.tooling.judging.words.results import fails_vaguely, has_own_words

MOST = 3  # exceptions that are told of
LONG = 8  # characters of a message that nobody says by chance, if it has a blank in it
SHORT = 600  # characters of a reply that is taken to be about nothing else
_END = re.compile(r"[\s\"'`)\]}.!]*\Z")


def put_into(text: str, errors: Sequence[BaseException], owns: Callable[[str], bool]) -> tuple[Raised, ...]:
    """Those of the exceptions whose type or message stands in the reply."""
    found = [error for error in reversed(errors) if _is_in(error, text)]
    return tuple(describe_exception(error, owns) for error in found[:MOST])


def _is_in(error: BaseException, text: str) -> bool:
    message = storable(in_words(error)).strip()
    return type(error).__name__ in text or (bool(message) and message in text)


def is_told_in(text: str, raised: Raised, given: Given, by_name: bool) -> bool:
    """Whether a reply passes an exception on, rather than saying in words of its own what is wrong.

    `by_name` if the name of its type alone may tell. What was given in the call is no news.
    """
    start = _place(text, raised, given, by_name)
    return start is not None and not has_own_words(text[:start])


def _place(text: str, raised: Raised, given: Given, by_name: bool) -> int | None:
    """Where in the text the exception is told of."""
    message, name = raised.message.strip(), raised.kind
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
