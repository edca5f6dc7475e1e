"""Files put into folders by the dates that they bear."""

from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.executing import Clash, joined
from misstep.benchmarks.files.growing import draw_date
from misstep.benchmarks.files.operations import ByDate, Layout, Move
from misstep.benchmarks.files.plan import Plan
from misstep.benchmarks.files.selection import Selection, covered, files_of, name_of
from misstep.benchmarks.files.wording import place_in_words

_LAYOUTS: tuple[tuple[Layout, str], ...] = (
    ("2024", "year"),
    ("2024-05", "month (named YYYY-MM)"),
    ("2024/05", "year and, inside that, one for each month that occurs (two digits)"),
)


def by_name(scene: Scene) -> Plan:
    """Dates at the beginning of names. What has none stays where it is."""
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
