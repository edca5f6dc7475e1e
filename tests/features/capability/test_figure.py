"""The figure: what is drawn is where its own axes say it should be, and nothing hides anything else."""

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import msgspec
import pytest

from misstep.core.results.capability import Capability, Half, Point
from misstep.features.capability.figure import capability_figure
from misstep.features.capability.view import Level, published_levels
from tests.features.capability.curves import capability, falling, point

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {"svg", "title", "desc", "style", "rect", "g", "line", "polyline", "polygon", "circle", "text"}


class Picture:
    """An SVG, read back; places are measured against the labels of its axes."""

    def __init__(self, source: str) -> None:
        self.root = ElementTree.fromstring(source)
        self.texts = list(self.root.iter(f"{SVG}text"))

    def find(self, name: str, style: str, within: Element | None = None) -> list[Element]:
        found = (self.root if within is None else within).iter(f"{SVG}{name}")
        return [each for each in found if each.get("class") == style]

    def agent(self, number: int) -> Element:
        """The group with an agent's rates, the first in its colour that holds a mark."""
        return next(group for group in self.find("g", f"a{number}") if self.find("polyline", "curve", group))

    def share(self, y: float) -> float:
        """The success that a height stands for."""
        zero, full = (float(self._label(text).get("y", "")) - 5 for text in ("0 %", "100 %"))
        return (zero - y) / (zero - full)

    def actions(self, x: float) -> float:
        numbers = [each for each in self.texts if re.fullmatch(r"\d+", each.text or "")]
        first, last = numbers[0], numbers[-1]
        low, high = int(first.text or 0), int(last.text or 0)
        left, right = float(first.get("x", "")), float(last.get("x", ""))
        return low + (x - left) / (right - left) * (high - low)

    def words(self) -> list[str]:
        return [each.text or "" for each in self.texts]

    def _label(self, text: str) -> Element:
        return next(each for each in self.texts if each.text == text)


def numbers(element: Element, *names: str) -> list[float]:
    return [float(element.get(name, "")) for name in names]


def corners(line: Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.-]+),([\d.-]+)", line.get("points", ""))]


def drawn(*curves: Capability, title: str = "", levels: Sequence[Level] = ()) -> Picture:
    return Picture(capability_figure(curves, title, levels=levels))


def test_rates_and_their_intervals_are_where_the_axes_say() -> None:
    points = [point(2, 40, 40), point(3, 33, 60), point(4, 0, 120)]
    picture = drawn(capability("a", points))
    group = picture.agent(0)
    marks, bars = picture.find("circle", "mark", group), picture.find("line", "bar", group)
    assert len(marks) == len(bars) == 3
    for each, mark, bar in zip(points, marks, bars, strict=True):
        x, y = numbers(mark, "cx", "cy")
        assert picture.actions(x) == pytest.approx(each.actions, abs=0.01)
        assert picture.share(y) == pytest.approx(each.success, abs=0.001)
        high, low = (picture.share(end) for end in numbers(bar, "y1", "y2"))
        assert (low, high) == pytest.approx(each.interval, abs=0.001)
    (line,) = picture.find("polyline", "curve", group)
    assert corners(line) == [tuple(numbers(mark, "cx", "cy")) for mark in marks]


def test_a_fitted_curve_is_drawn_instead_of_a_line_and_passes_half_where_it_is_marked() -> None:
    curve = falling("a", range(2, 10), 5.7)
    picture = drawn(curve)
    way = corners(picture.find("polyline", "curve", picture.agent(0))[0])
    places = [(picture.actions(x), picture.share(y)) for x, y in way]
    assert (places[0][0], places[-1][0]) == pytest.approx((2, 9), abs=0.01)
    (crossing,) = [
        (left + right) / 2 for (left, above), (right, below) in pairwise(places) if above >= 0.5 > below
    ]
    assert crossing == pytest.approx(5.7, abs=0.1)
    (drop,) = picture.find("line", "drop")
    assert picture.actions(float(drop.get("x1", ""))) == pytest.approx(5.7, abs=0.01)
    assert picture.share(float(drop.get("y1", ""))) == pytest.approx(0.5, abs=0.001)
    strip = [bar for bar in picture.find("line", "bar") if picture.share(float(bar.get("y1", ""))) < 0]
    ends = [picture.actions(float(bar.get(name, ""))) for bar in strip for name in ("x1", "x2")]
    assert (min(ends), max(ends)) == pytest.approx((5.3, 6.3), abs=0.02)
    assert "50 % at n = 5.7 [5.3, 6.3]" in picture.words()


@pytest.mark.parametrize(
    ("interval", "words", "ticks"),
    [
        ((None, 6.0), "50 % at n = 5.0 [–, 6.0]", 1),
        ((4.0, None), "50 % at n = 5.0 [4.0, –]", 1),
        ((None, None), "50 % at n = 5.0 [–, –]", 0),
    ],
)
def test_an_open_end_runs_into_the_edge(
    interval: tuple[float | None, float | None], words: str, ticks: int
) -> None:
    curve = falling("a", range(2, 9), 5.0)
    picture = drawn(msgspec.structs.replace(curve, half=Half(5.0, interval)))
    (axis,) = {(each.get("x1"), each.get("x2")) for each in picture.find("line", "grid")}
    strip = [bar for bar in picture.find("line", "bar") if picture.share(float(bar.get("y1", ""))) < 0]
    (span,) = [bar for bar in strip if bar.get("y1") == bar.get("y2")]
    for end, name, edge in zip(interval, ("x1", "x2"), axis, strict=True):
        assert (span.get(name) == edge) == (end is None)
    assert len(strip) == 1 + ticks
    assert words in picture.words()


def test_the_threshold_is_drawn_at_its_height() -> None:
    curve = msgspec.structs.replace(falling("a", range(2, 9), 5.0), threshold=0.35)
    picture = drawn(curve)
    line, _ = picture.find("line", "threshold")
    assert picture.share(float(line.get("y1", ""))) == pytest.approx(0.35, abs=0.001)
    assert "threshold 35 %" in picture.words()


def test_agents_with_the_same_cases_share_a_chance_level() -> None:
    picture = drawn(falling("a", range(2, 9), 5.0), falling("b", range(2, 6), 4.0))
    assert picture.find("g", "own") == []
    line, _ = picture.find("polyline", "chance")
    levels = [(picture.actions(x), picture.share(y)) for x, y in corners(line)]
    for size, (actions, level) in zip(range(2, 9), levels, strict=True):
        assert (actions, level) == pytest.approx((size, 1 / size), abs=0.01)


def test_agents_with_cases_of_their_own_have_their_own_chance_level() -> None:
    other = capability("b", [point(size, 5, 10, 0.5 / size) for size in range(2, 9)])
    picture = drawn(falling("a", range(2, 9), 5.0), other)
    own = picture.find("g", "own")
    assert len(own) == 2
    assert [len(picture.find("polyline", "chance", each)) for each in own] == [1, 1]
    assert [len(list(each)) for each in own] == [8, 8]


def test_what_was_not_judged_is_not_drawn() -> None:
    picture = drawn(capability("a", [point(2, 3, 4), point(3, 0, 0)]))
    assert len(picture.find("circle", "mark", picture.agent(0))) == 1
    nothing = drawn(capability("a", [point(2, 0, 0)]))
    assert nothing.find("circle", "mark", nothing.find("g", "a0")[0]) == []
    assert "no case was judged" in nothing.words()
    assert drawn().words()[0] == "success"


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([point(2, 9, 10), point(3, 9, 10)], "above 50 % up to n = 3"),
        ([point(2, 1, 10)], "below 50 % from n = 2 on"),
    ],
)
def test_how_far_an_agent_gets_is_said_without_a_fit(points: list[Point], words: str) -> None:
    assert words in drawn(capability("a", points)).words()


def six(sizes: range) -> list[Capability]:
    names = ("react", "tools · " + "x" * 60, "s" * 300, "漢字" * 80, "a/b.py:build", "sim:greedy")
    return [falling(name, sizes, 4.0 + number) for number, name in enumerate(names)]


def box(text: Element, size: float) -> tuple[float, float, float, float]:
    """The room that a text takes up in letters as wide as any usual font has them."""
    shown = "".join(text.itertext())
    width = sum(1.0 if ord(letter) > 0x2E80 else 0.62 for letter in shown) * size
    x, y = numbers(text, "x", "y")
    left = {"end": x - width, "middle": x - width / 2}.get(text.get("text-anchor", ""), x)
    return left, y - 0.75 * size, left + width, y + 0.2 * size


def letter_sizes(picture: Picture, name: str) -> list[float]:
    style = picture.root.findtext(f"{SVG}style", "")
    return [float(size) for size in re.findall(rf"\.figure {name} {{ font(?:-size)?: (\d+)px", style)]


LEVELS = published_levels()


def test_what_others_have_published_is_a_level_and_no_curve() -> None:
    """One rate from 3 to 5 actions, and an arrow down from 20 % at the number of actions where it is lost."""
    picture = drawn(falling("a", range(2, 4), 2.5), levels=LEVELS)
    groups = picture.find("g", "published")[: len(LEVELS)]
    for level, group in zip(LEVELS, groups, strict=True):
        strokes = [numbers(line, "x1", "x2", "y1", "y2") for line in picture.find("line", "level", group)]
        ((left, right, y, _),) = [each for each in strokes if each[2] == each[3]]
        assert (picture.actions(left), picture.actions(right)) == pytest.approx((3, 5), abs=0.01)
        assert picture.share(y) == pytest.approx(level.best.success, abs=0.001)
        (shaft,) = [each for each in strokes if picture.share(each[2]) == pytest.approx(0.2, abs=0.001)]
        assert picture.actions(shaft[0]) == pytest.approx(level.limit, abs=0.01)
        assert picture.share(shaft[3]) < 0.2
        above, beside = (each for each in picture.find("text", "note") if each.text == level.model)
        assert picture.actions(float(above.get("x", ""))) == pytest.approx(3.5, abs=0.01)
        assert 0 < level.limit - picture.actions(float(beside.get("x", ""))) < 0.5
    assert picture.find("polyline", "curve", groups[0]) == []


def test_it_is_said_whose_figures_they_are_and_that_the_problems_are_others() -> None:
    curve = falling("a", range(2, 9), 5.0)
    words = drawn(curve, levels=LEVELS).words()
    assert words[-5:] == [
        "GPT-3.5 in the PDoctor paper",
        "46 % with 3–5 actions (OT), under 20 % at 4",
        "GPT-4 in the PDoctor paper",
        "78 % with 3–5 actions (OT), under 20 % at 8",
        "PDoctor paper: other problems than these",
    ]
    assert not any("paper" in each for each in drawn(curve).words())


@pytest.mark.parametrize("levels", [(), LEVELS], ids=["alone", "published"])
@pytest.mark.parametrize("screen", [0, 1])
@pytest.mark.parametrize("agents", [1, 2, 6])
@pytest.mark.parametrize("sizes", [range(2, 3), range(2, 10), range(2, 21)])
def test_no_text_runs_into_another_or_out_of_the_picture(
    sizes: range, agents: int, screen: int, levels: Sequence[Level]
) -> None:
    """In letters of the size that the style sheet has for wide screens, and of that for phones."""
    picture = drawn(*six(sizes)[:agents], title="How far agents get", levels=levels)
    _, _, width, height = map(float, picture.root.get("viewBox", "").split())
    letters, headings = (letter_sizes(picture, name)[screen] for name in ("text", r"\.heading"))
    boxes = [box(each, headings if each.get("class") == "heading" else letters) for each in picture.texts]
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def test_agents_can_be_told_apart_without_colour() -> None:
    picture = drawn(*six(range(2, 10)))
    looks = set()
    for number in range(6):
        group = picture.agent(number)
        (line,) = picture.find("polyline", "curve", group)
        mark = next(each for each in group if each.get("class") == "mark")
        origin = corners(mark)[0] if mark.get("points") else (0.0, 0.0)
        shape = tuple((round(x - origin[0], 1), round(y - origin[1], 1)) for x, y in corners(mark))
        looks.add((line.get("stroke-dasharray"), shape))
    assert len(looks) == len({dashes for dashes, _ in looks}) == len({shape for _, shape in looks}) == 6


def test_marks_of_six_agents_stand_beside_each_other() -> None:
    sizes = range(2, 21)
    curves = [capability(f"no {number}", [point(size, 5, 10) for size in sizes]) for number in range(6)]
    picture = drawn(*curves)
    ways = [corners(picture.find("polyline", "curve", picture.agent(number))[0]) for number in range(6)]
    columns = [x for way in ways for x, _ in way]
    assert len(set(columns)) == 6 * len(sizes)
    for way in ways:
        assert all(abs(picture.actions(x) - size) < 0.5 for (x, _), size in zip(way, sizes, strict=True))


def test_those_who_don_t_see_it_are_told() -> None:
    picture = drawn(falling("greedy", range(2, 4), 2.5), title="All of <them>")
    assert picture.root.get("role") == "img"
    title, description = list(picture.root)[:2]
    assert (title.tag, title.text) == (f"{SVG}title", "All of <them>")
    said = "greedy: 56 % of 200 cases with 2 actions; 44 % of 200 cases with 3 actions; 50 % at n = 2.5 [2.1, 3.1]."
    assert (description.tag, description.text) == (f"{SVG}desc", said)


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</style></svg>]]>-->",
        "\x00\x1b[2J\u202e\u2028\ufffe\uffff\ud800",
        "&lt;&#60;&",
        "y" * 1_000_000,
    ],
)
def test_hostile_names_are_nothing_but_text(evil: str) -> None:
    curve = msgspec.structs.replace(falling(evil, range(2, 9), 5.0), model=evil)
    source = capability_figure([curve], evil)
    source.encode()
    assert len(source) < 30_000
    root = ElementTree.fromstring(source)
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= DRAWN
    assert not [
        name for each in root.iter() for name in each.attrib if name.startswith(("on", "href", "style"))
    ]
    assert not set("\x00\x1b\u202e\u2028\ufffe\uffff") & set(source)


def test_the_same_curves_give_the_same_picture() -> None:
    assert capability_figure(six(range(2, 10)), "t") == capability_figure(six(range(2, 10)), "t")
