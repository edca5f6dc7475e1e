"""The page about benchmarks says what the code does."""

import re
from pathlib import Path

from misstep.benchmarks.files import shell
from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.suite import public_tasks
from misstep.benchmarks.files.tools import TOOLS

PAGE = (Path(__file__).parents[3] / "docs/reference/benchmarks.md").read_text()


def test_the_table_of_kinds_is_complete() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", PAGE, re.MULTILINE)
    assert [(kind, int(forms)) for kind, forms in rows] == [
        (kind, len(forms)) for kind, forms in KINDS.items()
    ]


def test_the_numbers_are_those_of_the_suite() -> None:
    splits = [task.split for task in public_tasks()]
    assert f"has {len(splits)} tasks" in PAGE
    parts = f"{splits.count('validation')} for validation and {splits.count('test')} for tests"
    assert parts in " ".join(PAGE.split())
    assert f"{shell.PATIENCE:g} seconds and {shell.MOST_SAID:,} bytes" in PAGE


def test_every_tool_is_named() -> None:
    assert [tool.__name__ for tool in TOOLS if f"`{tool.__name__}`" not in PAGE] == []
