"""A key of the environment that tools, models and agents say: nothing that is kept or shown has it."""

import json
from pathlib import Path

import pytest

from misstep.fuzzing.agent_tests.prompts import Stage
from tests.conftest import Command, Result
from tests.features.crosstalk.grouped_tools import GOOD as STRANGERS
from tests.features.crosstalk.grouped_tools import GROUPS, eager, write_tools
from tests.fuzzing.agent_tests.bills import GOOD as CRASHING
from tests.fuzzing.agent_tests.bills import agent
from tests.fuzzing.agent_tests.scripted_roles import Answer, always, plays
from tests.fuzzing.consistency.roads import GOOD as ROADS
from tests.fuzzing.consistency.roads import INFILLS, STIFF, TEMPLATE, as_said
from tests.scripted import Script, ScriptedServer, calling

KEY = "s3cr3t-key-0123"
REPORTS = ("--report", "html,junit,sarif,json,md,ndjson", "--report-dir", "out")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", KEY)


SPEC = f"mcp:python server.py --token {KEY}"
MODEL = ("--agent", "tools", "--model", "x", "--model-base-url", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    "given",
    [
        ("tool", "fuzz", SPEC),
        ("tool", "fuzz", SPEC, *MODEL),
        ("tool", "consistency", SPEC, *MODEL),
        ("tool", "crosstalk", SPEC, *MODEL),
        ("tool", "fix", SPEC, *MODEL, "--bench", "files", "--strategy", "explore"),
        ("bench", "files", "--tools", SPEC, *MODEL),
    ],
    ids=" ".join,
)
def test_a_key_in_a_spec_is_refused(tmp_path: Path, misstep: Command, given: tuple[str, ...]) -> None:
    result = misstep(*given, "--store", "s.db")
    assert result.code == 2
    assert "contains the value of a secret environment variable" in result.err
    assert KEY not in result.out + result.err
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def command(misstep: Command, script: Script, verb: str, *given: str) -> Result:
    with ScriptedServer(script) as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, "--retries", "0")
        return misstep("tool", verb, *given, *model, "--max-steps", "5", "--sandbox", "none", "--jobs", "1")


def assert_masked(folder: Path, *printed: Result) -> None:
    """There are a store and reports, in which something was masked, and the key is nowhere."""
    written = b"".join(
        path.read_bytes() for path in folder.rglob("*") if path.suffix != ".py" and path.is_file()
    )
    said = "".join(each.out + each.err for each in printed)
    assert b"[secret]" in written
    assert KEY.encode() not in written
    assert "[secret]" in said
    assert KEY not in said


ROAD = f'''
def road(start: str, end: str) -> str:
    """How far it is by road from one city to another."""
    return "465 km" if "France" in start and "France" in end else "{KEY}"
'''


def test_answers_of_tools(tmp_path: Path, misstep: Command) -> None:
    """The model says it in templates, infills, messages, expectations, reasons; the agent in calls, answers."""
    (tmp_path / "roads.py").write_text(ROAD)
    stages: dict[Stage, Answer] = {
        **ROADS,
        "templates": always({"templates": [f"{TEMPLATE} ({KEY})"]}),
        "infills": always({"infills": {**INFILLS, "start": [f"Paris {KEY}", "Paris, France"]}}),
        "humanise": always({"requests": [f"{each} {KEY}" for each in STIFF]}),
        "emulate": always({"answer": f"465 km {KEY}"}),
        "majority": always({"statement": f"465 km {KEY}"}),
        "judge": always({"reason": f"it says {KEY}", "score": 1}),
    }
    script = plays(stages, as_said, answer_to=lambda _: f"It is {KEY}.")
    printed = command(
        misstep, script, "consistency", "roads.py:road", "--count", "1", "--variants", "4", *REPORTS
    )
    assert printed.code == 1
    shown = misstep("show", "last", "--json")
    (one,) = json.loads(shown.out)["tools"][0]["sets"]
    assert one["template"] == f"{TEMPLATE} ([secret])"
    assert_masked(tmp_path, printed, shown, misstep("show", "last", one["id"]))


def test_requests_and_groups_for_other_tools(tmp_path: Path, misstep: Command) -> None:
    write_tools(tmp_path)
    first, *others = GROUPS["groups"]
    stages: dict[Stage, Answer] = {
        **STRANGERS,
        "groups": always({"groups": [{**first, "name": KEY}, *others]}),
        "crosstalk": always({"requests": [f"how late is it in Rome? {KEY}"]}),
    }
    given = ("desk.py:tools", "web.py:tools", "--count", "1")
    printed = command(misstep, plays(stages, eager, answer_to=lambda _: KEY), "crosstalk", *given)
    assert printed.code == 1
    assert_masked(tmp_path, printed, misstep("show", "last", "--json"))


def test_a_model_that_can_not_sort_tools(tmp_path: Path, misstep: Command) -> None:
    write_tools(tmp_path)
    wrong = always({"groups": [{"name": KEY, "tools": []}]})
    printed = command(misstep, plays({"groups": wrong}), "crosstalk", "desk.py:tools", "web.py:tools")
    assert printed.code == 2
    assert "[secret]" in printed.err
    assert KEY not in printed.err


BOOK = f'''
def book_room(nights: int) -> str:
    """Book a room for some nights."""
    if nights > 14:
        raise ValueError("no more than 14 nights can be booked with {KEY}")
    return f"booked for {{nights}} nights"
'''


def test_refusals(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "room.py").write_text(BOOK)
    request = f"A room for 3 weeks with {KEY}"
    stages: dict[Stage, Answer] = {
        **CRASHING,
        "request": always({"requests": [request]}),
        "refusal": always({"reason": f"nothing is said about {KEY}", "surprising": True}),
        "foretold": always({"reason": KEY, "foreseen": False}),
    }
    script = plays(stages, agent({request: [calling("book_room", nights=21)]}), answer_to=lambda _: KEY)
    printed = command(misstep, script, "fuzz", "room.py:book_room", "--calls-per-tool", "30", *REPORTS)
    assert "refusal  ValueError" in printed.out
    (finding,) = json.loads(misstep("show", "last", "--json").out)["tools"][0]["findings"]
    assert finding["request"] == "A room for 3 weeks with [secret]"
    assert_masked(tmp_path, printed, misstep("replay", f"last/{finding['id']}"))


LINTED = f'''
def weather(city: str, unit: str) -> str:
    """Tell the weather.

    Args:
        city: The city to look at.
        unit: What to measure in.
    """
    if unit not in ("celsius", "{KEY}"):
        raise ValueError("that unit is not supported")
    return f"{{city}}: 20 {{unit}}"
'''


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_documentation(tmp_path: Path, misstep: Command, form: tuple[str, ...]) -> None:
    (tmp_path / "sky.py").write_text(LINTED)
    printed = misstep("tool", "lint", "sky.py:weather", "--calls-per-tool", "30", "--sandbox", "none", *form)
    assert "[secret]" in printed.out
    assert KEY not in printed.out + printed.err


def test_what_an_agent_prints(tmp_path: Path, misstep: Command) -> None:
    shaped = "ghp_" + "a1B2c3D4e5" * 3
    (tmp_path / "talks.py").write_text(
        "import os, sys\n\n\ndef agent(request, tools):\n"
        f"    print('key', os.environ['SERVICE_API_KEY'], '{shaped[:4]}' + '{shaped[4:]}', file=sys.stderr)\n"
        "    return 'Done.'\n"
    )
    done = misstep("plan", "test", "--agent", "talks.py:agent", "--count", "2", "--fail-on", "none")
    assert "key [secret] [secret]" in done.err
    assert KEY not in done.err + done.out
    assert shaped not in done.err + done.out
