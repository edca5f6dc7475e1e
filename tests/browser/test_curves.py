"""The page of curves that are kept in files, as people see it on a screen or a phone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep.cli import run
from tests.browser.chromium import Visitor
from tests.features.capability.curves import falling

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]

# Of each text of the figure: what it says, and its box on the screen.
BOXES = """() => [...document.querySelectorAll("svg.figure text")].map((text) => {
  const {left, top, right, bottom} = text.getBoundingClientRect();
  return {said: text.textContent, left, top, right, bottom};
})"""


@pytest.fixture
def page_of_curves(tmp_path: Path) -> Path:
    """Two curves among what is published, made by the command line."""
    for name, half in (("tuned", 7.5), ("base", 3.0)):
        curve = falling(name, range(2, 11), half)
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode(curve))
    files = [str(tmp_path / name) for name in ("tuned.json", "base.json")]
    assert run(["report", files[0], "--beside", files[1], "--published", "--report-dir", str(tmp_path)]) == 0
    return tmp_path / "tuned.html"


@pytest.mark.parametrize("width", [1000, 390])
def test_what_is_written_in_the_figure_can_be_read(visit: Visit, page_of_curves: Path, width: int) -> None:
    visitor = visit(width=width, offline=True)
    page = visitor.open(page_of_curves)
    assert visitor.requests == [page.url]
    boxes: list[dict[str, Any]] = page.evaluate(BOXES)
    said = [box["said"] for box in boxes]
    assert said.count("GPT-4") == said.count("GPT-3.5") == 2
    assert "PDoctor paper: other problems than these" in said
    for number, box in enumerate(boxes):
        assert 0 <= box["left"] < box["right"] <= width, box
        for other in boxes[:number]:
            beside = box["left"] >= other["right"] or other["left"] >= box["right"]
            below = box["top"] >= other["bottom"] - 1 or other["top"] >= box["bottom"] - 1
            assert beside or below, json.dumps([box, other])


def test_every_agent_of_the_paper_is_in_a_table(visit: Visit, page_of_curves: Path) -> None:
    page = visit().open(page_of_curves)
    table = page.locator("table[aria-label^='PDoctor paper']")
    rows = [str(row).split("\t") for row in table.locator("tbody tr").all_inner_texts()]
    assert [row[0] for row in rows] == [
        *(f"{agent}, GPT-3.5" for agent in ("ReAct", "OT", "OA")),
        *(f"{agent}, GPT-4" for agent in ("ReAct", "OT", "OA")),
    ]
    assert rows[4][1:] == ["3–5", "144", "77.8 %", "70.3 – 83.8 %", "at 8 actions"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_levels_can_be_told_from_the_paper_in_any_light(
    visit: Visit, page_of_curves: Path, scheme: str
) -> None:
    page = visit(color_scheme=scheme).open(page_of_curves)
    paper, ink = page.evaluate(
        """() => [[".paper", "fill"], [".level", "stroke"]].map(
          ([name, of]) => getComputedStyle(document.querySelector(`svg.figure ${name}`))[of])"""
    )
    assert contrast(paper, ink) >= 4.5


def contrast(one: str, other: str) -> float:
    """Of two colours such as rgb(1, 2, 3), as the accessibility guidelines have it."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
