"""Finds the files that the calls of a finding need, and writes code that makes them."""

import os
import re
import sqlite3
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from misstep.core.results.finding import Finding
from misstep.core.tool import Described
from misstep.fuzzing.contracts.security import OUTSIDE, SECRET
from misstep.runs.setup.workspace import make_workspace

WORK = "/tmp/misstep/work"  # where tools in the sandbox start
LARGEST = 4_000  # bytes of a file that is written down
MOST = 12  # files
SQLITE = b"SQLite format 3\0"
REPOSITORY = "/.git/"


class NeededFiles(msgspec.Struct, frozen=True):
    """Files by their paths relative to `WORK`, repositories among their folders, and files left out."""

    files: dict[str, bytes] = {}
    repositories: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.files and not self.repositories


def files_needed(
    finding: Finding, command: Sequence[str], tools: Sequence[Described], workspace: str
) -> NeededFiles:
    """Those of the workspace, made by us or the user's, that the calls or the server's command name."""
    words = [*command, *(call.arguments for call in finding.calls)]
    outside = {f"../{name}": f"{SECRET}\n".encode() for name in OUTSIDE}
    found = {name: text for name, text in outside.items() if _is_named(name.removeprefix("../"), words)}
    with TemporaryDirectory(prefix="misstep-") as made:
        if not workspace:
            make_workspace(tools, Path(made))
        folder = workspace or made
        named = [name for name in _names_in(folder) if _is_named(name, words)]
        own = [name for name in named if REPOSITORY not in name]
        if workspace:
            return NeededFiles(found, (), tuple(own[:MOST]))  # they may be private
        texts = {name: _dumped(Path(folder, name)) for name in own[:MOST]}
    kept = {name: data for name, data in texts.items() if len(data) <= LARGEST}
    repositories = {name.partition(REPOSITORY)[0] for name in named if REPOSITORY in name}
    left = tuple(name for name in own if name not in kept)
    return NeededFiles(found | kept, tuple(sorted(repositories)), left)


def _names_in(folder: str) -> Iterator[str]:
    for place, _, files in os.walk(folder):
        yield from sorted(os.path.relpath(os.path.join(place, file), folder) for file in files)


def _is_named(name: str, words: Sequence[str]) -> bool:
    """Whether a file, or the top folder that it is in, occurs in one of the texts."""
    top, _, inner = name.partition("/")
    pattern = rf"(?<![\w.]){re.escape(top if inner else name)}(?![\w.]*\w)"
    return any(re.search(pattern, word) or os.path.basename(name) in word for word in words)


def _dumped(path: Path) -> bytes:
    """The content of a file; the statements that make it for a database."""
    data = path.read_bytes()
    if not data.startswith(SQLITE):
        return data
    with closing(sqlite3.connect(path)) as connection:
        return SQLITE + "\n".join(connection.iterdump()).encode()


def code_for(needed: NeededFiles) -> list[str]:
    """Statements that make the files in the folder `WORK`."""
    folders = {os.path.dirname(name) for name in needed.files} - {""}
    lines = [f'(WORK / "{folder}").mkdir(parents=True, exist_ok=True)' for folder in sorted(folders)]
    for name, data in needed.files.items():
        lines += _lines_for(name, data)
    for folder in needed.repositories:
        git = "git init -q && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm First"
        lines.append(f'subprocess.run("{git}", shell=True, cwd=WORK / "{folder}", check=True)')
    return lines


def _lines_for(name: str, data: bytes) -> list[str]:
    if data.startswith(SQLITE):
        database = f'sqlite3.connect(WORK / "{name}")'
        return [f"{database}.executescript({_text_code(data.removeprefix(SQLITE).decode())})"]
    try:
        return [f'(WORK / "{name}").write_text({_text_code(data.decode())})']
    except UnicodeDecodeError:
        return [f'(WORK / "{name}").write_bytes(base64.b64decode({b64encode(data).decode()!a}))']


def _text_code(text: str) -> str:
    """A text as Python code, with its line breaks if it is plain enough."""
    is_plain = text.isascii() and all(each.isprintable() or each == "\n" for each in text)
    quotable = is_plain and "\n" in text and "\\" not in text and '"""' not in text and text[-1] != '"'
    return f'"""{text}"""' if quotable else ascii(text)
