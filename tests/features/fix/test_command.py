"""`misstep tool fix` as it is typed, and what is typed wrong."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.rendering.html.page import run_page
from misstep.runs.reporting.statement import page_of
from tests.conftest import Command
from tests.features.consistency.two_roads import two_roads
from tests.fuzzing.agent_tests.scripted_roles import always, fenced_in
from tests.fuzzing.consistency.roads import SOURCE, as_said
from tests.scripted import Call, ScriptedServer, calling

SHORT = ("--sandbox", "none", "--display", "none", "--max-steps", "5", "--retries", "0", "--jobs", "1")
BETTER = {
    "misleads": ["it does not ask for countries"],
    "argument": "it could",
    "description": "How far it is by road. Name the country with each city.",
}


class Travelling:
    """A model that names the country if the documentation says so; `server` is where it is."""

    def __init__(self, **stages: object) -> None:
        answers = {"fix-findings": always(BETTER), "fix-description": always(BETTER), **stages}
        self.server = ScriptedServer(two_roads(self._plan, **answers))  # type: ignore[arg-type]

    def _plan(self, request: str, tools: list[str]) -> Sequence[Call]:
        told = json.dumps([each.body.get("tools") for each in self.server.requests[-1:]])
        if "Name the country" in told:
            return [calling("road", start="Paris, France", end="Lyon, France")]
        return as_said(request, tools)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScriptedServer]:
    (tmp_path / "roads.py").write_text(SOURCE)
    with Travelling().server as served:
        yield served


def given(server: ScriptedServer, verb: str, *more: str, spec: str = "roads.py:road") -> list[str]:
    model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url)
    return ["tool", verb, spec, *model, *SHORT, *more]


def asked(misstep: Command, server: ScriptedServer, count: str = "2") -> None:
    made = misstep(*given(server, "consistency", "--variants", "4", "--count", count, "--fail-on", "none"))
    assert made.code == 0, made.err


def test_answers_that_a_judge_finds_right_count(
    tmp_path: Path, misstep: Command, server: ScriptedServer
) -> None:
    asked(misstep, server)
    printed = misstep(
        *given(
            server,
            "fix",
            *("--from", "last", "--candidates", "1", "--write", "--json"),
            spec="roads.py:tools",
        )
    )
    assert printed.code == 0
    (one,) = json.loads(printed.out)["tools"]
    assert (one["tool"], one["validation"]["judged"]) == ("road", 4)  # a whole set
    assert json.loads(printed.out)["usd"] is None  # nobody has said what this model costs
    assert [one[when]["passed"] for when in ("before", "after")] == [1, 4]
    page = run_page(page_of(Settings(), "last"))
    assert "<h2>road</h2>" in page
    assert "candidate 1 (findings) is better on the held-out part: " in page
    assert BETTER["description"] in page
    anew = (tmp_path / "roads.py").read_text()
    assert anew == SOURCE.replace("How far it is by road from one city to another.", BETTER["description"])


def test_whoever_explores_without_end_is_stopped_after_five_rounds(tmp_path: Path, misstep: Command) -> None:
    """Each time the model says something else altogether; the words that it has come to by then are tried."""
    thoughts = [BETTER["description"], *["abcdefghijklm"[at] * 40 for at in range(13)]]

    def observe(prompt: str) -> object:
        seen = len(json.loads(fenced_in(prompt)[1]))
        return {"description": thoughts[(seen - 5) % len(thoughts)], "parameters": {}}

    stages = {
        "fix-explore": always({"reason": "to see", "arguments": {"start": "Paris", "end": "Lyon"}}),
        "fix-observed": observe,
    }
    (tmp_path / "roads.py").write_text(SOURCE)
    with Travelling(**stages).server as server:
        asked(misstep, server)
        more = ("--from", "last", "--strategy", "explore", "--candidates", "1", "--json")
        printed = misstep(*given(server, "fix", *more))
    (candidate,) = json.loads(printed.out)["tools"][0]["candidates"]
    assert candidate["tried"] == ['road({"start": "Paris", "end": "Lyon"}) → 939 km'] * 5
    assert (candidate["description"], candidate["validation"]["rate"]) == (BETTER["description"], 1.0)


def test_other_words_are_told_to_the_agent(tmp_path: Path, misstep: Command, server: ScriptedServer) -> None:
    (tmp_path / "new.toml").write_text('[tools.road]\ndescription = "Name the country."\n')
    asked_so = misstep(*given(server, "consistency", "--count", "1", "--descriptions", "new.toml"))
    assert (asked_so.code, "no set failed" in asked_so.out) == (0, True)
    listed = misstep("tool", "list", "roads.py:road", "--descriptions", "new.toml", "--json")
    assert json.loads(listed.out)["tools"][0]["tool"]["description"] == "Name the country."
    (tmp_path / "new.toml").write_text('[tools.rood]\ndescription = "x"\n')
    wrong = misstep(*given(server, "consistency", "--descriptions", "new.toml"))
    assert (wrong.code, "there is no tool 'rood'" in wrong.err) == (2, True)
    (tmp_path / "new.toml").write_text('[tools.road.parameters]\nbegin = "x"\n')
    wrong = misstep(*given(server, "fuzz", "--descriptions", "new.toml"))
    assert (wrong.code, "the tool 'road' has no parameter 'begin'" in wrong.err) == (2, True)


def test_a_run_goes_on_with_the_words_it_began_with(
    tmp_path: Path, misstep: Command, server: ScriptedServer
) -> None:
    (tmp_path / "new.toml").write_text('[tools.road]\ndescription = "By road."\n')
    more = ("--count", "1", "--variants", "4", "--descriptions", "new.toml", "--budget-calls", "2")
    assert misstep(*given(server, "consistency", *more)).code == 3
    (tmp_path / "new.toml").write_text('[tools.road]\ndescription = "By rail."\n')
    wrong = misstep("tool", "consistency", "--resume", "last", "--budget-calls", "50")
    assert (wrong.code, "has changed since run" in wrong.err) == (2, True)


def test_a_run_without_findings(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE.replace('"939 km"', '"465 km"'))
    with Travelling().server as server:
        asked(misstep, server)
        printed = misstep(*given(server, "fix", "--from", "last"))
        assert (printed.code, printed.out) == (2, "")
        assert "none of its requests failed" in printed.err
        misstep("tool", "fuzz", "roads.py:road", *SHORT[:4], "--calls-per-tool", "5")
        printed = misstep(*given(server, "fix", "--from", "last"))
    assert (printed.code, "has no agent requests for road" in printed.err) == (2, True)


def test_a_run_with_too_few_findings(misstep: Command, server: ScriptedServer) -> None:
    asked(misstep, server, count="1")
    printed = misstep(*given(server, "fix", "--from", "last"))
    assert (printed.code, "only one request, or set of requests, failed" in printed.err) == (2, True)


def test_a_run_about_another_tool(tmp_path: Path, misstep: Command, server: ScriptedServer) -> None:
    asked(misstep, server)
    (tmp_path / "other.py").write_text('def rail(a: str) -> str:\n    """By rail."""\n    return a\n')
    printed = misstep(*given(server, "fix", "--from", "last", spec="other.py:rail"))
    assert (printed.code, "has no data on rail" in printed.err) == (2, True)
    assert "it is about road" in printed.err


LAMBDA = SOURCE.replace("def road(", "def walk(").replace(
    "tools =", "road = lambda start, end: walk(start, end)\nroad.__name__ = 'road'\ntools ="
)


@pytest.mark.full(after=1)
@pytest.mark.parametrize(
    ("source", "said"),
    [
        (SOURCE, "can't be written"),
        (LAMBDA, "there is no function at line"),
        (
            SOURCE.replace("by road from", '" "by road from').replace('"""', '"'),
            "a docstring that is concatenated",
        ),
    ],
    ids=["read-only", "lambda", "put together"],
)
def test_what_could_not_be_written_is_told_before_anything_is_asked(
    tmp_path: Path, misstep: Command, source: str, said: str
) -> None:
    with Travelling().server as server:
        (tmp_path / "roads.py").write_text(source)
        asked(misstep, server)
        before = len(server.model_requests)
        (tmp_path / "roads.py").chmod(0o444 if source == SOURCE else 0o644)
        printed = misstep(*given(server, "fix", "--from", "last", "--write"))
        assert len(server.model_requests) == before
    assert (printed.code, said in printed.err) == (2, True)


def test_a_file_that_has_changed_meanwhile_is_left_alone(tmp_path: Path, misstep: Command) -> None:
    changed = SOURCE.replace("465 km", "466 km")

    def meddle(_: str) -> object:
        (tmp_path / "roads.py").write_text(changed)
        return BETTER

    (tmp_path / "roads.py").write_text(SOURCE)
    with Travelling(**{"fix-findings": meddle}).server as server:
        asked(misstep, server)
        printed = misstep(*given(server, "fix", "--from", "last", "--candidates", "1", "--write"))
    assert (printed.code, "has changed since the run started" in printed.err) == (2, True)
    assert "\n  show results: misstep show" in printed.err
    assert (tmp_path / "roads.py").read_text() == changed


def test_words_that_the_tool_does_not_take_from_its_docstring(tmp_path: Path, misstep: Command) -> None:
    """They are written, looked at, and taken back."""
    source = "from typing import Annotated\n" + SOURCE.replace(
        "(start: str,", '(start: Annotated[str, "A city."],'
    )
    better = {**BETTER, "parameters": {"start": "A city with its country."}}
    (tmp_path / "roads.py").write_text(source)
    with Travelling(**{"fix-findings": always(better)}).server as server:
        asked(misstep, server)
        printed = misstep(*given(server, "fix", "--from", "last", "--candidates", "1", "--write"))
    assert (printed.code, "does not use its docstring as its description" in printed.err) == (2, True)
    assert (tmp_path / "roads.py").read_text() == source


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no tools were given"),
        (["a.py:b"], "no run with findings was given"),
        (["a.py:b", "--resume", "last"], "can't be combined with --resume"),
        (["a.py:b", "--strategy", "luck"], "expected one or more of findings, description, source, explore"),
        (["a.py:b", "--candidates", "0"], "expected a whole number from 1"),
        (["plain", "--bench", "files"], "the strategy 'findings' needs a run"),
        (["a.py:b", "--bench", "chess"], "expected one of"),
        (["a.py:b", "--from", "x", "--out", "."], "can't be written: it is a folder"),
    ],
)
def test_what_is_typed_wrong_is_told(misstep: Command, arguments: list[str], said: str) -> None:
    printed = misstep("tool", "fix", *arguments, *("--agent", "tools", "--model", "x"))
    assert (printed.code, printed.out) == (2, "")
    assert said in printed.err


def test_on_a_benchmark(misstep: Command, server: ScriptedServer) -> None:
    """Who does everything right already has nothing to gain."""
    model = ("--agent", "sim:right", "--model", "x", "--model-base-url", server.base_url)
    more = ("--strategy", "description", "--candidates", "1", "--count", "2", "--only", "copy", "--json")
    printed = misstep("tool", "fix", "plain", "--bench", "files", *model, *SHORT, *more)
    assert printed.code == 1
    (one,) = json.loads(printed.out)["tools"]
    assert (one["tool"], one["validation"]["passed"], one["chosen"]) == ("copy", 2, None)
    assert one["candidates"][0]["validation"]["passed"] == 2


def test_descriptions_with_a_key_in_them_are_refused(
    misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk-nobodys-business")
    (tmp_path / "words.toml").write_text('[tools.f]\ndescription = "Use sk-nobodys-business."\n')
    (tmp_path / "f.py").write_text("def f() -> int:\n    return 1\n")
    model = ("--agent", "tools", "--model", "local", "--descriptions", "words.toml")
    printed = misstep("tool", "consistency", "f.py:f", *model)
    assert printed.code == 2
    assert "contains the value of a secret environment variable" in printed.err
    assert "sk-nobodys" not in printed.err
    assert not (tmp_path / ".misstep").exists()
