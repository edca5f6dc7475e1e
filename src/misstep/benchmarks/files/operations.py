"""Operations that requests ask for, the files they apply to, and the reference for what they do to a tree."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from misstep.benchmarks.tree import Content, File, Folder, Tree, complete, parents
from misstep.core.results.benchmark import TaskStep


class Selection(msgspec.Struct, frozen=True, omit_defaults=True):
    """Files in a folder that meet all given conditions."""

    folder: str = ""  # empty for the task's own folder
    deep: bool = True  # includes subfolders
    suffix: str = ""  # of the name, like `prefix`
    prefix: str = ""
    word: str = ""  # in the name
    line: str = ""  # one of the lines
    larger: int | None = None  # than this many bytes

    def covers(self, path: str) -> bool:
        if not self.deep:
            return path.rpartition("/")[0] == self.folder
        return not self.folder or path.startswith(f"{self.folder}/")

    def chooses(self, path: str, data: bytes) -> bool:
        name = path.rpartition("/")[2]
        return (
            self.covers(path)
            and name.endswith(self.suffix)
            and name.startswith(self.prefix)
            and self.word in name
            and (not self.line or self.line in data.decode().split("\n"))
            and (self.larger is None or len(data) > self.larger)
        )


def chosen(what: Selection, tree: Tree) -> list[str]:
    return sorted(path for path, data in files_of(tree).items() if what.chooses(path, data))


def covered(what: Selection, tree: Tree) -> list[str]:
    return sorted(path for path in files_of(tree) if what.covers(path))


def files_of(tree: Tree) -> dict[str, bytes]:
    return {path: content.data for path, content in tree.items() if isinstance(content, File)}


def folders_of(tree: Tree) -> list[str]:
    return sorted(path for path, content in tree.items() if isinstance(content, Folder))


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def is_clear(what: Selection, tree: Tree) -> bool:
    """Whether the rule is unambiguous, whether or not case matters and parts of words count."""
    strict = chosen(what, tree)
    for path in chosen(msgspec.structs.replace(what, suffix="", prefix="", word=""), tree):
        name = name_of(path).lower()
        fits = name.endswith(what.suffix.lower()) and name.startswith(what.prefix.lower())
        if (fits and what.word.lower() in name) != (path in strict):
            return False
    # The word has to stand alone in each name; adjacent digits and underscores are fine.
    alone = re.compile(rf"(?<![^\W\d_]){re.escape(what.word)}(?![^\W\d_])")
    return not what.word or all(alone.search(name_of(path)) for path in strict)


class Into(msgspec.Struct, frozen=True, tag=True):
    """All into one folder, with their names unchanged."""

    folder: str


class Beneath(msgspec.Struct, frozen=True, tag=True):
    """Into a folder, keeping their subfolders relative to the folder that was searched."""

    folder: str


class Exactly(msgspec.Struct, frozen=True, tag=True):
    """A single file to a given path."""

    path: str


class ByType(msgspec.Struct, frozen=True, tag=True):
    """Into folders inside `folder` that are named after the extensions, without the dot."""

    folder: str


Layout = Literal["2024", "2024-05", "2024/05"]


class ByDate(msgspec.Struct, frozen=True, tag=True):
    """Into folders by date inside `folder`; the date begins the name, or is in the line `Date: …`."""

    folder: str
    layout: Layout
    source: Literal["name", "line"] = "name"


class Replaced(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with every `old` in the name replaced by `new`."""

    old: str
    new: str


class Prefixed(msgspec.Struct, frozen=True, tag=True):
    text: str


class Ending(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with `old` at the end of the name replaced by `new`."""

    old: str
    new: str


class Lowered(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with the name in lower case."""


Target: TypeAlias = Into | Beneath | Exactly | ByType | ByDate | Replaced | Prefixed | Ending | Lowered


class Words(msgspec.Struct, frozen=True, tag=True):
    """Text given in the request."""

    text: str


class Listing(msgspec.Struct, frozen=True, tag=True):
    """A line for each file, sorted: its name, its path, or its name and its size in bytes."""

    what: Selection
    form: Literal["name", "path", "name size"]
    total: bool = False  # with a last line `TOTAL` and the total size in bytes


class Totals(msgspec.Struct, frozen=True, tag=True):
    """One line: `12 files, 3456 bytes`."""

    what: Selection


class Types(msgspec.Struct, frozen=True, tag=True):
    """A line for each extension, sorted: the extension without the dot, and how many files have it."""

    what: Selection


Text: TypeAlias = Words | Listing | Totals | Types


class Move(msgspec.Struct, frozen=True, tag=True):
    what: Selection
    to: Target


class Copy(msgspec.Struct, frozen=True, tag=True):
    what: Selection
    to: Target


class Delete(msgspec.Struct, frozen=True, tag=True):
    what: Selection


class Remove(msgspec.Struct, frozen=True, tag=True):
    """A folder with everything in it."""

    folder: str


class Prune(msgspec.Struct, frozen=True, tag=True):
    """Folders below `folder` that are empty or contain only empty folders."""

    folder: str


class MakeFolder(msgspec.Struct, frozen=True, tag=True):
    path: str


class Write(msgspec.Struct, frozen=True, tag=True):
    path: str
    text: Text


class Unroll(msgspec.Struct, frozen=True, tag=True):
    """For each line of the file `listing`, create a folder inside `folder`, or a file."""

    listing: str
    folder: str
    make: Literal["folders", "files"]
    ending: str = ""  # what follows the line in the name of a file
    text: str = ""  # the content of a file, with `{}` for the line


Operation: TypeAlias = Move | Copy | Delete | Remove | Prune | MakeFolder | Write | Unroll


def sorts_clearly(texts: list[str]) -> bool:
    """Whether all usual ways of sorting agree: by bytes, ignoring case, by letters alone."""
    letters = {text: "".join(filter(str.isalnum, text)).casefold() for text in texts}
    first, *others = (sorted(texts, key=key) for key in (str, str.casefold, letters.__getitem__))
    is_unique = len({*letters.values()}) == len(texts)
    return is_unique and all(text.isascii() for text in texts) and all(order == first for order in others)


_DATE = re.compile(r"(\d{4})-(\d{2})-\d{2}")
_DATE_LINE = re.compile(r"^Date: (\d{4})-(\d{2})-\d{2}$", re.MULTILINE)


class Clash(Exception):
    """Operations without a single right result, such as two files for one path."""


def execute(operations: Iterable[Operation], tree: Tree) -> tuple[dict[str, Content], tuple[TaskStep, ...]]:
    """The resulting tree, and tool calls that produce it. Raises `Clash` if operations conflict."""
    taken = list[TaskStep]()
    now = complete(tree)
    for operation in operations:
        for step in list(steps(operation, now)):
            now = carry_out(step, now)
            taken.append(step)
    return complete(now), tuple(taken)


def steps(operation: Operation, tree: Tree) -> Iterator[TaskStep]:
    match operation:
        case Move(what, to) | Copy(what, to):
            files = files_of(tree)
            for source in chosen(what, tree):
                destination = _destination(source, files[source].decode(), what, to)
                if destination != source:
                    tool = "move" if isinstance(operation, Move) else "copy"
                    yield TaskStep(tool, {"source": source, "destination": destination})
        case Delete(what):
            yield from (TaskStep("delete", {"path": path}) for path in chosen(what, tree))
        case Remove(folder):
            yield TaskStep("delete", {"path": folder})
        case Prune(folder):
            holding = {parent for path in files_of(tree) for parent in parents(path)}
            empty = [path for path in folders_of(tree) if path not in holding]
            empty = [path for path in empty if path.startswith(f"{folder}/")]
            topmost = [path for path in empty if not {*parents(path)} & {*empty}]
            yield from (TaskStep("delete", {"path": path}) for path in topmost)
        case MakeFolder(path):
            yield TaskStep("make_folder", {"path": path})
        case Write(path, text):
            yield TaskStep("write_file", {"path": path, "text": _written(text, tree)})
        case Unroll(listing, folder, make, ending, text):
            for line in files_of(tree)[listing].decode().splitlines():
                path = joined(folder, line + ending)
                if make == "folders":
                    yield TaskStep("make_folder", {"path": path})
                else:
                    yield TaskStep("write_file", {"path": path, "text": text.replace("{}", line)})


def _destination(source: str, text: str, what: Selection, to: Target) -> str:
    above, name = source.rpartition("/")[0], name_of(source)
    match to:
        case Into(folder):
            return joined(folder, name)
        case Beneath(folder):
            return joined(folder, source[len(what.folder) :].strip("/"))
        case Exactly(path):
            return path
        case ByType(folder):
            return joined(folder, name.rpartition(".")[2], name)
        case ByDate(folder, layout, source_of_date):
            found = _DATE.match(name) if source_of_date == "name" else _DATE_LINE.search(text)
            return joined(folder, dated(layout, *found.groups()), name) if found else source
        case Replaced(old, new):
            return joined(above, name.replace(old, new))
        case Prefixed(text):
            return joined(above, text + name)
        case Ending(old, new):
            return joined(above, name.removesuffix(old) + new) if name.endswith(old) else source
        case Lowered():
            return joined(above, name.lower())


def dated(layout: Layout, year: str, month: str) -> str:
    return {"2024": year, "2024-05": f"{year}-{month}", "2024/05": f"{year}/{month}"}[layout]


def _written(text: Text, tree: Tree) -> str:
    if isinstance(text, Words):
        return text.text
    files = files_of(tree)
    sizes = {path: len(files[path]) for path in chosen(text.what, tree)}
    match text:
        case Listing(form="path"):
            return "".join(f"{path}\n" for path in sorted(sizes))
        case Listing(_, form, total):
            named = [(name_of(path), sizes[path]) for path in sorted(sizes, key=name_of)]
            named += [("TOTAL", sum(sizes.values()))] if total else []
            return "".join(f"{name}\n" if form == "name" else f"{name} {size}\n" for name, size in named)
        case Totals():
            return f"{len(sizes)} files, {sum(sizes.values())} bytes\n"
        case Types():
            counts = Counter(name_of(path).rpartition(".")[2] for path in sizes)
            return "".join(f"{ending} {counts[ending]}\n" for ending in sorted(counts))


def carry_out(step: TaskStep, tree: Tree) -> dict[str, Content]:
    """Apply one call to a tree. Missing parent folders are created."""
    given = step.arguments
    match step.tool:
        case "move":
            moved = _placed(tree[given["source"]], given["destination"], tree)
            return {path: content for path, content in moved.items() if path != given["source"]}
        case "copy":
            return _placed(tree[given["source"]], given["destination"], tree)
        case "delete":
            gone = given["path"]
            return {path: each for path, each in tree.items() if not f"{path}/".startswith(f"{gone}/")}
        case "make_folder":
            return _placed(Folder(), given["path"], tree)
        case "write_file":
            return _placed(File(given["text"].encode()), given["path"], tree)
        case _:
            return dict(tree)


def _placed(content: Content, path: str, tree: Tree) -> dict[str, Content]:
    if path in tree:
        raise Clash(f"{path} is there already")
    if any([not isinstance(tree.get(parent, Folder()), Folder) for parent in parents(path)]):
        raise Clash(f"{path} leads through a file")
    return {**tree, **{parent: Folder() for parent in parents(path)}, path: content}
