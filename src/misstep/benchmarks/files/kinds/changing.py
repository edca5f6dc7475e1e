"""Renaming by rule, deleting by rule."""

from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.executing import Clash, joined
from misstep.benchmarks.files.operations import Delete, Ending, Lowered, Move, Prefixed, Remove, Replaced
from misstep.benchmarks.files.plan import Plan
from misstep.benchmarks.files.selection import Selection, covered, name_of
from misstep.benchmarks.files.wording import files_in_words, place_in_words

_ENDINGS = {
    "jpg": "jpeg",
    "yaml": "yml",
    "html": "htm",
    "txt": "md",
    "log": "txt",
    "csv": "txt",
    "md": "txt",
    "json": "txt",
}
_LEFTOVERS = (".tmp", ".bak", ".old")
_STAMPS = ("checked_", "2026_", "copy-of-", "A ", "final ")


def replace(scene: Scene) -> Plan:
    """A word for another."""
    what = scene.selection(means=("word",))
    new = scene.dice.pick(("checked", "Archive", "neu", "version B"))
    words = {"place": place_in_words(what, scene), "old": what.word, "new": new}
    return Plan("replace", scene.tree, words, (Move(what, Replaced(what.word, new)),))


def spaces(scene: Scene) -> Plan:
    what = scene.place()
    if len([path for path in covered(what, scene.tree) if " " in name_of(path)]) < 2:
        raise Clash("no spaces to replace")
    new, name = scene.dice.pick((("_", "an underscore"), ("-", "a hyphen")))
    words = {"place": place_in_words(what, scene), "new": name}
    return Plan("spaces", scene.tree, words, (Move(what, Replaced(" ", new)),))


def prefix(scene: Scene) -> Plan:
    what = scene.selection()
    text = scene.dice.pick(_STAMPS)
    words = {"files": files_in_words(what, scene), "text": text}
    return Plan("prefix", scene.tree, words, (Move(what, Prefixed(text)),))


def extension(scene: Scene) -> Plan:
    what = scene.selection(means=("suffix",))
    old = what.suffix.removeprefix(".")
    if old not in _ENDINGS:
        raise Clash(f"nobody changes .{old}")
    new = _ENDINGS[old]
    words = {"place": place_in_words(what, scene), "old": old, "new": new}
    return Plan("extension", scene.tree, words, (Move(what, Ending(f".{old}", f".{new}")),))


def lower(scene: Scene) -> Plan:
    what = scene.place()
    if len([path for path in covered(what, scene.tree) if name_of(path) != name_of(path).lower()]) < 2:
        raise Clash("all in lower case already")
    return Plan("lower", scene.tree, {"place": place_in_words(what, scene)}, (Move(what, Lowered()),))


def delete_matching(scene: Scene) -> Plan:
    what = scene.selection()
    return Plan("matching", scene.tree, {"files": files_in_words(what, scene)}, (Delete(what),))


def delete_leftovers(scene: Scene) -> Plan:
    """Files that programs have left behind, beside one that only looks like it."""
    ending = scene.dice.pick(_LEFTOVERS)
    for path in scene.dice.sample(covered(Selection(), scene.tree), 4):
        scene.add(f"{path}{ending}", scene.text())
    scene.add(joined(scene.folder(), f"{ending[1:]} notes.txt"), scene.text())
    what = Selection(suffix=ending)
    described = f"files {place_in_words(what, scene)} whose names end in '{ending}'"
    return Plan("leftovers", scene.tree, {"files": described}, (Delete(what),))


def delete_folder(scene: Scene) -> Plan:
    folder = scene.folder(2, deep=True)
    return Plan("folder", scene.tree, {"folder": f"'{folder}'"}, (Remove(folder),))


def delete_by_content(scene: Scene) -> Plan:
    what = scene.selection(means=("line", "larger"))
    return Plan("matching", scene.tree, {"files": files_in_words(what, scene)}, (Delete(what),))
