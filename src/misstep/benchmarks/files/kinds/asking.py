"""Questions: nothing is to be changed, something is to be found out."""

from misstep.benchmarks.files.answers import Number, Paths
from misstep.benchmarks.files.drawing import MEANS, Scene
from misstep.benchmarks.files.executing import Clash
from misstep.benchmarks.files.plan import Plan
from misstep.benchmarks.files.selection import chosen, covered, files_of, folders_of
from misstep.benchmarks.files.wording import files_in_words, place_in_words
from misstep.benchmarks.tree import File

_WITH_LINES = ("txt", "md", "csv", "log", "json", "xml", "py", "yaml", "html", "srt", "lua", "c")


def find_named(scene: Scene) -> Plan:
    what = scene.selection(most=7, means=("word", "prefix", "suffix", "larger"))
    words = {"files": files_in_words(what, scene)}
    return Plan("named", scene.tree, words, answer=Paths(tuple(chosen(what, scene.tree))))


def find_line(scene: Scene) -> Plan:
    """The one file with a reference that has been put into it, among those with others."""
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
    """Folders directly in one that has some of its own."""
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
