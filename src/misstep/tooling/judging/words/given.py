"""What a call was given, to tell an echo of it from words of the tool's own."""

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from misstep.core.tool import Invocation

MOST_TEXTS = 200
LONG_ENOUGH = 4  # characters of a text that is not part of another one by chance


class Given:
    """The arguments of a call."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.arguments = arguments

    @classmethod
    def of(cls, invocation: Invocation) -> "Given":
        try:
            arguments = json.loads(invocation.arguments)
        except (ValueError, RecursionError):
            return cls({})
        return cls(arguments if isinstance(arguments, dict) else {})

    @cached_property
    def texts(self) -> list[str]:
        """All texts in it, keys as well."""
        found = list[str]()
        for text in _texts(self.arguments):
            found.append(text)
            if len(found) == MOST_TEXTS:
                break
        return found

    def has(self, words: str) -> bool:
        """Whether a name in a message comes from the arguments."""
        words = words.strip()
        return bool(words) and any(words == each.strip() or _inside(words, each) for each in self.texts)

    def has_path(self, path: str) -> bool:
        """Whether a path in a message was made of the arguments: it ends like one of their texts, say."""
        if self.has(path):
            return True
        parts = {part for part in PurePosixPath(path).parts if part not in {"/", ".", ".."}}
        return any(parts & {*PurePosixPath(each.strip()).parts} for each in self.texts if each.strip())


def _inside(words: str, text: str) -> bool:
    return (len(words) >= LONG_ENOUGH and words in text) or (len(text) >= LONG_ENOUGH and text in words)


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(each.values())
            yield from each
        elif isinstance(each, list):
            waiting.extend(each)
