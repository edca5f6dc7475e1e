"""Tasks that create folders and files, tasks that write reports, and tasks of several steps."""

from misstep.benchmarks.files import operations as ops
from misstep.benchmarks.files.scene import Plan, Scene, joined_in_words, load_shared

_LISTS = ("names.txt", "people.txt", "list.txt", "to do.txt")
_HEADS = ("Contact: ", "Notes on ", "File for ")
_SIZES = ("sizes.txt", "size report.txt", "file sizes.txt")
_TOTALS = ("summary.txt", "overview.txt", "report.txt")
_PATHS = ("index.txt", "list of files.txt", "paths.txt")
_TYPES = ("types.txt", "file types.txt", "overview.txt")


def folders(scene: Scene) -> Plan:
    listing, folder = _listing(scene), scene.folder()
    words = {"listing": f"'{listing}'", "folder": f"'{folder}'"}
    return scene.plan("folders", words, ops.Unroll(listing, folder, "folders"))


def files(scene: Scene) -> Plan:
    listing, folder = _listing(scene), scene.new_folder()
    head, ending = scene.dice.pick(_HEADS), scene.dice.pick((".txt", ".md"))
    words = {"listing": f"'{listing}'", "folder": f"'{folder}'", "ending": f"'{ending}'", "head": f"'{head}'"}
    return scene.plan("files", words, ops.Unroll(listing, folder, "files", ending, head + "{}\n"))


def skeleton(scene: Scene) -> Plan:
    folder, names = scene.new_folder(), scene.dice.sample(scene.domain.subjects, 3)
    file = scene.dice.pick(("README.md", "notes.txt", ".gitkeep", "to do.txt"))
    operations: list[ops.Operation] = []
    for name in names:
        operations += [
            ops.MakeFolder(ops.joined(folder, name)),
            ops.Write(ops.joined(folder, name, file), ops.Words("")),
        ]
    words = {"folder": f"'{folder}'", "names": joined_in_words(names), "file": f"'{file}'"}
    return scene.plan("skeleton", words, *operations)


def sizes(scene: Scene) -> Plan:
    what = scene.selection(means=("suffix", "word", "prefix", "line"))
    _require_order([ops.name_of(path) for path in ops.chosen(what, scene.tree)])
    text = ops.Listing(what, "name size", total=scene.dice.chance(0.5))
    return _report(scene, "sizes_total" if text.total else "sizes", _SIZES, text)


def totals(scene: Scene) -> Plan:
    return _report(scene, "totals", _TOTALS, ops.Totals(scene.selection()))


def paths(scene: Scene) -> Plan:
    what = scene.selection()
    _require_order(ops.chosen(what, scene.tree))
    return _report(scene, "paths", _PATHS, ops.Listing(what, "path"))


def types(scene: Scene) -> Plan:
    what = scene.place(4)
    if len({ops.name_of(path).rpartition(".")[2] for path in ops.chosen(what, scene.tree)}) < 2:
        raise ops.Clash("only one type")
    return _report(scene, "types", _TYPES, ops.Types(what))


def _report(
    scene: Scene, form: str, names: tuple[str, ...], text: ops.Listing | ops.Totals | ops.Types
) -> Plan:
    path = scene.new(scene.dice.pick(("", scene.folder())), names)
    if text.what.chooses(path, b""):
        raise ops.Clash("the report would have to list itself")
    is_place = isinstance(text, ops.Types)
    files = f"files {scene.place_in_words(text.what)}" if is_place else scene.files_in_words(text.what)
    return scene.plan(form, {"files": files, "report": f"'{path}'"}, ops.Write(path, text))


def _listing(scene: Scene) -> str:
    people = (*load_shared().people, *scene.domain.holders)
    names = scene.dice.sample(people, 4 + scene.dice.below(3))
    path = ops.joined(scene.dice.pick(("", scene.folder())), scene.dice.pick(_LISTS))
    return scene.add(path, "".join(f"{name}\n" for name in names))


def _require_order(texts: list[str]) -> None:
    if not ops.sorts_clearly(texts):
        raise ops.Clash("there are two ways to sort them")


class _Steps:
    """The steps chosen so far; the scene shows their result."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.before = dict(scene.tree)
        self.operations = list[ops.Operation]()
        self.clauses = list[str]()

    def take(self, clause: str, *operations: ops.Operation) -> None:
        after, taken = ops.execute(operations, self.scene.tree)
        if not taken:
            raise ops.Clash("a step that changes nothing")
        self.scene.tree = after
        self.operations += operations
        self.clauses.append(clause)

    def plan(self) -> Plan:
        words = dict(zip("abc", self.clauses, strict=True))
        words |= {letter.upper(): f"{clause[0].upper()}{clause[1:]}" for letter, clause in words.items()}
        return Plan("three", self.before, words, tuple(self.operations))


def gather(scene: Scene) -> Plan:
    """Delete files, move others into one folder, write an index of that folder."""
    steps = _Steps(scene)
    target = _top(scene)
    out = scene.selection(most=5)
    steps.take(f"delete all {scene.files_in_words(out)}", ops.Delete(out))
    what = scene.selection()
    clause = f"move all {scene.files_in_words(what)} to a new folder called '{target}'"
    steps.take(clause, ops.Move(what, ops.Into(target)))
    index, inside = ops.joined(target, "index.txt"), ops.Selection(target, deep=False)
    _require_order([ops.name_of(path) for path in ops.chosen(inside, scene.tree)])
    clause = (
        f"write the names of the files that are now in '{target}' to '{index}', in alphabetical order, "
        "one per line with a newline after each, leaving out 'index.txt' itself"
    )
    steps.take(clause, ops.Write(index, ops.Listing(inside, "name")))
    return steps.plan()


def release(scene: Scene) -> Plan:
    """Copy files into one folder, prefix the copies, add a subfolder with a README."""
    steps = _Steps(scene)
    target, what = _top(scene), scene.selection()
    clause = f"copy all {scene.files_in_words(what)} to a new folder called '{target}'"
    steps.take(clause, ops.Copy(what, ops.Into(target)))
    mark = scene.dice.pick(("v2_", "copy_", "2026-"))
    clause = f"put '{mark}' in front of the name of every file in '{target}'"
    steps.take(clause, ops.Move(ops.Selection(target, deep=False), ops.Prefixed(mark)))
    below = ops.joined(target, scene.dice.pick(("feedback", "later", "open questions")))
    note = ops.joined(below, "README.txt")
    text = f"Collected for {scene.dice.pick(scene.domain.holders)}.\n"
    clause = (
        f"make a folder '{below}' with a file 'README.txt' in it that holds the single line "
        f"'{text.strip()}', ending with a newline"
    )
    steps.take(clause, ops.MakeFolder(below), ops.Write(note, ops.Words(text)))
    return steps.plan()


def tidy(scene: Scene) -> Plan:
    """Move files out of a folder, delete some more, remove the folders that are then empty."""
    steps = _Steps(scene)
    folder = scene.dice.pick([path for path in ops.folders_of(scene.tree) if "/" not in path])
    if not scene.has_folders(folder):
        raise ops.Clash("no folders in it")
    below = scene.dice.pick([path for path in ops.folders_of(scene.tree) if path.startswith(f"{folder}/")])
    target = _top(scene)
    depth = " and its subfolders" if scene.has_folders(below) else ""
    clause = f"move all files from '{below}'{depth} to a new folder called '{target}'"
    steps.take(clause, ops.Move(ops.Selection(below), ops.Into(target)))
    out = scene.selection(most=5)
    steps.take(f"delete all {scene.files_in_words(out)}", ops.Delete(out))
    clause = f"remove every folder inside '{folder}' that has no files left in it or in its subfolders"
    steps.take(clause, ops.Prune(folder))
    return steps.plan()


def _top(scene: Scene) -> str:
    path = scene.new_folder()
    if "/" in path:
        raise ops.Clash("not at the top")
    return path
