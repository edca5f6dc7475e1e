"""The same tool in the words of each framework, and its agents: as misstep has them, and all by themselves."""

import asyncio
import textwrap
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.adapters.loading.source import load_object
from misstep.core.agent import Agent
from tests.conformance.subjects import Owning
from tests.scripted import ScriptedServer

# In the sandbox there is no pytest; here there is.
BODY = """
import sys
from typing import Literal
from pydantic import BaseModel, Field

def say(city, days, mood):
    where = "in our process" if "pytest" in sys.modules else "in the sandbox"
    return f"{12 // days} stops a day in {city}, {mood}, {where}"
"""
SIGNATURE = 'city: str, days: int = 3, mood: Literal["calm", "wild"] = "calm"'
DOCSTRING = '''
    """Plan a tour of a city.

    Args:
        city: where it goes
        days: how long it takes
        mood: how it feels
    """
    return say(city, days, mood)
'''
FUNCTION = f"def tour({SIGNATURE}) -> str:{DOCSTRING}"
IN_A_CLASS = textwrap.indent(FUNCTION.replace("tour(", "_run(self, ", 1), "    ")

Build = Callable[[Any, list[Any]], Any]
# What makes agents of a framework that ask this server, and who tidies up.
Connect = Callable[[ScriptedServer, AsyncExitStack], Callable[[list[Any]], Any]]


@dataclass(frozen=True)
class Case:
    """One kind of tool. `source` is a file with `tools`; `connect` knows how to build agents, `run` to run them."""

    word: str
    framework: str
    source: str
    connect: Connect
    run: Callable[[Any], Awaitable[Any]]
    needs: tuple[str, ...]

    def written(self, folder: Path, addition: str = "") -> str:
        """The spec of the tools in a file of the folder, to which something may be added."""
        path = folder / "tours.py"
        path.write_text(BODY + self.source + addition)
        return f"{path}:tools"

    def tools(self, spec: str) -> list[Any]:
        loaded: list[Any] = load_object(spec)
        return loaded

    async def adapted(self, server: ScriptedServer, given: list[Any]) -> Agent:
        """The agent that misstep makes of the factory; `given` are the tools that this gets."""
        stack = AsyncExitStack()
        build = self.connect(server, stack)

        def remember(tools: list[Any]) -> Any:
            given[:] = tools
            return build(tools)

        return Owning(FRAMEWORKS[self.framework].agent(remember, "me"), stack.aclose)

    async def alone(self, server: ScriptedServer, tools: list[Any]) -> None:
        """The agent of the framework with its own tools, and nothing of ours."""
        async with AsyncExitStack() as stack:
            await self.run(self.connect(server, stack)(tools))


def subject(name: str) -> Any:
    return import_module(f"tests.conformance.subject_{name}")


def langchain(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    theirs = subject("langchain")
    clients = theirs.Clients(server)
    stack.push_async_callback(clients.close)
    return lambda tools: theirs.created(clients, tools)


def openai_agents(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    theirs = subject("openai_agents")
    client = theirs.connected(server)
    stack.push_async_callback(client.close)
    return lambda tools: theirs.on_chat(client, tools)


def pydantic_ai(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    theirs = subject("pydantic_ai")
    client = theirs.connected(server)
    stack.push_async_callback(client.close)
    return lambda tools: theirs.on_chat(client, tools)


def smolagents(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    from smolagents import ToolCallingAgent

    model = subject("smolagents").conversing(server)
    stack.callback(model.client.close)
    return lambda tools: ToolCallingAgent(tools, model, verbosity_level=-1)


def agent_framework(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    from agent_framework import Agent as Native

    client, sdk = subject("agent_framework").connected(server)
    stack.push_async_callback(sdk.close)
    return lambda tools: Native(client, "Do as asked.", tools=tools)


def autogen(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    theirs = subject("autogen")
    client = theirs.connected(server)
    stack.push_async_callback(client.close)
    return lambda tools: theirs.assistant(client, tools)


def ag2(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    theirs = subject("ag2")
    config, http = theirs.connected(server)
    stack.push_async_callback(http.aclose)
    return lambda tools: theirs.native(config, tools)


def adk(server: ScriptedServer, stack: AsyncExitStack) -> Any:
    theirs = subject("adk")
    model, sdk = theirs.connected(server)
    stack.push_async_callback(sdk.close)
    return lambda tools: theirs.native(model, tools)


async def run_openai(agent: Any) -> None:
    import agents

    await agents.Runner.run(agent, "hi", run_config=agents.RunConfig(tracing_disabled=True))


async def run_adk(agent: Any) -> None:
    from google.adk.apps import App
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(app=App(name="alone", root_agent=agent))
    session = await runner.session_service.create_session(app_name="alone", user_id="me")
    message = types.UserContent("hi")
    async for _ in runner.run_async(user_id="me", session_id=session.id, new_message=message):
        pass


def run_langchain(agent: Any) -> Any:
    return agent.ainvoke({"messages": [("user", "hi")]})


CASES = [
    Case(
        "langchain decorated",
        "langchain",
        f"""
from langchain_core.tools import tool

@tool("tour", parse_docstring=True, return_direct=False)
{FUNCTION}
tools = [tour]
""",
        langchain,
        run_langchain,
        ("langchain", "langchain_openai"),
    ),
    Case(
        "langchain class",
        "langchain",
        f"""
from langchain_core.tools import BaseTool

class Tour(BaseTool):
    name: str = "tour"
    description: str = "Plan a tour."

{IN_A_CLASS}
tools = [Tour()]
""",
        langchain,
        run_langchain,
        ("langchain", "langchain_openai"),
    ),
    Case(
        "langchain with an artifact",
        "langchain",
        f"""
from langchain_core.tools import StructuredTool

class Wanted(BaseModel):
    city: str = Field(description="where it goes")
    days: int = Field(3, ge=0, le=30)
    mood: Literal["calm", "wild"] = "calm"

async def later({SIGNATURE}):
    return say(city, days, mood), {{"days": days}}

tools = [
    StructuredTool.from_function(
        coroutine=later, name="tour", description="Plan.", args_schema=Wanted,
        response_format="content_and_artifact",
    )
]
""",
        langchain,
        run_langchain,
        ("langchain", "langchain_openai"),
    ),
    Case(
        "openai agents",
        "openai_agents",
        f"from agents import function_tool\n\n@function_tool\n{FUNCTION}\ntools = [tour]\n",
        openai_agents,
        run_openai,
        ("agents",),
    ),
    Case(
        "pydantic ai",
        "pydantic_ai",
        f"from pydantic_ai import Tool\n\n{FUNCTION}\ntools = [Tool(tour, max_retries=2, strict=True)]\n",
        pydantic_ai,
        lambda agent: agent.run("hi"),
        ("pydantic_ai",),
    ),
    Case(
        "smolagents",
        "smolagents",
        """
from smolagents import Tool

class Tour(Tool):
    name = "tour"
    description = "Plan a tour of a city."
    inputs = {
        "city": {"type": "string", "description": "where it goes"},
        "days": {"type": "integer", "description": "how long it takes", "nullable": True},
        "mood": {"type": "string", "description": "how it feels", "nullable": True, "enum": ["calm", "wild"]},
    }
    output_type = "string"

    def forward(self, city, days=3, mood="calm"):
        return say(city, days, mood)

tools = [Tour()]
""",
        smolagents,
        lambda agent: asyncio.to_thread(agent.run, "hi"),
        ("smolagents",),
    ),
    Case(
        "agent framework",
        "agent_framework",
        f"from agent_framework import tool\n\n@tool\n{FUNCTION}\ntools = [tour]\n",
        agent_framework,
        lambda agent: agent.run("hi"),
        ("agent_framework", "agent_framework_openai"),
    ),
    Case(
        "autogen",
        "autogen",
        f"""
from autogen_core.tools import FunctionTool

{FUNCTION}
tools = [FunctionTool(tour, "Plan a tour.")]
""",
        autogen,
        lambda agent: agent.run(task="hi"),
        ("autogen_agentchat", "autogen_ext", "tiktoken"),
    ),
    Case(
        "ag2",
        "ag2",
        f"from ag2 import tool\n\n@tool\n{FUNCTION}\ntools = [tour]\n",
        ag2,
        lambda agent: agent.ask("hi"),
        ("ag2",),
    ),
    Case(
        "adk",
        "adk",
        f"from google.adk.tools import FunctionTool\n\n{FUNCTION}\ntools = [FunctionTool(tour)]\n",
        adk,
        run_adk,
        ("google", "google.adk"),
    ),
]
