"""CrewAI beyond what every adapter does: crews, models without function calling, limits, who is talked to."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Tool
from misstep.errors import MissingExtra, UsageError
from tests.adapters.scripted_trials import ScriptedTrial, play_scripts
from tests.adapters.test_subprocess import Trial, World, prepare, written
from tests.conformance.subject_crewai import HOME, PYTHON
from tests.scripted import Script

agent = FRAMEWORKS["crewai"].agent

pytestmark = pytest.mark.full

needs_crewai = pytest.mark.skipif(not PYTHON, reason="no environment with CrewAI")

HEAD = """
    import os
    from crewai import LLM, Agent, Crew, Task
    from crewai.llms.providers.openai.completion import OpenAICompletion
    from crewai.tools import tool

    @tool
    def real_tool() -> str:
        "Must never be called."
        raise AssertionError

    class TextOnly(OpenAICompletion):
        def supports_function_calling(self):
            return False

    MODEL = dict(model="gpt-4o", base_url=os.environ["TEST_BASE_URL"], api_key="sk-test", max_retries=0)

    def member(role="steward", tools=(real_tool,), llm=None, **more):
        llm = llm or LLM(**MODEL)
        return Agent(role=role, goal="Obey.", backstory="Old.", llm=llm, tools=list(tools), **more)

    def crew(*members, description="Please: {request}"):
        tasks = [Task(description=description, expected_output="A word.", agent=each) for each in members]
        return Crew(agents=list(members), tasks=tasks)
"""


class Two(World):
    tools = tuple(
        Tool(name, f"Does {name}.", {"type": "object", "properties": {}}) for name in ("alpha", "beTa")
    )


def run(spec: str, *scripts: Script) -> list[ScriptedTrial]:
    return play_scripts(spec, PYTHON, Two, *scripts, HOME=HOME)


def called(trial: Trial) -> list[tuple[str, object, int | None]]:
    return [(call.tool, call.arguments, call.turn) for call in trial.recorder.calls]


@needs_crewai
def test_a_crew_in_which_one_agent_has_tools(tmp_path: Path) -> None:
    spec = written(tmp_path, f"{HEAD}\n    agent = crew(member(), member('critic', ()))\n")
    (trial,) = run(spec, Script())
    assert (trial.broken, trial.answer.text) == ("", "All done.")
    assert called(trial) == [("alpha", {}, 1), ("beTa", {}, 2)]


@needs_crewai
def test_models_that_write_their_calls_as_text(tmp_path: Path) -> None:
    calls = [
        ("Action: alpha\nAction Input: {}", ("alpha", {})),
        ("Action: gamma\nAction Input: {}", ("gamma", {})),
        ("Action: beTa\nAction Input: {'x': 1", ("beTa", "{'x': 1")),
    ]
    said = [f"Thought: I go on.\n{call}" for call, _ in calls]
    final = "Thought: I know.\nFinal Answer: All done."
    spec = written(tmp_path, f"{HEAD}\n    agent = member(llm=TextOnly(**MODEL))\n")
    *calling, answering = run(spec, *(Script(answer=text) for text in (*said, final)))
    for trial, (_, expected) in zip(calling, calls, strict=True):
        assert (trial.broken, trial.answer.ended) == ("", "iterations")
        assert called(trial)[:2] == [(*expected, 1), (*expected, 2)]
    assert (answering.broken, answering.answer.text, called(answering)) == ("", "All done.", [])


@needs_crewai
def test_a_limit_that_the_user_has_set_is_kept(tmp_path: Path) -> None:
    """Past it CrewAI asks once more, for an answer."""
    (trial,) = run(written(tmp_path, f"{HEAD}\n    agent = member(max_iter=1)\n"), Script())
    assert (trial.broken, trial.answer.ended) == ("", "answered")
    assert (called(trial), trial.asked) == ([("alpha", {}, 1)], 2)


@needs_crewai
def test_an_agent_is_copied_and_nobody_else_is_talked_to(tmp_path: Path) -> None:
    spec = written(
        tmp_path,
        f"""
    import sys
    hosts = set()
    def hear(event, arguments):
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            hosts.add(arguments[1][0])
        if event == "socket.getaddrinfo":
            hosts.add(arguments[0])
    sys.addaudithook(hear)
    {HEAD}
    from crewai.telemetry import Telemetry
    from misstep.adapters.loading.registry import FRAMEWORKS

    framework = FRAMEWORKS["crewai"]

    existing = member()

    class Checking:
        name = "checking"
        async def run(self, assignment, toolbox):
            answer = await framework.agent(framework.adapter.retool(existing), "a").run(assignment, toolbox)
            assert existing.tools == [real_tool]
            toolbox.note(sorted(hosts))
            toolbox.note(Telemetry().ready)
            return answer

    agent = Checking()
""",
    )
    (trial,) = run(spec, Script())
    assert (trial.broken, len(trial.recorder.calls)) == ("", 2)
    assert trial.recorder.messages == [["127.0.0.1"], False]


@needs_crewai
@pytest.mark.parametrize(
    ("made", "said", "hint"),
    [
        ("crew(member(), member('twin'))", "which of the 2 agents gets the tools", "def make_agent(tools)"),
        (
            "crew(member(), description='Do it.')",
            "no task description of the crew contains {request}",
            "put {request}",
        ),
        ("real_tool", "the tools of a Tool", "def make_agent(tools)"),
    ],
)
def test_what_can_t_be_used(made: str, said: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        prepare(
            written(tmp_path, f"{HEAD}\n    agent = {made}\n"),
            PYTHON,
            environment={"TEST_BASE_URL": "http://nowhere"},
        )
    assert said in caught.value.message
    assert hint in caught.value.hints[0]


@pytest.mark.skipif(find_spec("crewai") is not None, reason="CrewAI is installed")
def test_without_crewai_the_extra_is_named() -> None:
    with pytest.raises(MissingExtra, match="CrewAI is not installed"):
        agent(lambda tools: tools, "mine")
