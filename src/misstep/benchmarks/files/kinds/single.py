"""Tasks of one operation, and questions about files."""

from typing import Literal

from misstep.benchmarks.files import operations as ops
from misstep.benchmarks.files.answers import Number, Paths
from misstep.benchmarks.files.scene import MEANS, Plan, Scene, draw_date, joined_in_words, load_shared
from misstep.benchmarks.tree import File

_LAYOUTS: tuple[tuple[ops.Layout, str], ...] = (
    ("2024", "year"),
    ("2024-05", "month (named YYYY-MM)"),
    ("2024/05", "year and, inside that, one for each month that occurs (two digits)"),
)


def by_name(scene: Scene) -> Plan:
    """Sort by the date at the beginning of names. Files without one stay where they are."""
    folder = scene.folder()
    for _ in range(6 + scene.dice.below(4)):
        date, subject = draw_date(scene.dice), scene.dice.pick(scene.domain.subjects)
        name = f"{date}{scene.dice.pick(('_', ' ', ' - '))}{subject}.{scene.dice.pick(scene.domain.types)}"
        scene.add(ops.joined(folder, name), scene.text(date))
    what = ops.Selection(folder, deep=False)
    named = [path for path in ops.covered(what, scene.tree) if ops.name_of(path)[:2] == "20"]
    return _sorted(scene, what, named, "name")


def by_line(scene: Scene) -> Plan:
    what = ops.Selection(scene.folder(4), deep=False)
    return _sorted(scene, what, ops.covered(what, scene.tree), "line")


def _sorted(scene: Scene, what: ops.Selection, dated: list[str], source: Literal["name", "line"]) -> Plan:
    layout, groups = scene.dice.pick(_LAYOUTS)
    example = scene.dice.pick(dated)
    date = ops.name_of(example)[:10]
    if source == "line":
        line = ops.files_of(scene.tree)[example].decode().split("\n")[1]
        if not line.startswith("Date: "):
            raise ops.Clash("no date")
        date = line.removeprefix("Date: ")
    words = {
        "files": f"files {scene.place_in_words(what)}",
        "folder": f"'{what.folder}'",
        "groups": groups,
        "name": f"'{ops.name_of(example)}'",
        "place": f"'{ops.joined(what.folder, ops.dated(layout, date[:4], date[5:7]))}'",
        "date": date,
    }
    return scene.plan(source, words, ops.Move(what, ops.ByDate(what.folder, layout, source)))


_WITH_LINES = ("txt", "md", "csv", "log", "json", "xml", "py", "yaml", "html", "srt", "lua", "c")


def find_named(scene: Scene) -> Plan:
    what = scene.selection(most=7, means=("word", "prefix", "suffix", "larger"))
    words = {"files": scene.files_in_words(what)}
    return scene.plan("named", words, answer=Paths(tuple(ops.chosen(what, scene.tree))))


def find_line(scene: Scene) -> Plan:
    """Find the one file that contains a given reference, among files with others."""
    dice = scene.dice
    code, *others = [f"{dice.pick(('KX', 'QR', 'ZT'))}-{1000 + dice.below(9000)}" for _ in range(4)]
    paths = scene.dice.sample(sorted(ops.files_of(scene.tree)), 4)
    if code in others:
        raise ops.Clash("the same reference twice")
    for path, each in zip(paths, (code, *others), strict=True):
        data = ops.files_of(scene.tree)[path]
        scene.tree = {**scene.tree, path: File(data + f"Reference: {each}\n".encode())}
    return scene.plan("line", {"code": code}, answer=Paths((paths[0],)))


def count_files(scene: Scene) -> Plan:
    what = scene.selection(most=20, means=(*MEANS, "line"))
    words = {"files": scene.files_in_words(what)}
    return scene.plan("files", words, answer=Number(len(ops.chosen(what, scene.tree))))


def count_folders(scene: Scene) -> Plan:
    """Count the folders directly in one that has several."""
    every = ops.folders_of(scene.tree)
    counts = {path: sum(each.rpartition("/")[0] == path for each in every) for path in every}
    folders = [path for path, count in counts.items() if count > 1]
    if not folders:
        raise ops.Clash("no folder has two below it")
    folder = scene.dice.pick(folders)
    return scene.plan("folders", {"folder": f"'{folder}'"}, answer=Number(counts[folder]))


def count_lines(scene: Scene) -> Plan:
    path = scene.file()
    if path.rpartition(".")[2] not in _WITH_LINES:
        raise ops.Clash("nobody counts its lines")
    lines = ops.files_of(scene.tree)[path].count(b"\n")
    return scene.plan("lines", {"path": f"'{path}'"}, answer=Number(lines))


def largest(scene: Scene) -> Plan:
    place = scene.place(4)
    files = ops.files_of(scene.tree)
    ranking = sorted(ops.covered(place, scene.tree), key=lambda path: len(files[path]))
    if len(files[ranking[-1]]) < len(files[ranking[-2]]) + 3:
        raise ops.Clash("two are the largest")
    words = {"place": scene.place_in_words(place)}
    return scene.plan("largest", words, answer=Paths((ranking[-1],)))


def total(scene: Scene) -> Plan:
    what = scene.selection(most=6)
    files = ops.files_of(scene.tree)
    size = sum(len(files[path]) for path in ops.chosen(what, scene.tree))
    return scene.plan("total", {"files": scene.files_in_words(what)}, answer=Number(size))


_ENDINGS = {"jpg": "jpeg", "yaml": "yml", "html": "htm", "txt": "md"}
_ENDINGS |= dict.fromkeys(("log", "csv", "md", "json"), "txt")
_LEFTOVERS = (".tmp", ".bak", ".old")
_STAMPS = ("checked_", "2026_", "copy-of-", "A ", "final ")


def replace(scene: Scene) -> Plan:
    what = scene.selection(means=("word",))
    new = scene.dice.pick(("checked", "Archive", "neu", "version B"))
    words = {"place": scene.place_in_words(what), "old": what.word, "new": new}
    return scene.plan("replace", words, ops.Move(what, ops.Replaced(what.word, new)))


def spaces(scene: Scene) -> Plan:
    what = scene.place()
    if sum(" " in ops.name_of(path) for path in ops.covered(what, scene.tree)) < 2:
        raise ops.Clash("no spaces to replace")
    new, name = scene.dice.pick((("_", "an underscore"), ("-", "a hyphen")))
    words = {"place": scene.place_in_words(what), "new": name}
    return scene.plan("spaces", words, ops.Move(what, ops.Replaced(" ", new)))


def prefix(scene: Scene) -> Plan:
    what = scene.selection()
    text = scene.dice.pick(_STAMPS)
    words = {"files": scene.files_in_words(what), "text": text}
    return scene.plan("prefix", words, ops.Move(what, ops.Prefixed(text)))


def extension(scene: Scene) -> Plan:
    what = scene.selection(means=("suffix",))
    old = what.suffix.removeprefix(".")
    if old not in _ENDINGS:
        raise ops.Clash(f"nobody changes .{old}")
    new = _ENDINGS[old]
    words = {"place": scene.place_in_words(what), "old": old, "new": new}
    return scene.plan("extension", words, ops.Move(what, ops.Ending(f".{old}", f".{new}")))


def lower(scene: Scene) -> Plan:
    what = scene.place()
    names = map(ops.name_of, ops.covered(what, scene.tree))
    if sum(name != name.lower() for name in names) < 2:
        raise ops.Clash("all in lower case already")
    return scene.plan("lower", {"place": scene.place_in_words(what)}, ops.Move(what, ops.Lowered()))


def delete_matching(scene: Scene) -> Plan:
    what = scene.selection()
    return scene.plan("matching", {"files": scene.files_in_words(what)}, ops.Delete(what))


def delete_leftovers(scene: Scene) -> Plan:
    """Delete leftover files of programs, beside one with a similar name."""
    ending = scene.dice.pick(_LEFTOVERS)
    for path in scene.dice.sample(ops.covered(ops.Selection(), scene.tree), 4):
        scene.add(f"{path}{ending}", scene.text())
    scene.add(ops.joined(scene.folder(), f"{ending[1:]} notes.txt"), scene.text())
    what = ops.Selection(suffix=ending)
    described = f"files {scene.place_in_words(what)} whose names end in '{ending}'"
    return scene.plan("leftovers", {"files": described}, ops.Delete(what))


def delete_folder(scene: Scene) -> Plan:
    folder = scene.folder(2, deep=True)
    return scene.plan("folder", {"folder": f"'{folder}'"}, ops.Remove(folder))


def delete_by_content(scene: Scene) -> Plan:
    what = scene.selection(means=("line", "larger"))
    return scene.plan("matching", {"files": scene.files_in_words(what)}, ops.Delete(what))


def move_into(scene: Scene) -> Plan:
    return _into(scene, scene.selection(means=("suffix", "suffix", "suffix", "word", "line")), ops.Move)


def move_by_type(scene: Scene) -> Plan:
    what = ops.Selection(scene.folder(4), deep=False)
    endings = {ops.name_of(path).rpartition(".")[2] for path in ops.covered(what, scene.tree)}
    if len(endings) < 2:
        raise ops.Clash("only one type")
    example = scene.dice.pick(ops.covered(what, scene.tree))
    words = {
        "files": f"files {scene.place_in_words(what)}",
        "folder": f"'{what.folder}'",
        "name": f"'{ops.name_of(example)}'",
        "place": f"'{ops.joined(what.folder, example.rpartition('.')[2])}'",
    }
    return scene.plan("by_type", words, ops.Move(what, ops.ByType(what.folder)))


def copy_into(scene: Scene) -> Plan:
    return _into(scene, scene.selection(), ops.Copy)


def _into(scene: Scene, what: ops.Selection, operation: type[ops.Move | ops.Copy]) -> Plan:
    target = scene.target(what)
    words = {"files": scene.files_in_words(what), "target": scene.folder_in_words(target)}
    return scene.plan("into", words, operation(what, ops.Into(target)))


def copy_folder(scene: Scene) -> Plan:
    folder = scene.folder(3, deep=True)
    ways = (f"{folder} backup", f"{folder} (copy)", f"backup/{ops.name_of(folder)}")
    target = scene.dice.pick(ways)
    if "backup" in scene.tree or target in scene.tree:
        raise ops.Clash(f"{target} is there already")
    words = {"folder": f"'{folder}'", "target": f"'{target}'"}
    return scene.plan("folder", words, ops.Copy(ops.Selection(folder), ops.Beneath(target)))


def rename(scene: Scene) -> Plan:
    (old, new), folder = scene.dice.sample(load_shared().odd, 2), scene.folder()
    scene.add(ops.joined(folder, old), scene.text())
    words = {"name": f"'{old}'", "folder": f"'{folder}'", "new": f"'{new}'"}
    return scene.plan("rename", words, _move_one(folder, old, ops.joined(folder, new)))


def move(scene: Scene) -> Plan:
    """Move files that are named one by one, beside others with similar names."""
    folder, names = scene.folder(), scene.dice.sample(load_shared().odd, 4)
    for name in names:
        scene.add(ops.joined(folder, name), scene.text())
    asked, target = names[:3], scene.new_folder()
    words = {
        "names": joined_in_words(asked),
        "folder": f"'{folder}'",
        "target": scene.folder_in_words(target),
    }
    return scene.plan("move", words, *[_move_one(folder, name, ops.joined(target, name)) for name in asked])


def swap(scene: Scene) -> Plan:
    (first, second), folder = scene.dice.sample(load_shared().odd, 2), scene.folder()
    for name in (first, second):
        scene.add(ops.joined(folder, name), scene.text())
    words = {"first": f"'{first}'", "second": f"'{second}'", "folder": f"'{folder}'"}
    aside = f"{first}.aside"
    pairs = ((first, aside), (second, first), (aside, second))
    return scene.plan("swap", words, *[_move_one(folder, old, ops.joined(folder, new)) for old, new in pairs])


def _move_one(folder: str, name: str, path: str) -> ops.Move:
    return ops.Move(ops.Selection(folder, deep=False, prefix=name, suffix=name), ops.Exactly(path))
