"""Makes the repository anew, the same to the last bit every time."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from misstep.benchmarks.forge.project import Change, Project
from misstep.benchmarks.forge.repository.names import HEADS
from misstep.benchmarks.forge.repository.program import Git, GitTrouble, environment, find_git

BETWEEN = 3600  # seconds from one commit to the next


def seed(folder: Path, project: Project) -> None:
    """Write the project's commits into an empty folder, with dates that don't depend on today."""
    _init(folder, project.default)
    stream = b"".join(_stream(project))
    Git(folder).run("fast-import", "--quiet", "--date-format=raw", stdin=stream)


def _init(folder: Path, default: str) -> None:
    command = [
        find_git(),
        "init",
        "--quiet",
        "--bare",
        "--template=",
        f"--initial-branch={default}",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, env=environment(), check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitTrouble(f"git can't make a repository: {said}", where=str(folder))


def _stream(project: Project) -> Iterator[bytes]:
    marks = dict[str, int]()
    for number, change in enumerate(project.commits, 1):
        before = marks.get(change.branch) or marks.get(change.start)
        yield from _commit(project, change, number, before)
        marks[change.branch] = number
    yield b"done\n"


def _commit(project: Project, change: Change, number: int, before: int | None) -> Iterator[bytes]:
    person = project.person(change.author)
    assert person is not None, change.author
    when = int(project.start.timestamp()) + number * BETWEEN
    yield f"commit {HEADS}{change.branch}\nmark :{number}\n".encode()
    for role in ("author", "committer"):
        yield f"{role} {person.name} <{person.email}> {when} +0000\n".encode()
    yield _data(change.message)
    if before:
        yield f"from :{before}\n".encode()
    for path, text in change.files.items():
        yield f"M 100644 inline {path}\n".encode() + _data(text)
    yield b"\n"


def _data(text: str) -> bytes:
    data = text.encode()
    return b"data %d\n%s\n" % (len(data), data)
