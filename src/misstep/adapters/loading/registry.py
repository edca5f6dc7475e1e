"""The frameworks whose agents misstep recognises, without importing any of them."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, TypeAlias

import msgspec

from misstep.core.agent import Agent

# Makes the framework's own agent with the tools given, which are the framework's own kind of tools.
Build: TypeAlias = Callable[[list[Any]], Any]


class Adapter(Protocol):
    """What the file of a framework offers."""

    def agent(self, build: Build, name: str) -> Agent:
        """An agent that builds anew for every case."""
        ...

    def retool(self, value: Any) -> Build:
        """A way to build copies of an agent with other tools; a `UsageError` where there is none."""
        ...


class Framework(msgspec.Struct, frozen=True):
    """A framework: the word for it, the packages its classes come from, the extra that brings it.

    One that can't be stopped needs a process of its own, which can.
    """

    word: str
    packages: tuple[str, ...]
    extra: str
    own_process: bool = False
    proof: str = ""  # what tells a package with an everyday name from somebody else's

    @property
    def adapter(self) -> Adapter:
        module: Any = import_module(f"misstep.adapters.{self.word}.agent")
        adapter: Adapter = module
        return adapter

    def made(self, value: object) -> bool:
        """Whether the value's class, or one it inherits from, belongs to the framework."""
        return any(self._holds(kind.__module__) for kind in type(value).__mro__)

    def _holds(self, module: str) -> bool:
        found = next((name for name in self.packages if f"{module}.".startswith(f"{name}.")), None)
        return bool(found) and (not self.proof or hasattr(sys.modules.get(found or ""), self.proof))


FRAMEWORKS = {
    framework.word: framework
    for framework in (
        Framework(
            "langchain", ("langchain", "langchain_core", "langchain_classic", "langgraph"), "langchain"
        ),
        Framework("openai_agents", ("agents",), "openai-agents", proof="Runner"),
        Framework("pydantic_ai", ("pydantic_ai",), "pydantic-ai"),
        Framework("smolagents", ("smolagents",), "smolagents"),
        Framework("agent_framework", ("agent_framework",), "agent-framework"),
        Framework("ag2", ("ag2", "autogen"), "ag2"),
        Framework("adk", ("google.adk",), "adk"),
        Framework("autogen", ("autogen_agentchat",), "autogen"),
        Framework("llama_index", ("llama_index",), "llama-index", own_process=True),
        Framework("crewai", ("crewai",), "crewai", own_process=True),
    )
}


def framework_of(value: object) -> Framework | None:
    return next((framework for framework in FRAMEWORKS.values() if framework.made(value)), None)
