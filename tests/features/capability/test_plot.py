"""Capability curves on a terminal, as people see them."""

from io import StringIO
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from misstep.core.case import Baselines
from misstep.core.outcome import ERROR_KINDS
from misstep.core.results.capability import Capability, Fit, Half, Point
from misstep.features.capability.view import (
    SIGNS,
    capability_plot,
    capability_table,
    error_table,
    how_far_table,
    published_levels,
)
from tests.features.capability.curves import falling, point
from tests.rendering.screens import shown

HALF = Half(4.7, (4.4, 5.1))
POINTS = (
    point(2, 20, 20, 0.5),
    point(3, 57, 60, 0.24),
    point(4, 84, 120, 0.1),
    point(5, 80, 200, 0.03),
    point(6, 30, 300, 0.01),
)


def curve(agent: str, *points: Point, **given: Any) -> Capability:
    errors = dict.fromkeys(ERROR_KINDS, 0)
    usual = {"threshold": 0.2, "limit": None, "reached": False, "half": None, "fit": None, "errors": errors}
    return Capability("r1", agent, curve=points, **{"model": None, **usual, **given})


FALLEN = curve("react", *POINTS, model="gpt", half=HALF, fit=Fit(HALF, 0.8), limit=5, reached=True)
HOSTILE = "[red]\x1b[2J\u202e"


def text(*lines: str) -> str:
    return "\n".join(lines)


def test_one_curve() -> None:
    assert shown(capability_plot([FALLEN]), 80) == text(
        " 100 % ┤   ●       │",
        "       │   │······ ●",
        "       │   │     ··│·",
        "       │   │       │····",
        "       │               ···",
        "  75 % ┤                 ··│",
        "       │                  ·●·",
        "       │                   │··",
        "       │                   │ ···",
        "       │                       ··",
        "  50 % ┤  x                     ·+",
        "       │                         ··│",
        "       │                           ●·",
        "       │                           │··",
        "       │                             ···",
        "  25 % ┤          x                    ···",
        "       │╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌···╌╌╌╌",
        "       │                                   │",
        "       │                  x                ●",
        "       │                          x        │",
        "   0 % ┤                                  x",
        "       └────────────────────────────────────────",
        "actions    2       3       4       5       6",
        "● react, gpt",
        "│ 95 % interval   · fitted   + 50 %   x chance   ╌ threshold 20 %",
    )


def test_several_curves() -> None:
    steep = Half(3.0, (2.9, 3.1))
    points = (point(2, 20, 20), point(3, 30, 60), point(4, 0, 120))
    others = [
        curve(HOSTILE, *points, half=steep, fit=Fit(steep, 0.1)),
        curve("idle", point(2, 0, 20), threshold=0.4),
    ]
    assert shown(capability_plot([FALLEN, *others]), 80) == text(
        " 100 % ┤  ●▲····· │",
        "       │  ││······●",
        "       │  ││    ··│·",
        "       │  ││     ······",
        "       │          ·   ···",
        "  75 % ┤          ·     ··│",
        "       │          ·      ·●·",
        "       │          ··      │··",
        "       │           │      │ ···",
        "       │           │          ··",
        "  50 % ┤ x         ▲           ·+",
        "       │           │            ··│",
        "       │╌╌╌╌╌╌╌╌╌╌╌│╌╌╌╌╌╌╌╌╌╌╌╌╌╌●·╌╌╌╌╌╌╌╌╌╌╌╌",
        "       │           ··             │··",
        "       │            ·               ···",
        "  25 % ┤         x  ·                 ···",
        "       │╌╌╌╌╌╌╌╌╌╌╌╌·╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌···╌╌╌╌╌",
        "       │    │       ··                    │",
        "       │    │        ·   x                ●",
        "       │    │        ··    │     x        │",
        "   0 % ┤    ■         ·····▲             x",
        "       └────────────────────────────────────────",
        "actions    2       3       4       5       6",
        "● react, gpt",
        "▲ [red]\\u001b[2J\\u202e",
        "■ idle",
        "│ 95 % interval   · fitted   + 50 %   x chance   ╌ threshold 20 %, 40 %",
    )


def test_what_others_have_published_stands_beside_it() -> None:
    short = curve("tools", *POINTS[:3])
    assert shown(capability_plot([short, curve("idle", point(2, 0, 20))], published_levels()), 80) == text(
        " 100 % ┤   ●       │",
        "       │   │       ●",
        "       │   │       │",
        "       │   │       │",
        "       │           ══════════════════",
        "  75 % ┤                   │",
        "       │                   ●",
        "       │                   │",
        "       │                   │",
        "       │",
        "  50 % ┤  x",
        "       │           ──────────────────",
        "       │",
        "       │",
        "       │",
        "  25 % ┤          x",
        "       │╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌",
        "       │    │                ↓                               ⇓",
        "       │    │             x",
        "       │    │",
        "   0 % ┤    ▲",
        "       └────────────────────────────────────────────────────────",
        "actions    2       3       4       5       6       7       8",
        "● tools",
        "▲ idle",
        "│ 95 % interval   x chance   ╌ threshold 20 %",
        "─ GPT-3.5 on other problems, PDoctor paper   ↓ under 20 %",
        "═ GPT-4 on other problems, PDoctor paper   ⇓ under 20 %",
    )
    assert shown(how_far_table([short], published_levels()), 80) == text(
        "tools                         above 50 % up to n = 4",
        "GPT-3.5 in the PDoctor paper  46 % with 3–5 actions (OT), under 20 % at 4",
        "GPT-4 in the PDoctor paper    78 % with 3–5 actions (OT), under 20 % at 8",
    )


def test_a_narrow_terminal() -> None:
    assert shown(capability_plot([FALLEN]), 30) == text(
        " 100 % ┤ ●   │",
        "       │ │···●",
        "       │ │  ·│·",
        "       │ │   │··",
        "       │       ··",
        "  75 % ┤        ·│",
        "       │         ●",
        "       │         │·",
        "       │         │··",
        "       │           ·",
        "  50 % ┤x          ·+",
        "       │            ·│",
        "       │             ●",
        "       │             │·",
        "       │              ··",
        "  25 % ┤    x          ··",
        "       │╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌··╌╌",
        "       │                 │",
        "       │        x        ●",
        "       │            x    │",
        "   0 % ┤                x",
        "       └────────────────────",
        "actions  2   3   4   5   6",
        "● react, gpt",
        "│ 95 % interval   · fitted   …",
    )


def test_the_points_in_figures() -> None:
    first = msgspec.structs.replace(POINTS[0], baselines=Baselines(0.25, 1.0))
    assert shown(capability_table(curve("a", first, POINTS[1])), 80) == text(
        "actions  cases  success   95 % interval  chance  text order  ignores family",
        "      2     20  100.0 %  83.9 – 100.0 %  50.0 %      25.0 %         100.0 %",
        "      3     60   95.0 %   86.3 – 98.3 %  24.0 %           –               –",
    )
    unjudged = Point(4, 3, 0, 0, None, (0.0, 1.0), None)
    assert shown(capability_table(curve("a", *POINTS[:2], unjudged)), 90) == text(
        "actions  cases  judged  success   95 % interval  chance  text order  ignores family",
        "      2     20      20  100.0 %  83.9 – 100.0 %  50.0 %           –               –",
        "      3     60      60   95.0 %   86.3 – 98.3 %  24.0 %           –               –",
        "      4      3       0        –               –       –           –               –",
    )


def test_errors_by_kind() -> None:
    errors = {"timeout": 0, "act": 1, "lost": 8, "parameter": 0, "order": 88}
    table = error_table([curve("react", model="gpt", errors=errors), curve(HOSTILE)])
    assert shown(table, 80) == text(
        "error      react, gpt  [red]\\u001b[2J\\u202e",
        "timeout         0.0 %                     –",
        "act             1.0 %                     –",
        "lost            8.2 %                     –",
        "order          90.7 %                     –",
        "parameter       0.0 %                     –",
        "failures           97                     0",
    )


def test_how_far_they_get() -> None:
    bad = Fit(HALF, 0.8, 0.002)
    table = how_far_table([FALLEN, curve(HOSTILE, *POINTS[:2], limit=3, half=HALF, fit=bad)])
    assert shown(table, 80) == text(
        "react, gpt            50 % at n = 4.7 [4.4, 5.1]",
        "                      limit 5 actions: under 20 % beyond",
        "[red]\\u001b[2J\\u202e  50 % at n = 4.7 [4.4, 5.1]",
        "                      limit at least 3 actions: never under 20 %",
        "                      the fitted curve does not match the points (p = 0.002):",
        "                      rely on the points",
    )


def test_nothing_to_draw() -> None:
    assert shown(capability_plot([])) == "no case has been run"
    assert shown(capability_plot([curve("a")])) == "no case has been run"
    unjudged = capability_plot([curve("a", Point(4, 3, 0, 0, None, (0.0, 1.0), None))])
    assert "●" not in shown(unjudged).split("● a")[0]


@pytest.mark.parametrize("agents", [1, 3, 6, 9])
@pytest.mark.parametrize("sizes", [range(2, 3), range(2, 10), range(2, 21)])
@pytest.mark.parametrize("width", [24, 80, 200])
def test_it_never_breaks_a_line(agents: int, sizes: range, width: int) -> None:
    curves = [falling(f"agent {number} " + "x" * 200, sizes, 3 + number) for number in range(agents)]
    lines = shown(capability_plot(curves), width).split("\n")
    assert len(lines) == 21 + 2 + agents + 1
    assert max(cell_len(line) for line in lines[:23]) <= min(80, width)


def test_each_curve_has_a_sign_of_its_own_where_there_is_room() -> None:
    curves = [falling("a", range(2, 10), 3 + number) for number in range(6)]
    drawn = "".join(shown(capability_plot(curves), 80).split("\n")[:21])
    assert {sign for sign in SIGNS if drawn.count(sign) >= 6} == set(SIGNS)


def test_colours_say_nothing_that_signs_do_not() -> None:
    written = StringIO()
    console = Console(file=written, width=80, force_terminal=True, color_system="standard", no_color=False)
    console.print(capability_plot([FALLEN]))
    coloured = written.getvalue().rstrip("\n")
    assert "\x1b[36m●" in coloured
    plain = Text.from_ansi(coloured).plain
    assert "\n".join(line.rstrip() for line in plain.split("\n")) == shown(capability_plot([FALLEN]), 80)


def test_every_sign_is_as_wide_as_a_letter() -> None:
    assert all(cell_len(sign) == 1 for sign in SIGNS)
