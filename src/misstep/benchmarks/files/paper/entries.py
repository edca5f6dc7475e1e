"""Reads lists of environments, which are YAML of the plainest sort."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from misstep.errors import UsageError

_FIELD = re.compile(r"(?P<dash>-\s+)?(?P<key>\w+):\s+(?P<quote>['\"]?)(?P<value>.+?)(?P=quote)\s*$")
_HEAD = "environments:"
_EXPECTED = (
    "expected '- setup_file: …', 'prompt_file: …' or 'ground_truth_directory: …' below 'environments:'"
)
ABSENT = "put it there, or take out what names it: envs*.yml or a prompt of its field"
MOST_READ = 1 << 22  # bytes


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task, by paths that are relative to the benchmark's folder."""

    setup_file: str
    prompt_file: str
    ground_truth_directory: str


def read_entries(path: Path) -> list[Entry]:
    text = read_text(path)
    entries = []
    for line, fields in _mappings(text, path):
        try:
            entries.append(msgspec.convert(fields, Entry))
        except msgspec.ValidationError as error:
            raise UsageError(f"not an environment: {error}", _EXPECTED, where=f"{path}:{line}") from error
    return entries


def read_text(path: Path) -> str:
    """A text file of reasonable size."""
    try:
        if not path.is_file():
            raise UsageError("no such file", ABSENT, where=str(path))
        if path.stat().st_size > MOST_READ:
            hint = "expected a short text: is it the file that is meant?"
            raise UsageError(f"the file has more than {MOST_READ:,} bytes", hint, where=str(path))
        return path.read_text(encoding="utf-8")
    except OSError as error:
        hint = "see that you may read it, and that it is no loop of links"
        raise UsageError(f"can't be read: {error.strerror}", hint, where=str(path)) from error
    except UnicodeDecodeError as error:
        hint = f"save it as UTF-8, without the byte 0x{error.object[error.start]:02x} at place {error.start}"
        raise UsageError("is not UTF-8", hint, where=str(path)) from error


def _mappings(text: str, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each with the number of its first line."""
    found: list[tuple[int, dict[str, str]]] = []
    for number, plain in _lines(text):
        field = _FIELD.match(plain)
        if field is None or not (found or field["dash"]):
            raise UsageError(f"can't read '{plain[:80]}'", _EXPECTED, where=f"{path}:{number}")
        if field["dash"]:
            found.append((number, {}))
        if field["key"] in found[-1][1]:
            hint = "take one of them out, or begin another environment with '- '"
            raise UsageError(f"'{field['key']}' is there twice", hint, where=f"{path}:{number}")
        found[-1][1][field["key"]] = field["value"]
    yield from found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """What is said, with numbers; a long value may stand on a line below its key."""
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        plain = f"{key} {line.strip()}".strip()
        if not plain or plain.startswith("#") or plain in (_HEAD, "---"):
            continue
        key = plain if plain.endswith(":") else ""
        if not key:
            yield number, plain
    if key:
        yield number, key
