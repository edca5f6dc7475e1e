"""Tasks that create folders and files from a listing, and listings from files."""

from misstep.benchmarks.files.drawing import Plan, Scene, files_in_words, joined_in_words, place_in_words
from misstep.benchmarks.files.executing import Clash, joined, sorts_clearly
from misstep.benchmarks.files.growing import load_shared
from misstep.benchmarks.files.operations import (
    Listing,
    MakeFolder,
    Operation,
    Totals,
    Types,
    Unroll,
    Words,
    Write,
    chosen,
    name_of,
)

_LISTS = ("names.txt", "people.txt", "list.txt", "to do.txt")
_HEADS = ("Contact: ", "Notes on ", "File for ")
_SIZES = ("sizes.txt", "size report.txt", "file sizes.txt")
_TOTALS = ("summary.txt", "overview.txt", "report.txt")
_PATHS = ("index.txt", "list of files.txt", "paths.txt")
_TYPES = ("types.txt", "file types.txt", "overview.txt")


def folders(scene: Scene) -> Plan:
    listing, folder = _listing(scene), scene.folder()
    words = {"listing": f"'{listing}'", "folder": f"'{folder}'"}
    return Plan("folders", scene.tree, words, (Unroll(listing, folder, "folders"),))


def files(scene: Scene) -> Plan:
    listing, folder = _listing(scene), scene.new_folder()
    head, ending = scene.dice.pick(_HEADS), scene.dice.pick((".txt", ".md"))
    words = {"listing": f"'{listing}'", "folder": f"'{folder}'", "ending": f"'{ending}'", "head": f"'{head}'"}
    return Plan("files", scene.tree, words, (Unroll(listing, folder, "files", ending, head + "{}\n"),))


def skeleton(scene: Scene) -> Plan:
    folder, names = scene.new_folder(), scene.dice.sample(scene.domain.subjects, 3)
    file = scene.dice.pick(("README.md", "notes.txt", ".gitkeep", "to do.txt"))
    operations: list[Operation] = []
    for name in names:
        operations += [MakeFolder(joined(folder, name)), Write(joined(folder, name, file), Words(""))]
    words = {"folder": f"'{folder}'", "names": joined_in_words(names), "file": f"'{file}'"}
    return Plan("skeleton", scene.tree, words, tuple(operations))


def sizes(scene: Scene) -> Plan:
    what = scene.selection(means=("suffix", "word", "prefix", "line"))
    _require_order([name_of(path) for path in chosen(what, scene.tree)])
    text = Listing(what, "name size", total=scene.dice.chance(0.5))
    return _plan(
        scene,
        "sizes_total" if text.total else "sizes",
        Write(_report(scene, _SIZES), text),
        files_in_words(what, scene),
    )


def totals(scene: Scene) -> Plan:
    what = scene.selection()
    return _plan(scene, "totals", Write(_report(scene, _TOTALS), Totals(what)), files_in_words(what, scene))


def paths(scene: Scene) -> Plan:
    what = scene.selection()
    _require_order(chosen(what, scene.tree))
    return _plan(
        scene, "paths", Write(_report(scene, _PATHS), Listing(what, "path")), files_in_words(what, scene)
    )


def types(scene: Scene) -> Plan:
    what = scene.place(4)
    report = _report(scene, _TYPES)
    if what.covers(report):
        raise Clash("the report would have to count itself")
    found = {name_of(path).rpartition(".")[2] for path in chosen(what, scene.tree)}
    if len(found) < 2:
        raise Clash("only one type")
    return _plan(scene, "types", Write(report, Types(what)), f"files {place_in_words(what, scene)}")


def _plan(scene: Scene, form: str, operation: Write, described: str) -> Plan:
    text = operation.text
    if not isinstance(text, Words) and text.what.chooses(operation.path, b""):
        raise Clash("the report would have to list itself")
    return Plan(form, scene.tree, {"files": described, "report": f"'{operation.path}'"}, (operation,))


def _report(scene: Scene, names: tuple[str, ...]) -> str:
    path = joined(scene.dice.pick(("", scene.folder())), scene.dice.pick(names))
    if path in scene.tree:
        raise Clash(f"{path} is there already")
    return path


def _listing(scene: Scene) -> str:
    names = scene.dice.sample(_people(scene), 4 + scene.dice.below(3))
    path = joined(scene.dice.pick(("", scene.folder())), scene.dice.pick(_LISTS))
    return scene.add(path, "".join(f"{name}\n" for name in names))


def _people(scene: Scene) -> tuple[str, ...]:
    return (*load_shared().people, *scene.domain.holders)


def _require_order(texts: list[str]) -> None:
    if not sorts_clearly(texts):
        raise Clash("there are two ways to sort them")
