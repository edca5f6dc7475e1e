"""The frameworks whose agents misstep recognises, without importing any of them."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, TypeAlias, cast

import msgspec

from misstep.core.agent import Answer, Assignment, Toolbox

# Builds the framework's agent with the given tools, which are the framework's own kind of tools.
Build: TypeAlias = Callable[[list[Any]], Any]


class Adapter(Protocol):
    """What the adapter module of a framework provides for agents."""

    def library(self) -> Any:
        """The framework. Raises `MissingExtra`."""

    async def run(self, build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
        """Build an agent for one case, run it, and record what its models say."""

    def retool(self, value: Any) -> Build:
        """A function that copies an agent with other tools. Raises `UsageError` if that is impossible."""


class FrameworkAgent:
    """An agent of a framework that is built anew for every case, with the tools of that case."""

    def __init__(self, adapter: Adapter, build: Build, name: str) -> None:
        adapter.library()
        self.name = name
        self._adapter = adapter
        self._build = build

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        return await self._adapter.run(self._build, assignment, toolbox)


class Framework(msgspec.Struct, frozen=True):
    """A framework; one whose agents cannot be stopped needs a separate process, which can."""

    word: str
    title: str
    packages: tuple[str, ...]  # of its classes
    own_process: bool = False
    proof: str = ""  # distinguishes a package with a common name from others

    @property
    def adapter(self) -> Adapter:
        return cast(Adapter, import_module(f"misstep.adapters.frameworks.{self.word}"))

    def agent(self, build: Build, name: str) -> FrameworkAgent:
        return FrameworkAgent(self.adapter, build, name)

    def made(self, value: object) -> bool:
        """Whether the value's class, or a base class of it, belongs to the framework."""
        return any(self.holds(kind.__module__) for kind in type(value).__mro__)

    def holds(self, module: str) -> bool:
        found = next((name for name in self.packages if f"{module}.".startswith(f"{name}.")), None)
        return bool(found) and (not self.proof or hasattr(sys.modules.get(found or ""), self.proof))


FRAMEWORKS = {
    framework.word: framework
    for framework in (
        Framework(
            "langchain", "LangChain", ("langchain", "langchain_core", "langchain_classic", "langgraph")
        ),
        Framework("openai_agents", "OpenAI Agents", ("agents",), proof="Runner"),
        Framework("pydantic_ai", "Pydantic AI", ("pydantic_ai",)),
        Framework("smolagents", "smolagents", ("smolagents",)),
        Framework("agent_framework", "Agent Framework", ("agent_framework",)),
        Framework("ag2", "AG2", ("ag2", "autogen")),
        Framework("adk", "ADK", ("google.adk",)),
        Framework("autogen", "AutoGen", ("autogen_agentchat",)),
        Framework("llama_index", "LlamaIndex", ("llama_index",), own_process=True),
        Framework("crewai", "CrewAI", ("crewai",), own_process=True),
    )
}


def is_of_framework(module: str) -> bool:
    return any(framework.holds(module) for framework in FRAMEWORKS.values())


def framework_of(value: object) -> Framework | None:
    return next((framework for framework in FRAMEWORKS.values() if framework.made(value)), None)
