"""Tools fuzzed on a real cluster of two nodes, with the same results as here."""

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep.core.event import Event, FindingMade, ItemStarted, Notice, ToolFinished
from misstep.core.results.fuzzing import FuzzReport
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.tool_fuzz.cluster.on_ray import NEEDS, FuzzActor, SpecWork
from misstep.features.tool_fuzz.run import fuzz_tools, resume_fuzzing, view_fuzzing
from misstep.features.tool_fuzz.worker import SeedCorpus
from misstep.tool_host.sandbox.bubblewrap import find_bubblewrap
from tests.clusters import ray_cluster, with_two_nodes

pytestmark = pytest.mark.full

TOOLS = '''
def first(words: list[str]) -> str:
    """The first word."""
    return words[0]


def ratio(part: int, whole: int) -> float:
    """The share of a part."""
    return part / whole
'''
SERVER = """
import json
import sys
from pathlib import Path

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SAFE = {"readOnlyHint": True}
TOOLS = [
    {"name": "first_word", "description": "The first word.", "inputSchema": TEXT},
    {"name": "show_size", "description": "The size of a text.", "inputSchema": TEXT, "annotations": SAFE},
]


def reply(request):
    given = request.get("params", {})
    if request["method"] == "initialize":
        about = {"name": "words", "version": "1"}
        return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if request["method"] == "tools/list":
        return {"tools": TOOLS}
    text = given.get("arguments", {}).get("text")
    if given.get("name") not in ("first_word", "show_size") or not isinstance(text, str):
        return {"content": [{"type": "text", "text": "text is missing, or the tool"}], "isError": True}
    if given.get("name") == "first_word" and not text.split():
        return {"content": [{"type": "text", "text": "IndexError: list index out of range"}], "isError": True}
    if given.get("name") == "show_size":
        Path("seen.txt").write_text(f"{len(text)} letters")
    return {"content": [{"type": "text", "text": (text.split() or ["nothing"])[0]}]}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": reply(request)}), flush=True)
"""
ON_WORKER = """
import os, signal


def worker():  # the process of the worker that has started this one; 0 if there is none
    process = os.getpid()
    while process > 1:
        with open(f"/proc/{process}/cmdline") as file:
            if file.read().startswith("ray::"):
                return process
        with open(f"/proc/{process}/stat") as file:
            process = int(file.read().rpartition(")")[2].split()[1])
    return 0
"""
DYING_ONCE = """
if worker() and not os.path.exists(__file__ + ".died"):
    open(__file__ + ".died", "w").close()
    os.kill(worker(), signal.SIGKILL)
"""
DYING_LATE = """
import time

def ratio(part: int, whole: int) -> float:
    if worker() and not os.path.exists(__file__ + ".died"):
        time.sleep(2)  # the report on the first tool is heard meanwhile
        open(__file__ + ".died", "w").close()
        os.kill(worker(), signal.SIGKILL)
    return part / whole

tools = [first, ratio]
"""
MISSING = """
if worker():
    import no_such_package
"""


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    with ray_cluster() as cluster:
        yield cluster


@pytest.fixture
def specs(tmp_path: Path) -> list[str]:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.py").write_text(f"{TOOLS}\n\ntools = [first, ratio]\n")
    return [f"{tmp_path}/{name}.py:tools" for name in ("one", "two", "three")]


def settings(folder: Path, **own: Any) -> Settings:
    return Settings(
        store=f"{folder}/store.db", calls_per_tool=60, timeout=10.0, seed=3, jobs=2, sandbox="none"
    ).overlay(own)


def told(report: FuzzReport) -> list[Any]:
    return [
        (each.name, each.calls, each.refused, each.ended, [finding.id for finding in each.findings])
        for each in report.tools
    ]


def test_reports_are_the_same_as_here(head: Any, tmp_path: Path, specs: list[str]) -> None:
    events = list[Event]()
    address = with_two_nodes(head).address
    there = fuzz_tools(settings(tmp_path, on="ray", ray_address=address), specs, events.append)
    here = fuzz_tools(settings(tmp_path), specs)
    assert told(there) == told(here)
    assert len(there.findings) == 6
    assert {each.origin for each in events if isinstance(each, FindingMade)} == {
        "one.py:tools",
        "two.py:tools",
        "three.py:tools",
    }


@pytest.mark.skipif(bool(find_bubblewrap().problem), reason="there is no bubblewrap")
def test_servers_are_tested_in_the_sandbox_as_here(head: Any, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(SERVER)
    specs = [f"mcp:{sys.executable} {tmp_path}/words.py {name}" for name in ("one", "two")]
    own = settings(tmp_path, calls_per_tool=30, sandbox="bubblewrap")
    address = with_two_nodes(head).address
    there = fuzz_tools(own.overlay({"on": "ray", "ray_address": address}), specs)
    here = fuzz_tools(own, specs)
    assert told(there) == told(here)
    assert {(each.tool, each.kind) for each in there.findings} == {
        ("first_word", "crash"),
        ("show_size", "contract"),
    }
    assert len(there.findings) == 4


def test_a_spec_whose_worker_dies_is_fuzzed_again(head: Any, tmp_path: Path, specs: list[str]) -> None:
    path = tmp_path / "two.py"
    path.write_text(f"{ON_WORKER}{DYING_ONCE}{path.read_text()}")
    events = list[Event]()
    address = with_two_nodes(head).address
    there = fuzz_tools(settings(tmp_path, on="ray", ray_address=address), specs[1:2], events.append)
    lost = [each.text for each in events if isinstance(each, Notice) and "lost" in each.text]
    assert lost == ["a worker was lost; two.py:tools continues on another one"]
    assert told(there) == told(fuzz_tools(settings(tmp_path), specs[1:2]))


def test_a_tool_with_a_final_report_is_not_fuzzed_again(head: Any, tmp_path: Path, specs: list[str]) -> None:
    path = tmp_path / "two.py"
    path.write_text(f"{ON_WORKER}{path.read_text()}{DYING_LATE}")
    events = list[Event]()
    there = fuzz_tools(
        settings(tmp_path, on="ray", ray_address=with_two_nodes(head).address), specs[1:2], events.append
    )
    assert any(isinstance(each, Notice) and "lost" in each.text for each in events)
    started = [each.name for each in events if isinstance(each, ItemStarted)]
    finished = [each.report.name for each in events if isinstance(each, ToolFinished)]
    assert (started.count("first"), started.count("ratio")) == (1, 2)
    assert sorted(finished) == sorted({*finished}) == sorted(each.name for each in there.tools)
    assert told(there) == told(fuzz_tools(settings(tmp_path), specs[1:2]))


def test_an_error_of_a_node_says_what_nodes_need(tmp_path: Path) -> None:
    lacking = settings(tmp_path, descriptions=str(tmp_path / "missing.toml"))
    actor = FuzzActor(pickle.dumps(SpecWork(lacking, (), (), SeedCorpus(), None)), os.getcwd())
    with pytest.raises(UsageError) as caught:
        actor.fuzz()
    assert NEEDS in caught.value.hints
    assert pickle.loads(pickle.dumps(caught.value)).hints == caught.value.hints


def test_tools_that_a_node_lacks_are_named_and_the_others_are_tested(
    head: Any, tmp_path: Path, specs: list[str]
) -> None:
    path, specs = tmp_path / "two.py", specs[:2]
    path.write_text(f"{ON_WORKER}{MISSING}{path.read_text()}")
    on_ray = settings(tmp_path, on="ray", ray_address=with_two_nodes(head).address, run_name="lacking")
    with pytest.raises(UsageError, match=r"no_such_package.*every node needs") as caught:
        fuzz_tools(on_ray, specs)
    assert caught.value.where == specs[1]
    report = view_fuzzing(on_ray, "lacking")
    assert [each.calls > 0 for each in report.tools] == [True] * 3 + [False] * 3
    path.write_text(path.read_text().replace(MISSING, ""))
    assert told(resume_fuzzing(on_ray.overlay({"resume": "lacking"}))) == told(
        fuzz_tools(settings(tmp_path), specs)
    )


def test_what_a_cluster_cannot_do_is_refused(tmp_path: Path, specs: list[str]) -> None:
    for own, words in (
        ({"on": "ray", "budget_calls": 5}, "--on ray can't be combined with --budget-calls"),
        ({"ray_address": "auto"}, "--ray-address requires --on ray"),
    ):
        with pytest.raises(UsageError, match=words):
            fuzz_tools(settings(tmp_path, **own), specs)
