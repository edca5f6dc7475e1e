"""The reference semantics of operations: what they do to a tree and what they write, step by step."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from misstep.benchmarks.files.operations import (
    Beneath,
    ByDate,
    ByType,
    Copy,
    Delete,
    Ending,
    Exactly,
    Into,
    Listing,
    Lowered,
    MakeFolder,
    Move,
    Operation,
    Prefixed,
    Prune,
    Remove,
    Replaced,
    Selection,
    Target,
    Text,
    Totals,
    Types,
    Unroll,
    Words,
    Write,
    chosen,
    files_of,
    folders_of,
    name_of,
)
from misstep.benchmarks.tree import Content, File, Folder, Tree, complete, parents
from misstep.core.results.benchmark import TaskStep


def written(text: Text, tree: Tree) -> str:
    match text:
        case Words(words):
            return words
        case Listing():
            return _listing(text, tree)
        case Totals(what):
            sizes = _sizes(what, tree)
            return f"{len(sizes)} files, {sum(sizes.values())} bytes\n"
        case Types(what):
            counts = Counter(name_of(path).rpartition(".")[2] for path in chosen(what, tree))
            return "".join(f"{ending} {counts[ending]}\n" for ending in sorted(counts))


def _listing(listing: Listing, tree: Tree) -> str:
    sizes = _sizes(listing.what, tree)
    if listing.form == "path":
        return "".join(f"{path}\n" for path in sorted(sizes))
    named = [(name_of(path), sizes[path]) for path in sorted(sizes, key=name_of)]
    if listing.total:
        named.append(("TOTAL", sum(sizes.values())))
    return "".join(f"{name}\n" if listing.form == "name" else f"{name} {size}\n" for name, size in named)


def _sizes(what: Selection, tree: Tree) -> dict[str, int]:
    files = files_of(tree)
    return {path: len(files[path]) for path in chosen(what, tree)}


def sorts_clearly(texts: list[str]) -> bool:
    """Whether all usual ways of sorting agree: by bytes, ignoring case, by letters alone."""
    plain = ["".join(letter for letter in text if letter.isalnum()).casefold() for text in texts]
    orders = (sorted(texts), sorted(texts, key=str.casefold), [texts[n] for n in _order(plain)])
    ascii_only = all(text.isascii() for text in texts)
    return ascii_only and len({*plain}) == len(plain) and all(order == orders[0] for order in orders)


def _order(keys: list[str]) -> list[int]:
    return sorted(range(len(keys)), key=keys.__getitem__)


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
        case Move(what, to):
            yield from _transfers("move", what, to, tree)
        case Copy(what, to):
            yield from _transfers("copy", what, to, tree)
        case Delete(what):
            yield from (TaskStep("delete", {"path": path}) for path in chosen(what, tree))
        case Remove(folder):
            yield TaskStep("delete", {"path": folder})
        case Prune(folder):
            yield from (TaskStep("delete", {"path": path}) for path in _empty(folder, tree))
        case MakeFolder(path):
            yield TaskStep("make_folder", {"path": path})
        case Write(path, text):
            yield TaskStep("write_file", {"path": path, "text": written(text, tree)})
        case Unroll():
            yield from _unrolled(operation, tree)


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


def _transfers(tool: str, what: Selection, to: Target, tree: Tree) -> Iterator[TaskStep]:
    files = files_of(tree)
    for source in chosen(what, tree):
        destination = _destination(source, files[source].decode(), what, to)
        if destination != source:
            yield TaskStep(tool, {"source": source, "destination": destination})


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
            return joined(folder, _dated(layout, *found.groups()), name) if found else source
        case _:
            return joined(above, _renamed(name, to))


def _dated(layout: str, year: str, month: str) -> str:
    return {"2024": year, "2024-05": f"{year}-{month}", "2024/05": f"{year}/{month}"}[layout]


def _renamed(name: str, to: Replaced | Prefixed | Ending | Lowered) -> str:
    match to:
        case Replaced(old, new):
            return name.replace(old, new)
        case Prefixed(text):
            return text + name
        case Ending(old, new):
            return name.removesuffix(old) + new if name.endswith(old) else name
        case Lowered():
            return name.lower()


def _empty(folder: str, tree: Tree) -> list[str]:
    """The topmost folders that contain no file."""
    holding = {parent for path in files_of(tree) for parent in parents(path)}
    empty = [path for path in folders_of(tree) if path not in holding and path.startswith(f"{folder}/")]
    return [path for path in empty if not {*parents(path)} & {*empty}]


def _unrolled(operation: Unroll, tree: Tree) -> Iterator[TaskStep]:
    for line in files_of(tree)[operation.listing].decode().splitlines():
        path = joined(operation.folder, line + operation.ending)
        if operation.make == "folders":
            yield TaskStep("make_folder", {"path": path})
        else:
            yield TaskStep("write_file", {"path": path, "text": operation.text.replace("{}", line)})


def joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)
