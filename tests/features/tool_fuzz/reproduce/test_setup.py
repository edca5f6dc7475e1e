"""Interviews that can not begin."""

from pathlib import Path
from typing import Any

import pytest

from misstep.errors import UsageError
from misstep.features.tool_fuzz.run import fuzz_tools
from tests.features.tool_fuzz.reproduce.with_agent import reproduce, settings_in
from tests.fuzzing.agent_tests.scripted_roles import plays


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tool_method": "whitebox", "from_run": "last"}, "--from can't be combined with --method whitebox"),
        ({"agent": "", "tool_method": "greybox"}, "--method greybox requires --agent"),
        ({"agent": "", "skip_sanity": True}, "--skip-sanity requires --agent"),
        ({"agent": "sim:perfect"}, "can't call real tools"),
        ({"model": "", "agent": "tools"}, "no model given"),
        ({"budget_usd": 1.0}, "the price of openai/x is unknown"),
    ],
)
def test_what_can_not_work_is_told_at_once(place: Path, given: dict[str, Any], told: str) -> None:
    settings = settings_in(place, "http://127.0.0.1:9/v1", **given)
    with pytest.raises(UsageError, match=told):
        fuzz_tools(settings, [f"{place}/bills.py:split_bill"])
    assert not (place / "store.db").exists()


def test_tools_that_can_not_be_imported(place: Path) -> None:
    (place / "bills.py").write_text("import nothing_of_that_name\n")
    with pytest.raises(UsageError, match="nothing_of_that_name"):
        reproduce(place, plays({}))
