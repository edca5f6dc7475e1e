"""Every kind of flaw that there can be has a rule."""

import ast
from pathlib import Path
from typing import get_args

import misstep
from misstep.core.outcome import ERROR_KINDS
from misstep.core.results.diagnosis import CAUSES
from misstep.core.results.finding import FindingKind
from misstep.interop.sarif import RULES

LINT = Path(misstep.__file__).parent / "fuzzing" / "lint"


def lint_rules() -> set[str]:
    """The names that remarks are made with, read from the source."""
    calls = (
        node
        for path in LINT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Remark"
    )
    return {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}


def test_every_kind_has_one() -> None:
    kinds = [f"plan/{kind}" for kind in ERROR_KINDS]
    kinds += [f"cause/{cause}" for cause in CAUSES]
    kinds += [f"tool/{kind}" for kind in get_args(FindingKind)]
    found = lint_rules()
    assert len(found) > 5
    assert {*kinds, *(f"lint/{rule}" for rule in found)} <= set(RULES)
