"""Single files whose names tools stumble over."""

from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.executing import joined
from misstep.benchmarks.files.operations import Exactly, Move, Operation
from misstep.benchmarks.files.plan import Plan
from misstep.benchmarks.files.selection import Selection
from misstep.benchmarks.files.vocabulary import load_shared
from misstep.benchmarks.files.wording import folder_in_words, joined_in_words


def rename(scene: Scene) -> Plan:
    """One file, from an odd name to another."""
    old, new = scene.dice.sample(load_shared().odd, 2)
    folder = scene.folder()
    scene.add(joined(folder, old), scene.text())
    target = joined(folder, new)
    words = {"name": f"'{old}'", "folder": f"'{folder}'", "new": f"'{new}'"}
    return Plan("rename", scene.tree, words, (Move(_called(folder, old), Exactly(target)),))


def move(scene: Scene) -> Plan:
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


def swap(scene: Scene) -> Plan:
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
