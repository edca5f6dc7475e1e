"""What lies between two commits, file by file."""

import msgspec

from misstep.benchmarks.forge.repository.objects import FOLDER, Entry
from misstep.benchmarks.forge.repository.repository import Repository
from misstep.benchmarks.forge.rest.code.gitviews import shown


class FileChange(msgspec.Struct, frozen=True):
    """`sha` is the content afterwards, or before where it is gone. A renamed file is gone and new."""

    path: str
    status: str
    sha: str
    patch: str

    @property
    def additions(self) -> int:
        return self._lines("+")

    @property
    def deletions(self) -> int:
        return self._lines("-")

    def _lines(self, sign: str) -> int:
        return sum(line.startswith(sign) for line in self.patch.split("\n"))


def changes(repository: Repository, old: str, new: str) -> list[FileChange]:
    """Sorted by path."""
    before, after = (_files(repository, commit) for commit in (old, new))
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    patches = _patches(repository.patch(old, new)) if paths else []
    if len(patches) != len(paths):  # a file that has become a link has two
        patches = [""] * len(paths)
    return [
        FileChange(shown(path), _status(path, before, after), (after.get(path) or before[path]).sha, patch)
        for path, patch in zip(paths, patches, strict=True)
    ]


def _files(repository: Repository, commit: str) -> dict[str, Entry]:
    tree = repository.objects.commit(commit).tree
    return {path: entry for path, entry in repository.walk(tree) if entry.mode != FOLDER}


def _status(path: str, before: dict[str, Entry], after: dict[str, Entry]) -> str:
    if path not in before:
        return "added"
    return "modified" if path in after else "removed"


def _patches(text: str) -> list[str]:
    """The part from the first @@ on, for each file in the order of git, which is that of paths."""
    parts = ("\n" + text).split("\ndiff --git ")[1:]
    return ["@@" + part.split("\n@@", 1)[1].rstrip("\n") if "\n@@" in part else "" for part in parts]
