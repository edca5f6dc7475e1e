"""Agents in a process of their own, under the interpreter that runs the tests."""

import asyncio
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from misstep.adapters.subprocess.agent import SubprocessAgent
from misstep.core.agent import Agent
from tests.conformance.subjects import Subject
from tests.scripted import Script, ScriptedServer
from tests.scripted.server import listen

AGENTS = Path(__file__).with_name("agents")
ROOT = Path(__file__).parents[2]
FEW = 3  # at once are enough where it is only the agent in the process that differs from the first subject


@dataclass(frozen=True)
class Apart(Subject):
    """A subject whose framework can't share an environment with the others, so that its interpreter is needed."""

    python: str = ""
    variable: str = ""
    slow: bool = True  # `make test` makes no environments

    @property
    def missing(self) -> str:
        return "" if self.python else f"an interpreter for {self.variable}"


def find_python(variable: str, folder: str) -> str:
    """The interpreter that the variable names, or that of an environment in the repository, if there is one."""
    beside = ROOT / folder / "bin" / "python"
    return os.environ.get(variable) or (str(beside) if beside.exists() else "")


class Lasting:
    """An agent whose processes outlive a test, so nobody closes it."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self.run = agent.run


class House:
    """Where the processes of an agent live from test to test, as they do from case to case within a run.

    They are told the address of their server once, so that lasts as well. On a server with another address an
    agent starts anew. Either way a first process is up, as every run begins.
    """

    houses: ClassVar[list["House"]] = []

    def __init__(self, location: str, python: str, **environment: str) -> None:
        self._location, self._python, self._environment = location, python, environment
        self._listener: socket.socket | None = None
        self._agent: SubprocessAgent | None = None
        self.houses.append(self)

    def serve(self, script: Script) -> ScriptedServer:
        self._listener = self._listener or listen()
        return ScriptedServer(script, self._listener)

    def make(self, server: ScriptedServer) -> Agent:
        if not self._listener or server.port != self._listener.getsockname()[1]:
            return self._moved_in(server)
        self._agent = self._agent or self._moved_in(server)
        return Lasting(self._agent)

    def close(self) -> None:
        if self._agent:
            asyncio.run(self._agent.close())
        if self._listener:
            self._listener.close()
        self._agent = self._listener = None

    def _moved_in(self, server: ScriptedServer) -> SubprocessAgent:
        complete = {"TEST_BASE_URL": server.base_url, **self._environment}
        agent = SubprocessAgent(f"{AGENTS}/{self._location}", self._python, self._location, complete)
        with ThreadPoolExecutor(1) as beside_the_loop:
            beside_the_loop.submit(asyncio.run, agent.prepare()).result()
        return agent


# The function itself deals with bad calls, turns and tokens; misstep sees only what is carried out.
HIDDEN = ("malformed", "unknown", "turns", "usage")
PLAIN = House("with_openai.py:agent", sys.executable)
PYDANTIC_AI = House("with_pydantic_ai.py:agent", sys.executable)
SUBJECTS = [
    Subject("subprocess, plain", PLAIN.make, ("openai",), PLAIN.serve, hides=HIDDEN),
    Subject("subprocess, pydantic ai", PYDANTIC_AI.make, ("pydantic_ai",), PYDANTIC_AI.serve, FEW),
]
