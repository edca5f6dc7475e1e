"""Tools of every framework, called: its own checks come first, and the tool's exceptions come out."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.calling import ArgumentsRefused, BoundTool
from misstep.errors import UsageError
from tests.adapters.toolset.toolset_cases import Binding, Write, binding, write
from tests.conformance.subject_crewai import HOME
from tests.conformance.subject_crewai import PYTHON as CREWAI
from tests.conformance.subject_llama_index import PYTHON as LLAMA_INDEX

__all__ = ["binding", "write"]

SOURCE = Path(__file__).parents[3] / "src"

FUNCTIONS = '''
    import asyncio
    import threading
    from typing_extensions import TypedDict

    class Report(TypedDict):
        city: str

    def weather(city: str, days: int = 3) -> Report:
        """Tell the weather.

        Args:
            city: The city to look at.
            days: How many days.
        """
        assert threading.current_thread() is threading.main_thread()
        if city == "nowhere":
            raise KeyError(city)
        if city == "loop":
            return asyncio.run(asyncio.sleep(0, {"city": "looped"}))
        return {"city": f"{city} {days + 0}"}

    async def later(city: str, days: int = 3) -> Report:
        """Tell the weather later.

        Args:
            city: The city to look at.
            days: How many days.
        """
        await asyncio.sleep(0)
        if city == "nowhere":
            raise KeyError(city)
        return {"city": f"{city} {days + 0}"}
'''
MADE = {
    "langchain": """
    from langchain_core.tools import tool
    tools = [tool(weather), tool(later)]
""",
    "openai-agents": """
    from agents import function_tool
    tools = [function_tool(each, strict_mode=False) for each in (weather, later)]
""",
    "pydantic-ai": """
    from pydantic_ai import Tool
    tools = [Tool(weather), Tool(later)]
""",
    "autogen": """
    from autogen_core.tools import FunctionTool
    tools = [FunctionTool(weather, description="x"), FunctionTool(later, description="x")]
""",
    "ag2": """
    import ag2
    tools = [ag2.tool(weather), ag2.tool(later)]
""",
    "agent-framework": """
    from agent_framework import tool
    tools = [tool(weather), tool(later)]
""",
    "adk": """
    from google.adk.tools import FunctionTool
    tools = [FunctionTool(weather), FunctionTool(later)]
""",
    "smolagents": """
    from smolagents import tool
    tools = [tool(weather)]
""",
}
ONCE_MORE = """
import json, sys
from misstep.adapters.toolset.bound import bind
from misstep.adapters.toolset.calling import ArgumentsRefused

def come_of(tool, arguments):
    try:
        return tool.call(arguments).text
    except ArgumentsRefused as error:
        return "refused"
    except Exception as error:
        return repr(error)

for tool in bind(sys.argv[1]).bounds:
    calls = [{"city": "Oslo"}, {"city": "nowhere"}, {}]
    entry = tool.entry.function.__name__
    print(json.dumps([tool.described.kind, tool.described.is_async, entry, [come_of(tool, each) for each in calls]]))
"""


def code(framework: str) -> str:
    return FUNCTIONS + "#" + MADE[framework]


@pytest.mark.parametrize("framework", MADE)
def test_calls(framework: str, write: Write, binding: Binding) -> None:
    toolset = binding(f"{write(code(framework))}:tools")
    for tool in toolset.bounds:
        assert tool.described.kind == framework
        assert tool.described.is_async is (tool.described.name == "later")
        assert tool.described.source is not None
        assert tool.described.source.text.startswith(("def weather", "async def later"))
        returned = tool.call({"city": "Oslo", "days": 2})
        assert "Oslo 2" in returned.text
        assert json.loads(returned.structured or "") == {"city": "Oslo 2"}
        with pytest.raises(KeyError) as caught:
            tool.call({"city": "nowhere"})
        assert caught.value.args == ("nowhere",)
        with pytest.raises(ArgumentsRefused):
            tool.call({"days": 2})
        assert "Rome 3" in tool.call({"city": "Rome"}).text
    assert "looped" in toolset.bounds[0].call({"city": "loop"}).text


CHECKED = [framework for framework in MADE if framework != "adk"]  # which lets wrong types pass


@pytest.mark.parametrize("framework", CHECKED)
def test_the_framework_s_own_checks(framework: str, write: Write, binding: Binding) -> None:
    toolset = binding(f"{write(code(framework))}:tools")
    for tool in toolset.bounds:
        with pytest.raises(ArgumentsRefused) as caught:
            tool.call({"city": "Oslo", "days": "many"})
        assert "days" in str(caught.value) or framework == "openai-agents"  # which only tells whose they were
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize("framework", MADE)
def test_entries(framework: str, write: Write, binding: Binding) -> None:
    toolset = binding(f"{write(code(framework))}:tools")
    tool = toolset.bounds[0]
    given = list[Any]()
    function = watch(tool, given)
    assert "Oslo 3" in tool.call({"city": "Oslo"}).text
    assert given == ["Oslo"]
    assert tool.entry is not None
    tool.entry.function = function
    tool.call({"city": "Rome"})
    assert given == ["Oslo"]


def watch(tool: BoundTool, given: list[Any]) -> Any:
    """Put a function before the tool's own that notes where it was asked to look."""
    assert tool.entry is not None
    function = tool.entry.function
    assert function.__name__ in ("weather", "forward")

    def watching(*arguments: Any, **named: Any) -> Any:
        given.append(named["city"] if "city" in named else arguments[0])
        return function(*arguments, **named)

    tool.entry.function = watching
    return function


LANGCHAIN = """
    from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, Tool, ToolException
    from pydantic import BaseModel, field_validator

    class Checked(BaseModel):
        size: int
        @field_validator("size")
        @classmethod
        def check(cls, size):
            return {1: 1, 2: 2}[size]

    class Own(BaseTool):
        name: str = "own"
        description: str = "Own class."
        args_schema: type[BaseModel] = Checked
        handle_validation_error: bool = True
        def _run(self, size: int) -> str:
            return Checked(size="many") if size == 2 else "x" * size

    class Kit(BaseToolkit):
        def get_tools(self):
            return [Own(), Tool("shout", lambda text: text.upper(), "Shout.")]

    kit = Kit()
"""


def test_classes_and_toolkits_of_langchain(write: Write, binding: Binding) -> None:
    own, shout = binding(f"{write(LANGCHAIN)}:kit").bounds
    assert own.call({"size": 1}).text == "x"
    assert shout.call({"tool_input": "so"}).text == "SO"
    with pytest.raises(ArgumentsRefused, match="valid integer"):
        own.call({"size": "many"})
    with pytest.raises(KeyError):  # of a validator, which is code of the tool's own
        own.call({"size": 3})
    with pytest.raises(ValueError, match="valid integer") as caught:  # the same error out of the tool itself
        own.call({"size": 2})
    assert not isinstance(caught.value, ArgumentsRefused)


CONTEXTS = """
    from agents import RunContextWrapper, function_tool
    from google.adk.tools import FunctionTool, ToolContext
    from pydantic_ai import RunContext, Tool

    @function_tool
    def of_openai(context: RunContextWrapper, city: str) -> str:
        return f"{city} {type(context).__name__}"

    def of_pydantic(context: RunContext, city: str) -> str:
        return f"{city} {context.tool_name}"

    def of_adk(city: str, tool_context: ToolContext) -> str:
        tool_context.state["city"] = city
        return f"{city} {type(tool_context).__name__}"

    tools = [of_openai, Tool(of_pydantic), FunctionTool(of_adk)]
"""


def test_tools_that_take_a_context_get_one(write: Write, binding: Binding) -> None:
    path = write(CONTEXTS)
    answers = [tool.call({"city": "Oslo"}).text for tool in binding(f"{path}:tools").bounds]
    assert answers == ["Oslo ToolContext", "Oslo of_pydantic", "Oslo Context"]
    with pytest.raises(
        UsageError, match="can't be called without 'tool_context', which a model does not provide"
    ):
        binding(f"{path}:of_adk")


NEEDY = """
    from dataclasses import dataclass
    from typing import Annotated
    from agents import RunContextWrapper, function_tool
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import InjectedToolArg, InjectedToolCallId, tool
    from pydantic_ai import RunContext, Tool

    @dataclass
    class Shop:
        name: str = "corner"

    @dataclass
    class Bank:
        key: str

    def of_pydantic(context: RunContext[Shop], city: str) -> str:
        return context.deps.name + city

    @function_tool
    def of_openai(context: RunContextWrapper[Shop], city: str) -> str:
        return context.context.name + city

    @tool
    def of_langchain(city: str, number: Annotated[str, InjectedToolCallId], config: RunnableConfig) -> str:
        "Takes what every call has."
        return number + city

    tools = [Tool(of_pydantic), of_openai, of_langchain]

    def rich_pydantic(context: RunContext[Bank], city: str) -> str: ...
    pydantic = Tool(rich_pydantic)

    @function_tool
    def openai(context: RunContextWrapper[Bank], city: str) -> str: ...

    @tool
    def langchain(city: str, bank: Annotated[Bank, InjectedToolArg]) -> str:
        "Takes what no call has."
"""


def test_what_a_context_holds_is_made_if_it_can_be(write: Write, binding: Binding) -> None:
    path = write(NEEDY)
    answers = [tool.call({"city": "Oslo"}).text for tool in binding(f"{path}:tools").bounds]
    assert answers == ["cornerOslo", "cornerOslo", "call-1Oslo"]
    for name in ("pydantic", "openai", "langchain"):
        with pytest.raises(UsageError, match="from its framework, which misstep can't provide"):
            binding(f"{path}:{name}")


def called_elsewhere(python: str, spec: str) -> list[Any]:
    """What another environment makes of some calls, in which misstep is not installed but can be imported."""
    variables = {"PYTHONPATH": str(SOURCE), "HOME": HOME, "CREWAI_DISABLE_TELEMETRY": "true"}
    result = subprocess.run(
        [python, "-c", ONCE_MORE, spec], capture_output=True, text=True, env=variables, check=True
    )
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("[")]


@pytest.mark.full
@pytest.mark.skipif(not CREWAI, reason="no environment with CrewAI")
def test_crewai(write: Write) -> None:
    own = """
    from crewai.tools import BaseTool, tool

    class Own(BaseTool):
        name: str = "Own"
        description: str = "Own class."
        def _run(self, city: str) -> str:
            return weather(city)["city"]

    tools = [tool(weather), Own()]
    """
    made, own_class = called_elsewhere(CREWAI, f"{write(FUNCTIONS + '#' + own)}:tools")
    outcomes = ["KeyError('nowhere')", "refused"]
    assert made == ["crewai", False, "weather", ['{"city": "Oslo 3"}', *outcomes]]
    assert own_class == ["crewai", False, "_run", ["Oslo 3", *outcomes]]


@pytest.mark.full
@pytest.mark.skipif(not LLAMA_INDEX, reason="no environment with LlamaIndex")
def test_llama_index(write: Write) -> None:
    own = """
    from llama_index.core.tools import FunctionTool
    tools = [FunctionTool.from_defaults(weather), FunctionTool.from_defaults(async_fn=later)]
    """
    plain, awaited = called_elsewhere(LLAMA_INDEX, f"{write(FUNCTIONS + '#' + own)}:tools")
    outcomes = ["{'city': 'Oslo 3'}", "KeyError('nowhere')", "refused"]
    assert plain == ["llama-index", False, "weather", outcomes]
    assert awaited == ["llama-index", True, "later", outcomes]
