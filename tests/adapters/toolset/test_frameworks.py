"""Tools of every framework as it makes them: what its models would see is what we read, and nothing is called."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.spec import tools_from
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.schemas.examples import make_up
from misstep.schemas.schema import fits
from tests.adapters.toolset.toolset_cases import PLAIN, WEATHER, Write, bare, only, write
from tests.conformance.subject_crewai import HOME
from tests.conformance.subject_crewai import PYTHON as CREWAI
from tests.conformance.subject_llama_index import PYTHON as LLAMA_INDEX

__all__ = ["write"]

SOURCE = Path(__file__).parents[3] / "src"

LANGCHAIN = """
    from langchain_core.tools import StructuredTool, BaseTool, BaseToolkit, InjectedToolArg, Tool as Single, tool
    from typing import Annotated, Any
    made = tool(weather)
    single = Single("look", lambda text: text, "Look it up.")
    by_schema = StructuredTool(name="s", description="By schema.", func=weather, args_schema={
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})

    @tool
    def hidden(query: str, user: Annotated[str, InjectedToolArg]) -> str:
        "Hides one."
        raise AssertionError

    class Own(BaseTool):
        name: str = "own"
        description: str = "Own class."
        def _run(self, size: int) -> str:
            raise AssertionError

    class Kit(BaseToolkit):
        def get_tools(self):
            return [made, single]

    kit = Kit()
"""
OPENAI_AGENTS = """
    from agents import FunctionTool, RunContextWrapper, WebSearchTool, function_tool
    made = function_tool(weather)
    hosted = WebSearchTool()

    @function_tool(strict_mode=False)
    def with_context(context: RunContextWrapper[int], query: str, size: int = 3) -> str:
        "Takes a context."
        raise AssertionError
"""
PYDANTIC_AI = """
    from pydantic_ai import FunctionToolset, RunContext, Tool
    made = Tool(weather, name="forecast", description="Other words.")
    toolset = FunctionToolset([weather])

    @toolset.tool
    def with_context(context: RunContext[int], query: str) -> str:
        "Takes a context."
        raise AssertionError
"""
SMOLAGENTS = """
    from smolagents import Tool, ToolCollection, tool
    made = tool(weather)

    class Own(Tool):
        name = "own"
        description = "Own class."
        inputs = {"what": {"type": "any", "description": "Whatever."}, "image": {"type": "image", "description": ""}}
        output_type = "string"
        def forward(self, what, image) -> str:
            raise AssertionError

    own = Own()
    several = ToolCollection([made, own])
"""
AUTOGEN = """
    from autogen_core.tools import FunctionTool, StaticWorkbench
    made = FunctionTool(weather, description="Other words.")
    bench = StaticWorkbench([made])
"""
AG2 = """
    import ag2
    from ag2.tools import Toolkit
    made = ag2.tool(weather)
    kit = Toolkit(weather, name="all")
"""
AGENT_FRAMEWORK = """
    from agent_framework import tool
    made = tool(weather, name="forecast", description="Other words.")
"""
ADK = """
    from google.adk.agents import LlmAgent
    from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext, google_search
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.genai import types
    made = FunctionTool(weather)
    longer = LongRunningFunctionTool(weather)
    hosted = google_search

    def with_context(query: str, tool_context: ToolContext) -> str:
        "Takes a context."
        raise AssertionError

    class Own(BaseTool):
        def _get_declaration(self):
            part = types.Schema(type="ARRAY", items=types.Schema(type="INTEGER"), min_items=2)
            whole = types.Schema(type="OBJECT", properties={"sizes": part}, required=["sizes"])
            return types.FunctionDeclaration(name=self.name, description=self.description, parameters=whole)

    own = Own(name="own", description="Own class.")

    class Set(BaseToolset):
        async def get_tools(self, readonly_context=None):
            return [made, own]
        async def close(self):
            pass

    several = Set()
    agent = LlmAgent(name="me", model="m", tools=[weather, with_context])
"""
MADE = {
    "langchain": LANGCHAIN,
    "openai_agents": OPENAI_AGENTS,
    "pydantic_ai": PYDANTIC_AI,
    "smolagents": SMOLAGENTS,
    "autogen": AUTOGEN,
    "ag2": AG2,
    "agent_framework": AGENT_FRAMEWORK,
    "adk": ADK,
}


@pytest.mark.parametrize("framework", MADE)
def test_a_tool_made_of_a_function(framework: str, write: Write) -> None:
    tool = only(tools_from(f"{write(WEATHER + '#' + MADE[framework])}:made"))
    assert tool.name in ("weather", "forecast")
    assert tool.description.startswith(("Tell the weather.", "Other words."))
    properties = bare(tool.parameters["properties"])
    for name, schema in PLAIN.items():
        assert properties[name].items() >= schema.items()
    assert [*properties] == [*PLAIN]
    strict = framework == "openai_agents"  # strict mode requires everything
    assert tool.parameters["required"] == ([*PLAIN] if strict else ["city"])
    assert tool.parameters["type"] == "object"
    assert fits(tool.parameters, make_up(tool.parameters, Dice(0))) is None


def read(code: str, name: str, write: Write) -> list[tuple[str, str, Any]]:
    """Names, descriptions and schemas as the essential."""
    tools = tools_from(f"{write(WEATHER + '#' + code)}:{name}")
    return [(tool.name, tool.description.splitlines()[0], _essential(tool.parameters)) for tool in tools]


def _essential(schema: dict[str, Any]) -> Any:
    required = schema.get("required", [])
    return {
        name + ("" if name in required else "?"): bare(each) for name, each in schema["properties"].items()
    }


WHOLE = {
    "city": {"type": "string"},
    "days?": {"type": "integer"},
    "unit?": {"type": "string", "enum": ["c", "f"]},
}


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        (LANGCHAIN, "single", [("look", "Look it up.", {"tool_input": {"type": "string"}})]),
        (LANGCHAIN, "by_schema", [("s", "By schema.", {"a": {"type": "string"}})]),
        (LANGCHAIN, "hidden", [("hidden", "Hides one.", {"query": {"type": "string"}})]),
        (LANGCHAIN, "Own", [("own", "Own class.", {"size": {"type": "integer"}})]),
        (
            LANGCHAIN,
            "kit",
            [
                ("weather", "Tell the weather.", WHOLE),
                ("look", "Look it up.", {"tool_input": {"type": "string"}}),
            ],
        ),
        (
            OPENAI_AGENTS,
            "with_context",
            [
                (
                    "with_context",
                    "Takes a context.",
                    {"query": {"type": "string"}, "size?": {"type": "integer"}},
                )
            ],
        ),
        (
            PYDANTIC_AI,
            "toolset",
            [
                ("weather", "Tell the weather.", WHOLE),
                ("with_context", "Takes a context.", {"query": {"type": "string"}}),
            ],
        ),
        (SMOLAGENTS, "own", [("own", "Own class.", {"what": {}, "image": {}})]),
        (AUTOGEN, "bench", [("weather", "Other words.", WHOLE)]),
        (AG2, "kit", [("weather", "Tell the weather.", WHOLE)]),
        (ADK, "longer", [("weather", "Tell the weather.", WHOLE)]),
        (
            ADK,
            "own",
            [
                (
                    "own",
                    "Own class.",
                    {"sizes": {"type": "array", "items": {"type": "integer"}, "minItems": 2}},
                )
            ],
        ),
        (
            ADK,
            "agent",
            [
                ("weather", "Tell the weather.", WHOLE),
                ("with_context", "Takes a context.", {"query": {"type": "string"}}),
            ],
        ),
        (ADK, "with_context", [("with_context", "Takes a context.", {"query": {"type": "string"}})]),
    ],
)
def test_what_else_frameworks_have(code: str, name: str, expected: Any, write: Write) -> None:
    assert read(code, name, write) == expected


@pytest.mark.parametrize(
    ("code", "name", "names"),
    [(ADK, "several", ["weather", "own"]), (SMOLAGENTS, "several", ["weather", "own"])],
)
def test_collections_of_frameworks(code: str, name: str, names: list[str], write: Write) -> None:
    assert [each[0] for each in read(code, name, write)] == names


@pytest.mark.parametrize(("code", "kind"), [(OPENAI_AGENTS, "WebSearchTool"), (ADK, "GoogleSearchTool")])
def test_tools_that_a_provider_carries_out(code: str, kind: str, write: Write) -> None:
    with pytest.raises(UsageError, match=f"of the type {kind} is not a tool with a schema"):
        read(code, "hosted", write)


def test_what_langchain_tells_the_model_is_what_we_read(write: Write) -> None:
    """The library's own conversion is the second opinion."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    path = write(WEATHER + "#" + LANGCHAIN)
    for name in ("made", "hidden", "by_schema"):
        ours = only(tools_from(f"{path}:{name}"))
        theirs = convert_to_openai_tool(_object(path, name))["function"]
        assert bare(ours.parameters["properties"]) == bare(theirs["parameters"]["properties"])
        assert ours.parameters["required"] == theirs["parameters"]["required"]
        assert ours.name == theirs["name"]


def _object(path: str, name: str) -> Any:
    from misstep.adapters.loading.source import load_object

    return load_object(f"{path}:{name}")


def test_lists_of_all_kinds_at_once(write: Write) -> None:
    code = """
    from langchain_core.tools import tool
    from agents import function_tool

    def plain(x: int): "Plain."
    def second(x: int): "Second."
    def third(x: int): "Third."
    tools = [plain, tool(second), (function_tool(third), {"name": "fourth", "input_schema": {"type": "object"}})]
    """
    assert [tool.name for tool in tools_from(f"{write(code)}:tools")] == [
        "plain",
        "second",
        "third",
        "fourth",
    ]


ELSEWHERE = """
import json, sys
from misstep.adapters.toolset.spec import tools_from
tools = [[tool.name, tool.description, tool.parameters] for tool in tools_from(sys.argv[1])]
print(json.dumps(tools))
"""


def read_elsewhere(python: str, spec: str) -> Any:
    """What another environment finds, in which misstep is not installed but can be imported."""
    variables = {"PYTHONPATH": str(SOURCE), "HOME": HOME, "CREWAI_DISABLE_TELEMETRY": "true"}
    result = subprocess.run(
        [python, "-c", ELSEWHERE, spec], capture_output=True, text=True, env=variables, check=True
    )
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.full
@pytest.mark.skipif(not CREWAI, reason="no environment with CrewAI")
def test_crewai(write: Write) -> None:
    code = """
    from crewai.tools import BaseTool, tool

    class Own(BaseTool):
        name: str = "Look things up"
        description: str = "Own class."
        def _run(self, size: int) -> str:
            raise AssertionError

    @tool("Tell the weather")
    def telling(city: str, days: int = 3) -> str:
        "Tells it."
        raise AssertionError

    tools = [tool(weather), Own(), telling]
    """
    made, own, named = read_elsewhere(CREWAI, f"{write(WEATHER + '#' + code)}:tools")
    assert (made[0], _essential(made[2])) == ("weather", WHOLE)
    assert made[1].startswith("Tell the weather.")
    assert own[:2] == ["look_things_up", "Own class."]
    assert _essential(own[2]) == {"size": {"type": "integer"}}
    assert named[:2] == ["tell_the_weather", "Tells it."]


@pytest.mark.full
@pytest.mark.skipif(not LLAMA_INDEX, reason="no environment with LlamaIndex")
def test_llama_index(write: Write) -> None:
    code = """
    from llama_index.core.tools import FunctionTool
    from llama_index.core.tools.tool_spec.base import BaseToolSpec

    class Spec(BaseToolSpec):
        spec_functions = ["look"]
        def look(self, size: int) -> str:
            "Look."
            raise AssertionError

    tools = [FunctionTool.from_defaults(weather, description="Other words."), Spec()]
    """
    made, own = read_elsewhere(LLAMA_INDEX, f"{write(WEATHER + '#' + code)}:tools")
    assert made[:2] == ["weather", "Other words."]
    assert _essential(made[2]) == WHOLE
    assert (own[0], _essential(own[2])) == ("look", {"size": {"type": "integer"}})


@pytest.mark.full
@pytest.mark.skipif(not LLAMA_INDEX, reason="no environment without MCP")
def test_without_mcp_the_extra_is_named() -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        read_elsewhere(LLAMA_INDEX, "mcp:anything")
    assert "MissingExtra: mcp 2 is not installed" in caught.value.stderr


def test_arguments_that_a_framework_refuses_are_forbidden(write: Write) -> None:
    tool = only(tools_from(f"{write(WEATHER + '#' + SMOLAGENTS)}:own"))
    assert tool.parameters["additionalProperties"] is False
