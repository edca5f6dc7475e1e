"""Puts selections and places into the words that people use."""

from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.selection import Selection
from misstep.benchmarks.files.vocabulary import load_types


def files_in_words(what: Selection, scene: Scene) -> str:
    """The files in the plural, with where they are: "PDF files (.pdf) in 'letters' and its subfolders"."""
    ending = what.suffix.removeprefix(".")
    heads = (f"{load_types()[ending]} (.{ending})", f".{ending} files", "files") if ending else ("files",)
    head = scene.dice.pick(heads)
    rule = _rule(what, in_head=head != "files")
    return " ".join(filter(None, (head, place_in_words(what, scene), rule)))


def place_in_words(what: Selection, scene: Scene) -> str:
    dice, name = scene.dice, f"'{what.folder}'"
    if not what.folder:
        below = ("in the current folder and all its subfolders", "in the current folder (at any depth)")
        return dice.pick(below) if what.deep else "directly in the current folder (not in its subfolders)"
    if not scene.has_folders(what.folder):
        return dice.pick((f"in {name}", f"in the folder {name}"))
    if what.deep:
        return dice.pick((f"in {name} and its subfolders", f"anywhere in {name} (subfolders included)"))
    return dice.pick((f"directly in {name} (not in its subfolders)", f"at the top level of {name}"))


def folder_in_words(path: str, scene: Scene) -> str:
    """A folder that something goes to."""
    if path in scene.tree:
        return scene.dice.pick((f"'{path}'", f"the folder '{path}'"))
    return scene.dice.pick((f"a new folder called '{path}'", f"a new folder '{path}'"))


def joined_in_words(items: list[str]) -> str:
    """Some of them quoted, as in "'a', 'b' and 'c'"."""
    quoted = [f"'{item}'" for item in items]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}" if len(quoted) > 1 else quoted[0]


def _rule(what: Selection, in_head: bool) -> str:
    if what.suffix and not in_head:
        return f"whose names end in '{what.suffix}'"
    if what.prefix:
        return f"whose names start with '{what.prefix}'"
    if what.word:
        return f"with '{what.word}' in their names"
    if what.line:
        return f"that contain the line '{what.line}'"
    return f"that are larger than {what.larger} bytes" if what.larger is not None else ""
