"""`misstep tool crosstalk` as it is typed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.store.runs import Store
from tests.conftest import Command, Result
from tests.features.consistency.stored_run import keep_sets
from tests.features.crosstalk.grouped_tools import GOOD, NOISY, eager, write_tools
from tests.fuzzing.agent_tests.scripted_roles import always, plays
from tests.scripted import ScriptedServer

SPECS = ("desk.py:tools", "web.py:tools")
GROUPS = '[groups]\nfiles = ["read_file"]\nclock = ["tell_time"]\nweb = ["search_web"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tools(tmp_path)
    (tmp_path / "groups.toml").write_text(GROUPS)
    return tmp_path


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(plays(GOOD, eager)) as server:
        yield server


def crosstalk(misstep: Command, server: ScriptedServer, *given: str) -> Result:
    model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url)
    return misstep("tool", "crosstalk", *SPECS, *model, "--sandbox", "none", "--display", "none", *given)


def test_a_run_is_shown(folder: Path, misstep: Command, server: ScriptedServer) -> None:
    printed = crosstalk(misstep, server, "--count", "2")
    assert printed.code == 1
    assert "1 of 6 requests led to tools of other groups: 16.7 %" in printed.out
    lines = [line.strip() for line in printed.out.splitlines()]
    where = lines.index("meant for clock")
    assert lines[where + 1 : where + 3] == [NOISY, 'search_web({"query": "Rome"})']
    shown = misstep("show", "last")
    assert printed.out in shown.out
    assert "tool crosstalk" in shown.out
    told = json.loads(misstep("show", "last", "--json").out)
    assert told["matrix"]["clock"] == {"files": 1, "clock": 0, "web": 1}
    assert (told["judged"], told["activating"], told["interval"][0] > 0) == (6, 1, True)
    assert [(tool["name"], tool["by_group"]) for tool in told["tools"][:2]] == [
        ("search_web", {"clock": 1}),
        ("read_file", {"clock": 1}),
    ]
    assert [group["verdict"] for group in told["groups"]] == ["passed", "failed", "passed"]
    assert "crosstalk" in misstep("runs").out


def test_a_gate_that_lets_some_through(folder: Path, misstep: Command, server: ScriptedServer) -> None:
    given = ("--groups", "groups.toml", "--count", "2", "--fail-on", "threshold:0.8", "--json")
    assert crosstalk(misstep, server, *given).code == 0


def test_a_model_that_cannot_group_is_no_dead_end(folder: Path, misstep: Command) -> None:
    with ScriptedServer(plays({**GOOD, "groups": always("\x1b[2J\u202eI'd rather not.")}, eager)) as server:
        printed = crosstalk(misstep, server)
    assert printed.code == 2
    assert printed.err.startswith(
        "the tools could not be grouped: openai/x gave no valid answer in 3 attempts"
    )
    assert not {"\x1b", "\u202e"} & set(printed.err)
    assert "I'd rather not." in printed.err
    assert (
        "start a new run with --groups FILE to group the tools yourself\n  resume with: misstep tool crosstalk --resume"
        in printed.err
    )
    assert "show findings" not in printed.err


@pytest.mark.full
def test_requests_of_an_earlier_run(folder: Path, misstep: Command, server: ScriptedServer) -> None:
    own = PromptSet("s", "passed", requests=("is it late?", NOISY))
    with Store(str(folder / ".misstep" / "store.db"), create=True) as store:
        source = keep_sets(store, [ConsistencyReport("tell_time", (own,))])
        nothing = keep_sets(store, [ConsistencyReport("other", (own,))])
    printed = crosstalk(misstep, server, "--groups", "groups.toml", "--from", source, "--json")
    told = {group["name"]: group for group in json.loads(printed.out)["groups"]}
    assert {each["request"] for each in told["clock"]["requests"]} == {"is it late?", NOISY}
    assert told["web"]["why"] == f"run {source} has no requests for its tools"
    assert told["web"]["verdict"] == "inconclusive"
    assert printed.code == 1
    refused = crosstalk(misstep, server, "--groups", "groups.toml", "--from", nothing)
    assert refused.code == 2
    assert "has no requests for any of these tools" in refused.err


@pytest.mark.full
def test_a_run_that_was_stopped_is_shown(folder: Path, misstep: Command, server: ScriptedServer) -> None:
    printed = crosstalk(misstep, server, "--count", "2", "--jobs", "1", "--budget-calls", "1")
    assert printed.code == 3
    assert "clock: stopped early" in printed.out
    assert "misstep tool crosstalk --resume" in printed.err
    again = misstep("tool", "crosstalk", "--resume", "last", "--budget-calls", "9", "--display", "plain")
    assert again.code == 1
    assert "1 group done before" in again.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no tools were given"),
        (["desk.py:tools"], "no agent given"),
        (["desk.py:tools", "--agent", "sim:perfect"], "can't call real tools"),
        (["desk.py:tools", "--agent", "tools"], "no model given"),
        (["desk.py:tools", "--resume", "last"], "can't be combined with --resume"),
        (["--groups", "groups.toml", "--resume", "last"], "--groups can't be combined with --resume"),
        (["desk.py:tools", "--agent", "tools", "--model", "local", "--groups", "no.toml"], "No such file"),
        (["desk.py:tools", "--agent", "tools", "--model", "local", "--groups", "groups.toml"], "search_web"),
        (["desk.py:tools", "--agent", "tools", "--model", "local", "--from", "x"], "no store here yet"),
    ],
)
def test_mistakes_are_told(folder: Path, misstep: Command, arguments: list[str], told: str) -> None:
    printed = misstep("tool", "crosstalk", *arguments)
    assert printed.code == 2
    assert told in printed.err
    assert "Traceback" not in printed.err
