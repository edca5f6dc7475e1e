"""Files that go elsewhere, or are there as well."""

from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.executing import Clash, joined
from misstep.benchmarks.files.operations import Beneath, ByType, Copy, Into, Move
from misstep.benchmarks.files.plan import Plan
from misstep.benchmarks.files.selection import Selection, covered, name_of
from misstep.benchmarks.files.wording import files_in_words, folder_in_words, place_in_words


def move_into(scene: Scene) -> Plan:
    what = scene.selection(means=("suffix", "suffix", "suffix", "word", "line"))
    target = scene.target(what)
    words = {"files": files_in_words(what, scene), "target": folder_in_words(target, scene)}
    return Plan("into", scene.tree, words, (Move(what, Into(target)),))


def move_by_type(scene: Scene) -> Plan:
    what = Selection(scene.folder(4), deep=False)
    endings = {name_of(path).rpartition(".")[2] for path in covered(what, scene.tree)}
    if len(endings) < 2:
        raise Clash("only one type")
    example = scene.dice.pick(covered(what, scene.tree))
    words = {
        "files": f"files {place_in_words(what, scene)}",
        "folder": f"'{what.folder}'",
        "name": f"'{name_of(example)}'",
        "place": f"'{joined(what.folder, example.rpartition('.')[2])}'",
    }
    return Plan("by_type", scene.tree, words, (Move(what, ByType(what.folder)),))


def copy_into(scene: Scene) -> Plan:
    what = scene.selection()
    target = scene.target(what)
    words = {"files": files_in_words(what, scene), "target": folder_in_words(target, scene)}
    return Plan("into", scene.tree, words, (Copy(what, Into(target)),))


def copy_folder(scene: Scene) -> Plan:
    folder = scene.folder(3, deep=True)
    ways = (f"{folder} backup", f"{folder} (copy)", f"backup/{name_of(folder)}")
    target = scene.dice.pick(ways)
    if "backup" in scene.tree or target in scene.tree:
        raise Clash(f"{target} is there already")
    words = {"folder": f"'{folder}'", "target": f"'{target}'"}
    return Plan("folder", scene.tree, words, (Copy(Selection(folder), Beneath(target)),))
