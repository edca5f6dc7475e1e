"""Gates are passed, and what was planted behind them is found, with nothing known but what was observed."""

from typing import Any

import pytest

from tests.fuzzing.branch_solver import gated
from tests.fuzzing.branch_solver.climbing import Tool, climb

# The tool, arguments that say nothing, what is planted, and the calls within which it is found.
PLANTED: list[tuple[Tool, dict[str, Any], str, int]] = [
    (gated.prefixed, {"query": "x"}, "IndexError", 20),
    (gated.setting, {"line": "x"}, "too many values", 20),
    (gated.deep, {"document": "x"}, "KeyError: 'rights'", 60),
    (gated.anniversary, {"day": "x"}, "ValueError: day is out of range", 10),
    (gated.order, {"number": "x"}, "AttributeError", 20),
    (gated.row, {"table": "x"}, "IndexError", 40),
    (gated.price, {"size": "x", "money": 1}, "ZeroDivisionError", 10),
    (gated.paint, {"colour": "x"}, "KeyError", 10),
    (gated.page, {"url": "x"}, "KeyError", 30),
    (gated.between, {"first": 7, "last": 3}, "ZeroDivisionError", 10),
    (gated.same, {"password": "x", "again": "y"}, "IndexError", 40),
    (gated.port, {"address": "x"}, "ZeroDivisionError", 20),
    (gated.literal, {"value": "x"}, "can only concatenate", 20),
    (gated.token, {"text": "x"}, "KeyError", 20),
    (gated.modulo, {"number": 1}, "ZeroDivisionError", 20),
    (gated.command, {"line": "x"}, "IndexError", 20),
    (gated.branches, {"steps": []}, "TypeError", 60),
    (gated.matched, {"shape": {}}, "ZeroDivisionError", 60),
    (gated.matched, {"shape": []}, "KeyError", 60),
    (gated.digits, {"code": "x"}, "ValueError", 20),
    (gated.listed, {"items": "x"}, "ZeroDivisionError", 40),
    (gated.voucher, {"code": "x"}, "ZeroDivisionError", 20),
    (gated.ledger, {"table": "x"}, "could not convert", 20),
    (gated.window, {"window": {"start": "x", "limit": 1}}, "IndexError", 30),
]


@pytest.mark.full(after=7)
@pytest.mark.parametrize(
    ("tool", "arguments", "wanted", "most"), PLANTED, ids=lambda value: getattr(value, "__name__", None)
)
def test_what_is_planted_behind_a_gate_is_found(
    tool: Tool, arguments: dict[str, Any], wanted: str, most: int
) -> None:
    assert climb(tool, arguments, wanted, most) is not None
