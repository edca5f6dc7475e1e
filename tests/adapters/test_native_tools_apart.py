"""The same for frameworks that live in environments of their own: the agent's process loads the tools."""

import asyncio
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from misstep.adapters.subprocess.agent import SubprocessAgent
from misstep.core.results.trial import Trial
from misstep.core.settings import Settings
from misstep.core.spending import UNCOUNTED
from misstep.runs.setup.trying import Trier
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from tests.adapters.native_cases import BODY, FUNCTION
from tests.conformance import subject_crewai, subject_llama_index
from tests.conformance.subject_subprocess import AGENTS
from tests.scripted import Script, ScriptedServer, calling

pytestmark = pytest.mark.full

GOOD = calling("tour", city="Oslo", days=4, mood="wild")


@dataclass(frozen=True)
class Apart:
    """A framework elsewhere; `alone` runs its agent with its own tools, after all that is said before."""

    python: str
    agent: str
    source: str
    alone: str
    home: str = ""

    def environment(self, server: ScriptedServer) -> dict[str, str]:
        return {"TEST_BASE_URL": server.base_url, **({"HOME": self.home} if self.home else {})}


LLAMA_INDEX = Apart(
    subject_llama_index.PYTHON,
    "with_llama_index.py:existing",
    f"from llama_index.core.tools import FunctionTool\n{FUNCTION}\ntools = [FunctionTool.from_defaults(tour)]\n",
    """
import asyncio
from with_llama_index import FunctionAgent, llm
async def main():
    await FunctionAgent(tools=tools, llm=llm, streaming=False).run(user_msg="hi")
asyncio.run(main())
""",
)
CREWAI = Apart(
    subject_crewai.PYTHON,
    "with_crewai.py:existing",
    f"from crewai.tools import tool\n@tool('Tour')\n{FUNCTION}\ntools = [tour]\n",
    """
from with_crewai import new_agent
new_agent(tools).kickoff("hi")
""",
    subject_crewai.HOME,
)


@pytest.mark.parametrize("case", [LLAMA_INDEX, CREWAI], ids=["llama index", "crewai"])
def test_the_model_sees_what_the_framework_shows_it(case: Apart, tmp_path: Path) -> None:
    if not case.python:
        pytest.skip("no environment with it")
    path = tmp_path / "tours.py"
    path.write_text(BODY + case.source)
    with ScriptedServer(Script(behaviour="idle")) as server:
        quiet = {
            "CREWAI_DISABLE_TELEMETRY": "true",
            "CREWAI_TRACING_ENABLED": "false",
            "CREWAI_TESTING": "true",
        }
        subprocess.run(
            [case.python, "-c", BODY + case.source + case.alone],
            env={**os.environ, **quiet, **case.environment(server), "PYTHONPATH": str(AGENTS)},
            check=True,
            capture_output=True,
        )
        expected = offered(server)
    with ScriptedServer(Script(lambda request, tools: [GOOD])) as server:
        agent = SubprocessAgent(f"{AGENTS}/{case.agent}", case.python, "me", case.environment(server))
        trial, notes = put(agent, f"{path}:tools", case.python)
        assert offered(server) == expected
    assert notes == []
    assert (trial.ended, trial.error) == ("answered", "")
    assert [use.result for use in trial.uses] == ["3 stops a day in Oslo, wild, in the sandbox"]
    assert json.loads(trial.uses[0].arguments) == json.loads(GOOD.arguments)


def offered(server: ScriptedServer) -> str:
    return json.dumps(server.model_requests[0].body["tools"])


def put(agent: SubprocessAgent, spec: str, python: str) -> tuple[Trial, list[str]]:
    async def main() -> tuple[Trial, list[str]]:
        trier = Trier(agent, bench, Settings(max_steps=5), UNCOUNTED, lambda: None, lambda: True)
        try:
            return await trier.run("Plan my trip.", []), trier.notes
        finally:
            await agent.close()

    with ToolHost(spec, CallConditions(python=python)) as bench:
        return asyncio.run(main())
