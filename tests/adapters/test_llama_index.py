"""Agents of LlamaIndex beyond what every adapter does: ReAct, several agents, what can't be replaced."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Answer, Tool
from misstep.errors import MissingExtra, UsageError
from tests.adapters.scripted_trials import ScriptedTrial, play_scripts
from tests.adapters.test_subprocess import Trial, World, prepare, written
from tests.conformance.subject_llama_index import PYTHON
from tests.scripted import Script

agent = FRAMEWORKS["llama_index"].agent

pytestmark = pytest.mark.full

needs_llama_index = pytest.mark.skipif(not PYTHON, reason="no environment with LlamaIndex")

HEAD = """
    import os
    from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
    from llama_index.llms.openai import OpenAI

    def real_tool() -> str:
        "Must never be called."
        raise AssertionError

    def model(name="gpt-4o"):
        base = os.environ["TEST_BASE_URL"]
        return OpenAI(model=name, api_base=base, api_key="sk-test", max_retries=0, max_tokens=100)

    def member(name, tools):
        return FunctionAgent(name=name, description=name, tools=tools, llm=model())
"""


class Two(World):
    tools = tuple(
        Tool(name, f"Does {name}.", {"type": "object", "properties": {}}) for name in ("alpha", "be ta")
    )


def run(spec: str, *scripts: Script) -> list[ScriptedTrial]:
    return play_scripts(spec, PYTHON, Two, *scripts)


def called(trial: Trial) -> list[tuple[str, object, int | None]]:
    return [(call.tool, call.arguments, call.turn) for call in trial.recorder.calls]


def react(**changes: str) -> Script:
    """A script in the words of LlamaIndex's ReAct."""

    def step(tool: str) -> str:
        return f"Thought: next.\nAction: {tool}\nAction Input: {changes.get(tool, '{}')}"

    return Script(
        render_step=step,
        render_answer=lambda: "Thought: I can answer.\nAnswer: All done.",
        count_steps=lambda prompt: len(re.findall(r"^user: Observation:", prompt, re.MULTILINE)),
        find_tools=lambda prompt: re.findall(r"^> Tool Name: (\S+)", prompt, re.MULTILINE),
    )


REACT = f"{HEAD}\n    agent = ReActAgent(tools=[real_tool], llm=model('gpt-3.5-turbo-instruct'))\n"


@needs_llama_index
def test_react_on_a_model_that_completes_text(tmp_path: Path) -> None:
    """Arguments count as they were written, which LlamaIndex mends on the way; what makes no sense is misread."""
    quoted, senseless = "{'quoted': 'wrongly'}", '{"broken": '
    scripts = react(), react(alpha=quoted), react(alpha=senseless)
    plain, mended, misread = run(written(tmp_path, REACT), *scripts)
    assert (plain.broken, plain.answer) == ("", Answer("All done."))
    assert called(plain) == [("alpha", {}, 1), ("be ta", {}, 2)]
    assert called(mended) == [("alpha", quoted, 1), ("be ta", {}, 2)]
    assert misread.answer.ended == "iterations"
    assert misread.recorder.misread_turns == misread.recorder.max_steps


@needs_llama_index
def test_a_workflow_in_which_one_agent_has_tools(tmp_path: Path) -> None:
    spec = written(
        tmp_path,
        f"{HEAD}\n    agent = AgentWorkflow([member('a', [real_tool]), member('b', [])], root_agent='a')\n",
    )
    (trial,) = run(spec, Script(plan=lambda _, tools: ["handoff", *reversed(tools[:-1])]))
    assert (trial.broken, trial.answer.text) == ("", "All done.")
    assert called(trial) == [("be ta", {}, 2), ("alpha", {}, 3)]


@needs_llama_index
def test_an_agent_is_copied_and_not_changed(tmp_path: Path) -> None:
    spec = written(
        tmp_path,
        f"""{HEAD}
    from misstep.adapters.loading.registry import FRAMEWORKS

    framework = FRAMEWORKS["llama_index"]

    existing = member("a", [real_tool])

    class Checking:
        name = "checking"
        async def run(self, assignment, toolbox):
            before = dict(existing.__dict__)
            answer = await framework.agent(framework.adapter.retool(existing), "a").run(assignment, toolbox)
            assert existing.__dict__ == before
            return answer

    agent = Checking()
""",
    )
    (trial,) = run(spec, Script())
    assert (trial.broken, len(trial.recorder.calls)) == ("", 2)


@needs_llama_index
@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            "AgentWorkflow([member(n, [real_tool]) for n in 'ab'], root_agent='a')",
            "which of the 2 agents gets the tools",
        ),
        ("CodeActAgent(lambda code: code, llm=model())", "the tools of a CodeActAgent"),
        ("model()", "the tools of a OpenAI"),
    ],
)
def test_tools_that_can_t_be_exchanged(made: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        prepare(
            written(tmp_path, f"{HEAD}\n    agent = {made}\n"),
            PYTHON,
            environment={"TEST_BASE_URL": "http://nowhere"},
        )
    assert said in caught.value.message
    assert "def make_agent(tools)" in caught.value.hints[0]


@pytest.mark.skipif(find_spec("llama_index") is not None, reason="LlamaIndex is installed")
def test_without_llama_index_the_extra_is_named() -> None:
    with pytest.raises(MissingExtra, match="LlamaIndex is not installed"):
        agent(lambda tools: tools, "mine")
