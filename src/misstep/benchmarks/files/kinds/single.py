"""Tasks of a single step: rename, delete, sort by date, answer a question, move, copy, odd names."""

from misstep.benchmarks.files.answers import Number, Paths
from misstep.benchmarks.files.drawing import (
    MEANS,
    Plan,
    Scene,
    files_in_words,
    folder_in_words,
    joined_in_words,
    place_in_words,
)
from misstep.benchmarks.files.executing import Clash, joined
from misstep.benchmarks.files.growing import draw_date, load_shared
from misstep.benchmarks.files.operations import (
    Beneath,
    ByDate,
    ByType,
    Copy,
    Delete,
    Ending,
    Exactly,
    Into,
    Layout,
    Lowered,
    Move,
    Operation,
    Prefixed,
    Remove,
    Replaced,
    Selection,
    chosen,
    covered,
    files_of,
    folders_of,
    name_of,
)
from misstep.benchmarks.tree import File

_LAYOUTS: tuple[tuple[Layout, str], ...] = (
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
        scene.add(joined(folder, name), scene.text(date))
    what = Selection(folder, deep=False)
    dated = [path for path in covered(what, scene.tree) if name_of(path)[:2] == "20"]
    return _plan(scene, what, dated, "name")


def by_line(scene: Scene) -> Plan:
    what = Selection(scene.folder(4), deep=False)
    return _plan(scene, what, covered(what, scene.tree), "line")


def _plan(scene: Scene, what: Selection, dated: list[str], source: str) -> Plan:
    layout, groups = scene.dice.pick(_LAYOUTS)
    example = scene.dice.pick(dated)
    date = name_of(example)[:10] if source == "name" else _date_of(files_of(scene.tree)[example])
    part = {"2024": date[:4], "2024-05": date[:7], "2024/05": f"{date[:4]}/{date[5:7]}"}[layout]
    words = {
        "files": f"files {place_in_words(what, scene)}",
        "folder": f"'{what.folder}'",
        "groups": groups,
        "name": f"'{name_of(example)}'",
        "place": f"'{joined(what.folder, part)}'",
        "date": date,
    }
    if source == "name":
        return Plan("name", scene.tree, words, (Move(what, ByDate(what.folder, layout, "name")),))
    return Plan("line", scene.tree, words, (Move(what, ByDate(what.folder, layout, "line")),))


def _date_of(data: bytes) -> str:
    line = data.decode().split("\n")[1]
    if not line.startswith("Date: "):
        raise Clash("no date")
    return line.removeprefix("Date: ")


_WITH_LINES = ("txt", "md", "csv", "log", "json", "xml", "py", "yaml", "html", "srt", "lua", "c")


def find_named(scene: Scene) -> Plan:
    what = scene.selection(most=7, means=("word", "prefix", "suffix", "larger"))
    words = {"files": files_in_words(what, scene)}
    return Plan("named", scene.tree, words, answer=Paths(tuple(chosen(what, scene.tree))))


def find_line(scene: Scene) -> Plan:
    """Find the one file that contains a given reference, among files with others."""
    code, *others = [
        f"{scene.dice.pick(('KX', 'QR', 'ZT'))}-{1000 + scene.dice.below(9000)}" for _ in range(4)
    ]
    paths = scene.dice.sample(sorted(files_of(scene.tree)), 4)
    if code in others:
        raise Clash("the same reference twice")
    for path, each in zip(paths, (code, *others), strict=True):
        data = files_of(scene.tree)[path]
        scene.tree = {**scene.tree, path: File(data + f"Reference: {each}\n".encode())}
    return Plan("line", scene.tree, {"code": code}, answer=Paths((paths[0],)))


def count_files(scene: Scene) -> Plan:
    what = scene.selection(most=20, means=(*MEANS, "line"))
    words = {"files": files_in_words(what, scene)}
    return Plan("files", scene.tree, words, answer=Number(len(chosen(what, scene.tree))))


def count_folders(scene: Scene) -> Plan:
    """Count the folders directly in one that has several."""
    every = folders_of(scene.tree)
    counts = {path: sum(each.rpartition("/")[0] == path for each in every) for path in every}
    folders = [path for path, count in counts.items() if count > 1]
    if not folders:
        raise Clash("no folder has two below it")
    folder = scene.dice.pick(folders)
    return Plan("folders", scene.tree, {"folder": f"'{folder}'"}, answer=Number(counts[folder]))


def count_lines(scene: Scene) -> Plan:
    path = scene.file()
    if path.rpartition(".")[2] not in _WITH_LINES:
        raise Clash("nobody counts its lines")
    lines = files_of(scene.tree)[path].count(b"\n")
    return Plan("lines", scene.tree, {"path": f"'{path}'"}, answer=Number(lines))


def largest(scene: Scene) -> Plan:
    place = scene.place(4)
    files = files_of(scene.tree)
    ranking = sorted(covered(place, scene.tree), key=lambda path: len(files[path]))
    if len(files[ranking[-1]]) < len(files[ranking[-2]]) + 3:
        raise Clash("two are the largest")
    words = {"place": place_in_words(place, scene)}
    return Plan("largest", scene.tree, words, answer=Paths((ranking[-1],)))


def total(scene: Scene) -> Plan:
    what = scene.selection(most=6)
    files = files_of(scene.tree)
    size = sum(len(files[path]) for path in chosen(what, scene.tree))
    return Plan("total", scene.tree, {"files": files_in_words(what, scene)}, answer=Number(size))


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
    """Replace a word in names."""
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
    """Delete leftover files of programs, beside one with a similar name."""
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


def rename(scene: Scene) -> Plan:
    """Rename one file from an odd name to another."""
    old, new = scene.dice.sample(load_shared().odd, 2)
    folder = scene.folder()
    scene.add(joined(folder, old), scene.text())
    target = joined(folder, new)
    words = {"name": f"'{old}'", "folder": f"'{folder}'", "new": f"'{new}'"}
    return Plan("rename", scene.tree, words, (Move(_called(folder, old), Exactly(target)),))


def move(scene: Scene) -> Plan:
    """Move files that are named one by one, beside others with similar names."""
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
    """Swap the names of two files."""
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
