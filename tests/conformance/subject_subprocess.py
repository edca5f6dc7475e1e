"""Agents in a process of their own, under the interpreter that runs the tests."""

import asyncio
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from misstep.adapters.subprocess.agent import SubprocessAgent
from misstep.core.agent import Agent
from tests.conformance.subjects import Subject
from tests.scripted import ScriptedServer

AGENTS = Path(__file__).with_name("agents")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Apart(Subject):
    """A subject whose framework can't share an environment with the others, so that its interpreter is needed."""

    python: str = ""
    variable: str = ""

    @property
    def missing(self) -> str:
        return "" if self.python else f"an interpreter for {self.variable}"


def find_python(variable: str, folder: str) -> str:
    """The interpreter that the variable names, or that of an environment in the repository, if there is one."""
    beside = ROOT / folder / "bin" / "python"
    return os.environ.get(variable) or (str(beside) if beside.exists() else "")


def maker(location: str, python: str, **environment: str) -> Callable[[ScriptedServer], Agent]:
    """Makes an agent from one of the files here, with a first process that is up, as every run begins."""

    def make(server: ScriptedServer) -> Agent:
        complete = {"TEST_BASE_URL": server.base_url, **environment}
        agent = SubprocessAgent(f"{AGENTS}/{location}", python, location, complete)
        with ThreadPoolExecutor(1) as beside_the_loop:
            beside_the_loop.submit(asyncio.run, agent.prepare()).result()
        return agent

    return make


# The function itself deals with bad calls, turns and tokens; misstep sees only what is carried out.
HIDDEN = ("malformed", "unknown", "turns", "usage")
SUBJECTS = [
    Subject("subprocess, plain", maker("with_openai.py:agent", sys.executable), ("openai",), hides=HIDDEN),
    Subject("subprocess, pydantic ai", maker("with_pydantic_ai.py:agent", sys.executable), ("pydantic_ai",)),
]
