"""What an earlier run has left goes to the tools that it is about, in the same order each time."""

import json
from typing import Any

from misstep.core.agent import Tool
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ToolReport
from misstep.core.tool import Described, Invocation
from misstep.features.tool_fuzz.worker import SeedCorpus
from misstep.runs.setup.workbenches import find_targets


def text(*tools: str) -> str:
    return json.dumps([{"tool": tool, "arguments": {}} for tool in tools])


def report(place: int, calls: tuple[str, ...], *corpus: str) -> ToolReport:
    made = tuple(Invocation(tool, "{}") for tool in calls)
    given: dict[str, Any] = dict.fromkeys(
        ("id", "tool", "error", "where", "message", "why", "signature"), "x"
    )
    finding = Finding(**given, kind="crash", calls=made, original=made, found_after=1)
    return ToolReport("x", 1, (finding,), corpus=corpus, place=place)


def test_findings_come_first_and_each_tool_gets_its_own() -> None:
    kept = SeedCorpus(
        [
            report(2, ("add", "drop"), text("drop", "drop")),
            report(1, ("add",), text("add", "add"), text("add")),
        ]
    )
    assert kept.for_tools(["add"]) == [text("add"), text("add", "add")]
    assert kept.for_tools(["drop"]) == [text("drop", "drop")]
    assert kept.for_tools(["add", "drop"]) == [text("add", "drop")]
    assert kept.for_tools(["other"]) == SeedCorpus().for_tools(["add"]) == []


def test_tools_are_told_apart_where_others_have_their_names() -> None:
    def tool(name: str) -> Described:
        return Described(Tool(name, "", {}), "function")

    specs = {"/a/one.py:tools": [tool("add"), tool("drop")], "/a/two.py:tools": [tool("add")]}
    titles = [target.titles for target in find_targets(specs, ())]
    assert titles == [{"add": "add of one.py:tools"}] * 3 + [{"add": "add of two.py:tools"}]
    assert [target.titles for target in find_targets({"one.py": [tool("add")]}, ())] == [{}]
