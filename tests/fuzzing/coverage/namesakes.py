"""Functions that share their names with functions of other modules; line numbers matter."""

import json
import shlex
from json import dumps


def load(text: str) -> object:
    return json.loads(text)


def loads(text: str) -> str:
    """Not the one that `load` calls."""
    return text


class Parser:
    def __init__(self) -> None:
        self.seen = ""

    def split(self, text: str) -> list[str]:
        """Not the one that `words` calls."""
        self.seen = text
        return text.split(",")

    def dumps(self) -> str:
        """Not the one that `write` calls."""
        return self.seen


def words(text: str) -> list[str]:
    return shlex.split(text)


def write(text: str) -> str:
    return dumps(text)


def commas(text: str) -> list[str]:
    return Parser().split(text)


def lower(text: str) -> str:
    import string

    return string.capwords(text).lower()


def capwords(text: str) -> str:
    return text


SHARED = Parser()


def shared(text: str) -> list[str]:
    return SHARED.split(text)
