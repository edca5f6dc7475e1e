"""Agents of a framework get tools of that framework as the objects they are, carried out in the sandbox."""

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.loading.source import settled
from misstep.adapters.subprocess.agent import SubprocessAgent
from misstep.adapters.toolset.spec import read_tools
from misstep.core.agent import Agent, Assignment, Origin, StepsExhausted, Tool
from misstep.core.results.descriptions import Wording
from misstep.core.results.trial import Trial
from misstep.core.settings import Settings
from misstep.core.spending import UNCOUNTED
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder
from misstep.fuzzing.agent_tests.passage import Rehearsal
from misstep.runs.setup.agents import find_agent
from misstep.runs.setup.trying import Trier
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from tests.adapters.native_cases import BODY, CASES, FUNCTION, Case
from tests.conformance.subject_subprocess import AGENTS
from tests.scripted import Call, Script, ScriptedServer, calling

GOOD = calling("tour", city="Oslo", days=4, mood="wild")
BROKEN = calling("tour", city="Oslo", days=0, mood="calm")
INSIDE = ("func", "_func", "function", "forward")  # where frameworks keep the function of a tool
TOLD = "3 stops a day in Oslo, wild, in the sandbox"


@pytest.fixture(params=CASES, ids=lambda case: case.word)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    missing = [name for name in found.needs if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    return found


def offered(server: ScriptedServer) -> str:
    """The definitions of tools that came with the first request, as they were written."""
    return json.dumps(server.model_requests[0].body["tools"])


def put(
    spec: str,
    make: Callable[[], Any],
    settings: Settings | None = None,
    conditions: CallConditions | None = None,
) -> tuple[Trial, list[str]]:
    """What an agent does with a request and the tools of a spec, and what is noted about it."""

    async def main() -> tuple[Trial, list[str]]:
        made = make()
        agent: Agent = await made if asyncio.iscoroutine(made) else made
        trier = Trier(agent, bench, settings or Settings(max_steps=5), UNCOUNTED, lambda: None, lambda: True)
        try:
            return await trier.run("Plan my trip.", ["tour"]), trier.notes
        finally:
            await agent.close()  # type: ignore[attr-defined]

    with ToolHost(spec, conditions) as bench:
        return asyncio.run(main())


def script(*calls: Call) -> Script:
    return Script(lambda request, tools: calls)


def state(tool: Any) -> dict[str, str]:
    """All that an object holds, in so far as it can be told apart."""
    return {name: repr(value) for name, value in sorted(getattr(tool, "__dict__", {}).items())}


@pytest.mark.full(after=1)
def test_the_model_sees_what_the_framework_shows_it_and_the_sandbox_does_the_work(
    case: Case, tmp_path: Path
) -> None:
    spec = case.written(tmp_path)
    own = case.tools(spec)
    with ScriptedServer(Script(behaviour="idle")) as server:
        asyncio.run(case.alone(server, own))
        expected = offered(server)
    before = state(own[0])
    given = list[Any]()
    with ScriptedServer(script(GOOD, BROKEN)) as server:
        trial, notes = put(spec, lambda: case.adapted(server, given))
        assert offered(server) == expected
    assert notes == []
    assert type(given[0]) is type(own[0])
    assert given[0] is not own[0]
    assert (trial.ended, trial.error) == ("answered", "")
    assert [json.loads(use.arguments) for use in trial.uses] == [
        json.loads(call.arguments) for call in (GOOD, BROKEN)
    ]
    assert trial.uses[0].result == TOLD
    assert (trial.uses[0].judged.ruling, trial.uses[1].judged.ruling) == ("fine", "crash")
    assert "ZeroDivisionError" in trial.uses[1].result
    for inside in [getattr(given[0], name, None) for name in INSIDE]:
        if inside:  # leads to the toolbox as well, whose case is over
            with pytest.raises(StepsExhausted):
                settled(inside(city="Oslo"))
    assert state(own[0]) == before, "the user's own object has changed"


@pytest.mark.full(after=1)
def test_other_words_about_a_tool_reach_the_model_of_every_framework(case: Case, tmp_path: Path) -> None:
    """Objects have no other words than theirs, so that a tool like them stands in."""
    spec = case.written(tmp_path)
    other = CallConditions(wordings={"tour": Wording("Said otherwise.", {"city": "Where it goes."})})
    with ScriptedServer(script(GOOD)) as server:
        trial, notes = put(spec, lambda: case.adapted(server, []), conditions=other)
        told = offered(server)
    assert ("Said otherwise." in told, "Where it goes." in told, notes) == (True, True, [])
    assert trial.uses[0].result == TOLD


def named(word: str) -> Case:
    """The case of this name; the test is skipped without its framework."""
    (found,) = [each for each in CASES if each.word == word]
    for name in found.needs:
        pytest.importorskip(name)
    return found


def test_a_call_that_the_framework_refuses_is_not_made(tmp_path: Path) -> None:
    case = named("langchain with an artifact")
    with ScriptedServer(script(calling("tour", city="Oslo", days=99), GOOD)) as server:
        trial, _ = put(case.written(tmp_path), lambda: case.adapted(server, []))
        told = [
            each["content"] for each in server.model_requests[1].body["messages"] if each["role"] == "tool"
        ]
    assert [use.result for use in trial.uses] == [TOLD]
    assert "less than or equal to 30" in told[0]


def test_a_text_is_the_only_argument_of_a_tool_that_takes_one(tmp_path: Path) -> None:
    pytest.importorskip("langchain_classic")
    source = """
from langchain_core.tools import Tool
tools = [Tool("tour", lambda city: say(city, 4, "wild"), "Plan a tour.")]
"""
    path = tmp_path / "tours.py"
    path.write_text(BODY + source)
    case = replace(named("langchain class"), connect=in_text)
    written = "Action: tour\nAction Input: Oslo"
    with ScriptedServer(Script(lambda request, tools: ["tour"], render_step=lambda _: written)) as server:
        trial, notes = put(f"{path}:tools", lambda: case.adapted(server, []))
    assert [(json.loads(use.arguments), use.result) for use in trial.uses] == [({"tool_input": "Oslo"}, TOLD)]
    assert (trial.answer, notes) == ("All done.", [])


def in_text(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    """The old ReAct agent of LangChain, which writes its calls."""
    from tests.conformance import subject_langchain as theirs

    clients = theirs.Clients(server)
    stack.push_async_callback(clients.close)
    return lambda tools: theirs.in_text(clients, tools)


OWN_WAY = """

class Own(type(tools[0])):
    def invoke(self, *given, **more):
        assert "pytest" not in sys.modules, "called in our process"
        return super().invoke(*given, **more)

tools = [Own(**dict(tools[0]))]
"""
NOT_HERE = """

if "pytest" in sys.modules:
    raise RuntimeError("only at home")
"""
ELSEWHERE = """

if "pytest" in sys.modules:
    tools[0].description = "Something else."
"""


@pytest.mark.parametrize(
    ("addition", "told"),
    [
        (OWN_WAY, "a copy of 'tour' instead of the object itself: Own overrides 'invoke'"),
        (NOT_HERE, "raised RuntimeError: only at home"),
        (ELSEWHERE, "loading it again gives another object"),
    ],
    ids=["own way", "not here", "another"],
)
def test_without_the_object_there_is_a_tool_like_it_and_a_note(
    addition: str, told: str, tmp_path: Path
) -> None:
    case = named("langchain class")
    (described,) = read_tools(case.written(tmp_path))
    (tmp_path / "other").mkdir()
    given, warnings = furnished(case, described.tool, case.written(tmp_path / "other", addition))
    assert [type(tool).__name__ for tool in given] == ["LangchainTool"]
    assert len(warnings) == 1
    assert told in warnings[0]


def test_code_is_loaded_only_for_agents_of_its_framework(tmp_path: Path) -> None:
    spec = named("langchain class").written(tmp_path, NOT_HERE)
    nothing = Tool("tour", "", {"type": "object", "properties": {}})
    given, warnings = furnished(named("openai agents"), nothing, spec)
    assert [type(tool).__name__ for tool in given] == ["FunctionTool"]
    assert warnings == []


def furnished(case: Case, tool: Tool, spec: str) -> tuple[list[Any], list[str]]:
    """What an agent gets for a tool of LangChain that a spec means, and what the user is told of it."""
    given, deadline = list[Any](), Deadline(60.0)
    recorder = Recorder(Rehearsal([tool]), deadline, 5)

    async def main() -> None:
        agent = await case.adapted(server, given)
        await attempt(agent, Assignment("hi", 0, {"tour": Origin(spec, "langchain")}), recorder, deadline)
        await agent.close()  # type: ignore[attr-defined]

    with ScriptedServer(Script(behaviour="idle")) as server:
        asyncio.run(main())
    return given, recorder.warnings


@pytest.mark.full
def test_an_agent_in_a_process_of_its_own(tmp_path: Path) -> None:
    case = named("pydantic ai")
    spec = case.written(tmp_path)
    with ScriptedServer(Script(behaviour="idle")) as server:
        asyncio.run(case.alone(server, case.tools(spec)))
        expected = offered(server)
    with ScriptedServer(script(GOOD)) as server:
        agent = f"{AGENTS / 'with_pydantic_ai.py'}:agent"
        address = {"TEST_BASE_URL": server.base_url}
        trial, notes = put(spec, lambda: SubprocessAgent(agent, sys.executable, "me", address))
        assert offered(server) == expected
    assert [use.result for use in trial.uses] == [TOLD]
    assert notes == []


@pytest.mark.full(after=2)
@pytest.mark.parametrize("paradigm", ["tools", "react", "responses", "assistant"])
def test_agents_of_our_own_use_real_tools(paradigm: str, tmp_path: Path) -> None:
    path = tmp_path / "tours.py"
    path.write_text(BODY + FUNCTION)
    written = f"Action: tour\nAction Input: {GOOD.arguments}"
    with ScriptedServer(Script(lambda request, tools: [GOOD], render_step=lambda _: written)) as server:
        settings = Settings(agent=paradigm, model="x", model_base_url=server.base_url, retries=0)
        trial, notes = put(f"{path}:tour", lambda: find_agent(settings), settings)
    assert [use.result for use in trial.uses] == [TOLD]
    assert trial.uses[0].arguments == GOOD.arguments
    assert (trial.answer, trial.error, notes) == ("All done.", "", [])
