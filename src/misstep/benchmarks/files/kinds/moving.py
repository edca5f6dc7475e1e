"""Moving and copying, by type, by name, and under names that tools stumble over."""

from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.executing import Clash, joined
from misstep.benchmarks.files.operations import Beneath, ByType, Copy, Exactly, Into, Move, Operation
from misstep.benchmarks.files.plan import Plan
from misstep.benchmarks.files.selection import Selection, covered, name_of
from misstep.benchmarks.files.vocabulary import load_shared
from misstep.benchmarks.files.wording import files_in_words, folder_in_words, joined_in_words, place_in_words


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


def rename_odd(scene: Scene) -> Plan:
    """One file, from an odd name to another."""
    old, new = scene.dice.sample(load_shared().odd, 2)
    folder = scene.folder()
    scene.add(joined(folder, old), scene.text())
    target = joined(folder, new)
    words = {"name": f"'{old}'", "folder": f"'{folder}'", "new": f"'{new}'"}
    return Plan("rename", scene.tree, words, (Move(_called(folder, old), Exactly(target)),))


def move_odd(scene: Scene) -> Plan:
    """Some files that are named one by one, beside others that look much like them."""
    folder, names = scene.folder(), scene.dice.sample(load_shared().odd, 4)
    for name in names:
        scene.add(joined(folder, name), scene.text())
    asked, target = names[:3], scene.new_folder()
    words = {
        "names": joined_in_words(asked),
        "folder": f"'{folder}'",
        "target": folder_in_words(target, scene),
    }
    operations: list[Operation] = [
        Move(_called(folder, name), Exactly(joined(target, name))) for name in asked
    ]
    return Plan("move", scene.tree, words, tuple(operations))


def swap_odd(scene: Scene) -> Plan:
    """Two files that exchange their names."""
    first, second = scene.dice.sample(load_shared().odd, 2)
    folder = scene.folder()
    for name in (first, second):
        scene.add(joined(folder, name), scene.text())
    words = {"first": f"'{first}'", "second": f"'{second}'", "folder": f"'{folder}'"}
    aside = joined(folder, f"{first}.aside")
    operations = (
        Move(_called(folder, first), Exactly(aside)),
        Move(_called(folder, second), Exactly(joined(folder, first))),
        Move(_called(folder, f"{first}.aside"), Exactly(joined(folder, second))),
    )
    return Plan("swap", scene.tree, words, operations)


def _called(folder: str, name: str) -> Selection:
    return Selection(folder, deep=False, prefix=name, suffix=name)
