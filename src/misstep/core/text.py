"""Makes text from agents and processes safe to store and show: encodable, limited in length, no secrets."""

import os
import re
import sysconfig
import traceback
from pathlib import Path
from typing import Any

import msgspec

from misstep.core.outcome import storable
from misstep.core.secrets import Redactor

_FOLDER = Path(__file__).parents[1]
_NAMES = tuple(f"{folder}{os.sep}" for folder in {_FOLDER, _FOLDER.resolve()})


def is_ours(file: str) -> bool:
    """Whether a file, by its absolute path, is part of misstep."""
    return file.startswith(_NAMES)


_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def readable(text: str) -> str:
    """The text without escape sequences and control characters."""
    return "".join(letter for letter in _COLOURS.sub("", text) if letter.isprintable() or letter == "\n")


# In characters; names of tools that models accept are far shorter.
NAME = 256
TEXT = 4_000  # inside arguments
ANSWER = 20_000

# In bytes of JSON.
ARGUMENTS = 1 << 16
MESSAGE = 1 << 18
IN_ALL = 1 << 24

MOST_FRAMES = 20  # the innermost frames of a traceback
LIBRARIES = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
NOT_THE_USERS = (*LIBRARIES, str(Path(__file__).parents[1]), "<")

LONGEST_NOTE = 50  # characters

UNREADABLE = "(not valid UTF-8: invalid bytes are shown as \ufffd) "

_NOTE = re.compile(r"… \(([\d,]{1,20}) more characters\)\Z", re.ASCII)


def cut(text: str, most: int) -> str:
    """Truncate text and say how much is missing. The result never equals a text that was short enough.

    If the text was truncated before, the count includes what was missing then.
    """
    if len(text) <= most:
        return text
    earlier = _NOTE.search(text, max(0, len(text) - LONGEST_NOTE))
    body = len(text) if earlier is None else earlier.start()
    if body <= most:
        return text
    missing = body - most + (0 if earlier is None else int(earlier[1].replace(",", "") or 0))
    return f"{text[:most]}… ({missing:,} more characters)"


def tidy(text: str) -> str:
    """The text without NUL characters, which some stores refuse, and without surrounding white space."""
    return text.replace("\0", "\ufffd").strip()


def quoted(text: str, most: int = 100) -> str:
    """A text in quotes, truncated, for use in a message."""
    return f"'{cut(text, most)}'"


def in_words(value: object) -> str:
    """Any value as a plain string, even if its `__str__` fails."""
    try:
        if isinstance(value, str):
            return str.__str__(value)  # a subclass may override `__str__`
        if isinstance(value, bytes | bytearray | memoryview):
            try:
                return bytes(value).decode()
            except UnicodeDecodeError:
                return UNREADABLE + bytes(value).decode(errors="replace")
        return str.__str__(str(value))
    except BaseException as error:
        return f"({type(value).__name__} that can't be converted to text: {type(error).__name__})"


def error_in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {in_words(error)}"


def traceback_in_words(error: BaseException) -> str:
    """The error on the first line, then its frames in the user's own code, the innermost last."""
    try:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(NOT_THE_USERS)]
        lines = [f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in own]
    except Exception:  # source is read by loaders, which may be user code
        lines = []
    return "\n".join([error_in_words(error), *lines[-MOST_FRAMES:]])


class TextLimiter:
    """Makes what an agent says fit to be stored: encodable, without secrets, limited in length.

    `text` limits a text inside a value, `value` a whole value, and `in_all` everything together. Secrets are
    masked before anything is truncated, so that no part of one is left over.
    """

    def __init__(
        self, redact: Redactor, text: int = TEXT, value: int = ARGUMENTS, in_all: int = IN_ALL
    ) -> None:
        self._redact = redact
        self._text = text
        self._value = value
        self.room = in_all

    def text(self, value: object, most: int) -> str:
        words = value if type(value) is str else in_words(value)
        text = cut(self._redact(words), most)
        if text.isascii() and "\0" not in text:
            return text
        return storable(text).replace("\0", "\ufffd")

    def json(self, value: object) -> Any:
        """A JSON copy of the value, unaffected by later changes to the original.

        A value that is not JSON or too large becomes a text that says so, which no tool accepts as arguments.
        """
        if type(value) is dict and not value:
            return {}
        kind = type(value).__name__
        try:
            encoded = _encoded(value)
            decoded = self._redact.within(msgspec.json.decode(encoded))
            if len(encoded) > self._text or b"\\u0000" in encoded:
                decoded = self._bounded(decoded)
                size = len(msgspec.json.encode(decoded))
            else:
                size = len(encoded)
        except Exception:  # including errors in the agent's own objects
            return self.text(f"{kind} that is not JSON", NAME)
        if size > min(self._value, self.room):
            return self.text(f"{kind} of {len(encoded):,} bytes, omitted", NAME)
        self.room -= size
        return decoded

    def _bounded(self, value: Any) -> Any:
        if isinstance(value, str):
            return cut(value, self._text).replace("\0", "\ufffd")
        if isinstance(value, dict):
            return {self._bounded(key): self._bounded(each) for key, each in value.items()}
        return [self._bounded(each) for each in value] if isinstance(value, list) else value


def _encoded(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError):
        return msgspec.json.encode(encodable(value))


def encodable(value: Any) -> Any:
    """The value with encodable texts: no lone surrogates, no subclasses of `str`."""
    if isinstance(value, str):
        return storable(str.__str__(value))
    if isinstance(value, dict):
        return {encodable(key): encodable(each) for key, each in value.items()}
    return [encodable(each) for each in value] if isinstance(value, list | tuple) else value
