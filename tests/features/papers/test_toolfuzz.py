"""What runs have noted stands beside what they are compared by."""

import io
import json
from pathlib import Path

from rich.console import Console

from misstep.features.papers.toolfuzz import compare_methods, methods_as_json, methods_view
from tests.features.tool_fuzz.reproduce.with_agent import reproduce, settings_in
from tests.fuzzing.agent_tests.bills import GOOD, SOURCE, SPLITS
from tests.fuzzing.agent_tests.scripted_roles import plays
from tests.scripted import Fault

NOTE = "split_bill: time ran out: 1 not tried with the agent"


def test_time_that_was_up_is_told_with_the_table(tmp_path: Path) -> None:
    (tmp_path / "bills.py").write_text(SOURCE)
    late = plays(GOOD, SPLITS, faults=[None, None, None, Fault("hang")])
    reproduce(tmp_path, late, time_per_tool=2.0, calls_per_tool=20)
    comparison = compare_methods(settings_in(tmp_path, ""), [], ["last"])
    (result,) = comparison.runtime
    assert NOTE in result.notes
    assert NOTE in json.dumps(methods_as_json(comparison), ensure_ascii=False)
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(methods_view(comparison))
    assert f"{result.run}: {NOTE}" in console.export_text()
