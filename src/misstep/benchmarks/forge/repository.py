"""The forge's git repository: creating it reproducibly, checking an existing one, reading and writing."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from misstep.benchmarks.forge.git import (
    FOLDER,
    HEADS,
    LINK,
    PROGRAM,
    Commit,
    Git,
    GitTrouble,
    Signature,
    TreeEntry,
    is_branch,
    is_ref,
)
from misstep.benchmarks.forge.state import Branch, Project
from misstep.benchmarks.tree import Content, File, Link, Other

SHOWN = 3  # problems of one kind
# Files that git leaves behind during an unfinished operation.
UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}
HINT = "give a folder that is empty or not there yet: the forge makes its own repository"


def require_sound(folder: Path, default: str) -> None:
    """Raise `GitTrouble` unless it is a complete bare repository on that branch with nothing unfinished."""
    for problem in _problems(folder, default):
        raise GitTrouble(problem, HINT, where=str(folder))


def _problems(folder: Path, default: str) -> Iterator[str]:
    if (own := folder / ".git").exists():
        yield from _unfinished(own)
        changed = _lines(Git(own).attempt(f"--work-tree={folder}", "status", "--porcelain").stdout)
        if changed:
            names = ", ".join(line[3:] for line in changed[:SHOWN])
            yield f"the repository has a work tree with changes: {names}"
        yield "the repository has a work tree, a forge serves bare repositories only"
    if not (folder / "HEAD").is_file() or not (folder / "objects").is_dir():
        yield "there is something in this folder, but no git repository"
    yield from _unfinished(folder)
    locks = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.lock"))
    if locks:
        yield f"a lock was left in the repository: {', '.join(locks[:SHOWN])}"
    head = (folder / "HEAD").read_text("utf-8", "replace").strip()
    if not head.startswith("ref: "):
        yield f"HEAD is detached, at {head[:40]!r}"
    if head != f"ref: refs/heads/{default}":
        yield f"HEAD is at {head.removeprefix('ref: ')[:100]!r}, not at the branch {default}"
    checked = Git(folder).attempt("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    if checked.returncode != 0:
        yield f"the repository is broken: {'; '.join(_lines(checked.stdout + checked.stderr)[:SHOWN])}"


def _unfinished(folder: Path) -> Iterator[str]:
    for name, what in UNFINISHED.items():
        if (folder / name).exists():
            yield f"{what} is half done in the repository: {name}"


def _lines(said: bytes) -> list[str]:
    return said.decode("utf-8", "replace").splitlines()


NOTHING = "0" * 40


class RefRefused(Exception):
    """Git refused to move a ref; the message is for the client."""


class Repository(Git):
    """A bare repository. Nothing in it is ever checked out."""

    most = 20_000  # files and folders below one tree

    def refs(self) -> dict[str, str]:
        """The objects that refs point to, by full name; a pushed name may contain any bytes."""
        said = self.run("for-each-ref", "--format=%(objectname) %(refname)")
        lines = said.decode("utf-8", "surrogateescape").split("\n")[:-1]
        return {name: sha for sha, _, name in (line.partition(" ") for line in lines)}

    def branches(self) -> dict[str, str]:
        return {name.removeprefix(HEADS): sha for name, sha in self.refs().items() if name.startswith(HEADS)}

    def ref(self, name: str) -> str | None:
        found = self.find(name) if is_ref(name) else None
        return found.sha if found else None

    def tip(self, branch: str) -> str | None:
        return self.ref(HEADS + branch) if is_branch(branch) else None

    def commit_at(self, name: str) -> Commit | None:
        """A commit by branch, tag, or sha, which may be abbreviated; HEAD is the default branch."""
        sha = self.tip(name) or self.ref(name) or self.ref(f"refs/tags/{name}")
        is_sha = 4 <= len(name) <= 40 and all(letter in "0123456789abcdef" for letter in name)
        if sha is None and (is_sha or name == "HEAD"):
            sha = name
        found = self.find(f"{sha}^{{commit}}") if sha else None
        return self.read_commit(found.sha) if found else None

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        entry = TreeEntry(FOLDER, tree)
        for part in path.split("/"):
            if entry.mode != FOLDER or (step := self.read_folder(entry.sha).get(part)) is None:
                return None
            entry = step
        return entry

    def walk(self, tree: str) -> Iterator[tuple[str, TreeEntry]]:
        """Everything below a tree, folders first; it stops after `most` entries, as trees can be huge."""
        ahead = [*reversed(self.read_folder(tree).items())]
        for _ in range(self.most + 1):
            if not ahead:
                return
            path, entry = ahead.pop()
            yield path, entry
            if entry.mode == FOLDER:
                inside = self.read_folder(entry.sha).items()
                ahead += [(f"{path}/{name}", each) for name, each in reversed(inside)]

    def branch(self, tip: str, known: dict[str, Content]) -> Branch:
        """The branch with this commit at its tip; `known` caches what has been read."""
        entries = list(self.walk(self.read_commit(tip).tree))
        executable = frozenset(path for path, entry in entries if entry.mode == PROGRAM)
        if len(entries) > self.most:
            return Branch({"…": Other(f"more than {self.most:,} files and folders")}, tip, executable)
        files = dict[str, Content]()
        for path, entry in entries:
            if entry.mode != FOLDER:
                key = entry.mode + entry.sha
                files[path] = known[key] = known.get(key) or self._content(entry)
        return Branch(files, tip, executable)

    def _content(self, entry: TreeEntry) -> Content:
        if entry.kind == "commit":
            return Other("a commit of another repository")
        data = self.read(entry.sha).data
        return Link(data.decode("utf-8", "surrogateescape")) if entry.mode == LINK else File(data)

    def history(self, *revisions: str, path: str = "") -> list[str]:
        """The commits that lead there, newest first."""
        return self.run("rev-list", *revisions, "--", *([path] if path else [])).decode().split()

    def parents(self) -> dict[str, tuple[str, ...]]:
        lines = self.run("rev-list", "--all", "--parents").decode().splitlines()
        return {sha: tuple(before) for sha, *before in (line.split() for line in lines)}

    def fork_point(self, one: str, other: str) -> str | None:
        done = self.attempt("merge-base", one, other)
        return done.stdout.decode().strip() or None

    def patch(self, old: str, new: str) -> str:
        options = ("--no-color", "--no-ext-diff", "--no-renames", "--no-textconv")
        said = self.run("-c", "core.quotePath=false", "diff", *options, old, new)
        return said.decode("utf-8", "replace")

    def write_blob(self, data: bytes) -> str:
        return self.run("hash-object", "-w", "--stdin", stdin=data).decode().strip()

    def write_tree(self, tree: str | None, changes: Mapping[str, TreeEntry | None]) -> str:
        """The tree with entries set or removed at paths; folders that end up empty are removed."""
        entries = self.read_folder(tree) if tree else {}
        below = dict[str, dict[str, TreeEntry | None]]()
        for path, entry in changes.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = entry
            elif entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        for name, inner in below.items():
            had = entries.pop(name, None)
            sha = self.write_tree(had.sha if had and had.mode == FOLDER else None, inner)
            if self.read_folder(sha):
                entries[name] = TreeEntry(FOLDER, sha)
        lines = (f"{each.mode.zfill(6)} {each.kind} {each.sha}\t{name}\0" for name, each in entries.items())
        data = "".join(lines).encode("utf-8", "surrogateescape")
        return self.run("mktree", "-z", stdin=data).decode().strip()

    def write_commit(
        self, tree: str, parents: Iterable[str], message: str, author: Signature, committer: Signature
    ) -> str:
        arguments = [part for parent in parents for part in ("-p", parent)]
        who = dict[str, str]()
        for role, each in (("AUTHOR", author), ("COMMITTER", committer)):
            who |= {f"GIT_{role}_NAME": each.name, f"GIT_{role}_EMAIL": each.email}
            who[f"GIT_{role}_DATE"] = f"{each.when} +0000"
        stdin = message.encode("utf-8", "replace")
        made = self.run("commit-tree", tree, *arguments, "-F", "-", stdin=stdin, extra=who)
        return made.decode().strip()

    def move(self, ref: str, new: str | None, old: str | None) -> None:
        """Move a ref, if it still has its old value; None stands for no ref."""
        change = ("-d", ref, old or NOTHING) if new is None else (ref, new, old or NOTHING)
        done = self.attempt("update-ref", *change)
        if done.returncode == 0:
            return
        if b".lock'" in done.stderr and b"File exists" in done.stderr:
            raise self.trouble(done.stderr)
        raise RefRefused(done.stderr.decode("utf-8", "replace").strip())

    def restore(self, refs: Mapping[str, str]) -> None:
        """Restore all refs; newer ones are deleted."""
        now = self.refs()
        gone = [f"delete {name}\n" for name in now if name not in refs]
        back = [f"update {name} {sha}\n" for name, sha in refs.items() if now.get(name) != sha]
        for commands in (gone, back):  # in this order: a/b can't be created while there is an a
            if commands:
                stdin = "".join(commands).encode("utf-8", "surrogateescape")
                self.run("update-ref", "--stdin", stdin=stdin)


BETWEEN = 3600  # seconds from one commit to the next


def seed(folder: Path, project: Project) -> None:
    """Write the project's commits into an empty folder, with fixed dates."""
    git = Git(folder)
    options = ("--quiet", "--bare", "--template=", f"--initial-branch={project.default}")
    done = git.attempt("init", *options)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitTrouble(f"git can't make a repository: {said}", where=str(folder))
    git.run("fast-import", "--quiet", "--date-format=raw", stdin=b"".join(_stream(project)))


def _stream(project: Project) -> Iterator[bytes]:
    marks = dict[str, int]()
    for number, change in enumerate(project.commits, 1):
        person = project.person(change.author)
        assert person is not None, change.author
        when = int(project.start.timestamp()) + number * BETWEEN
        yield f"commit {HEADS}{change.branch}\nmark :{number}\n".encode()
        for role in ("author", "committer"):
            yield f"{role} {person.name} <{person.email}> {when} +0000\n".encode()
        yield _data(change.message)
        if before := marks.get(change.branch) or marks.get(change.start):
            yield f"from :{before}\n".encode()
        for path, text in change.files.items():
            yield f"M 100644 inline {path}\n".encode() + _data(text)
        yield b"\n"
        marks[change.branch] = number
    yield b"done\n"


def _data(text: str) -> bytes:
    data = text.encode()
    return b"data %d\n%s\n" % (len(data), data)
