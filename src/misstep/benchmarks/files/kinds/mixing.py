"""Tasks of several steps, each on the result of the one before."""

from misstep.benchmarks.files.drawing import Plan, Scene, files_in_words
from misstep.benchmarks.files.executing import Clash, execute, joined, sorts_clearly
from misstep.benchmarks.files.operations import (
    Copy,
    Delete,
    Into,
    Listing,
    MakeFolder,
    Move,
    Operation,
    Prefixed,
    Prune,
    Selection,
    Words,
    Write,
    chosen,
    folders_of,
    name_of,
)


class _Course:
    """The steps chosen so far; the scene shows their result."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.before = dict(scene.tree)
        self.operations = list[Operation]()
        self.clauses = list[str]()

    def take(self, clause: str, *operations: Operation) -> None:
        after, taken = execute(operations, self.scene.tree)
        if not taken:
            raise Clash("a step that changes nothing")
        self.scene.tree = after
        self.operations += operations
        self.clauses.append(clause)

    def plan(self, form: str) -> Plan:
        words = dict(zip("abc", self.clauses, strict=True))
        words |= {letter.upper(): f"{clause[0].upper()}{clause[1:]}" for letter, clause in words.items()}
        return Plan(form, self.before, words, tuple(self.operations))


def gather(scene: Scene) -> Plan:
    """Delete files, move others into one folder, write an index of that folder."""
    course = _Course(scene)
    target = _top(scene)
    out = scene.selection(most=5)
    course.take(f"delete all {files_in_words(out, scene)}", Delete(out))
    what = scene.selection()
    clause = f"move all {files_in_words(what, scene)} to a new folder called '{target}'"
    course.take(clause, Move(what, Into(target)))
    index, inside = joined(target, "index.txt"), Selection(target, deep=False)
    if not sorts_clearly([name_of(path) for path in chosen(inside, scene.tree)]):
        raise Clash("there are two ways to sort them")
    clause = (
        f"write the names of the files that are now in '{target}' to '{index}', in alphabetical order, "
        "one per line with a newline after each, leaving out 'index.txt' itself"
    )
    course.take(clause, Write(index, Listing(inside, "name")))
    return course.plan("three")


def release(scene: Scene) -> Plan:
    """Copy files into one folder, prefix the copies, add a subfolder with a README."""
    course = _Course(scene)
    target, what = _top(scene), scene.selection()
    clause = f"copy all {files_in_words(what, scene)} to a new folder called '{target}'"
    course.take(clause, Copy(what, Into(target)))
    mark = scene.dice.pick(("v2_", "copy_", "2026-"))
    clause = f"put '{mark}' in front of the name of every file in '{target}'"
    course.take(clause, Move(Selection(target, deep=False), Prefixed(mark)))
    below = joined(target, scene.dice.pick(("feedback", "later", "open questions")))
    note = joined(below, "README.txt")
    text = f"Collected for {scene.dice.pick(scene.domain.holders)}.\n"
    clause = (
        f"make a folder '{below}' with a file 'README.txt' in it that holds the single line "
        f"'{text.strip()}', ending with a newline"
    )
    course.take(clause, MakeFolder(below), Write(note, Words(text)))
    return course.plan("three")


def tidy(scene: Scene) -> Plan:
    """Move files out of a folder, delete some more, remove the folders that are then empty."""
    course = _Course(scene)
    folder = scene.dice.pick([path for path in folders_of(scene.tree) if "/" not in path])
    if not scene.has_folders(folder):
        raise Clash("no folders in it")
    below = scene.dice.pick([path for path in folders_of(scene.tree) if path.startswith(f"{folder}/")])
    target = _top(scene)
    inside = Selection(below)
    clause = f"move all files from '{below}'{_depth(below, scene)} to a new folder called '{target}'"
    course.take(clause, Move(inside, Into(target)))
    out = scene.selection(most=5)
    course.take(f"delete all {files_in_words(out, scene)}", Delete(out))
    clause = f"remove every folder inside '{folder}' that has no files left in it or in its subfolders"
    course.take(clause, Prune(folder))
    return course.plan("three")


def _depth(folder: str, scene: Scene) -> str:
    return " and its subfolders" if scene.has_folders(folder) else ""


def _top(scene: Scene) -> str:
    path = scene.new_folder()
    if "/" in path:
        raise Clash("not at the top")
    return path
