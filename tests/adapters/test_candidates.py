"""What is found in Python files without importing them, and what is said about a file without a name after it."""

from pathlib import Path

import pytest

from misstep.adapters.loading.candidates import FileCandidate, candidates_in, nameless, preferred
from misstep.adapters.loading.recognition import expected
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.errors import UsageError
from tests.conftest import Command, misstep

__all__ = ["misstep"]


def found(folder: Path, code: str) -> list[FileCandidate]:
    path = folder / "mine.py"
    path.write_text(code)
    return candidates_in(path)


def names(folder: Path, code: str, kind: str) -> list[str]:
    return [each.name for each in found(folder, code) if each.kind == kind]


@pytest.mark.parametrize(
    ("imported", "made", "framework", "what"),
    [
        ("from langchain.agents import create_agent", "create_agent('m')", "langchain", "LangChain agent"),
        (
            "from langgraph.prebuilt import create_react_agent",
            "create_react_agent(m)",
            "langchain",
            "LangChain agent",
        ),
        (
            "from langgraph.graph import StateGraph",
            "StateGraph(dict).compile()",
            "langchain",
            "LangChain graph",
        ),
        (
            "from langchain_classic.agents import AgentExecutor as E",
            "E(agent=1)",
            "langchain",
            "LangChain agent",
        ),
        ("from agents import Agent", "Agent(name='a')", "openai_agents", "OpenAI Agents agent"),
        ("import agents", "agents.Agent(name='a')", "openai_agents", "OpenAI Agents agent"),
        ("from pydantic_ai import Agent", "Agent[int, str]('m')", "pydantic_ai", "Pydantic AI agent"),
        ("import smolagents as s", "s.CodeAgent([], m)", "smolagents", "smolagents agent"),
        (
            "from smolagents import ToolCallingAgent",
            "ToolCallingAgent([], m)",
            "smolagents",
            "smolagents agent",
        ),
        ("from crewai import Crew", "Crew(agents=[])", "crewai", "CrewAI crew"),
        ("import crewai.crew", "crewai.crew.Crew()", "crewai", "CrewAI crew"),
        (
            "from llama_index.core.agent.workflow import FunctionAgent",
            "FunctionAgent()",
            "llama_index",
            "LlamaIndex agent",
        ),
        (
            "from llama_index.core.agent import ReActAgent",
            "ReActAgent.from_tools([])",
            "llama_index",
            "LlamaIndex agent",
        ),
        (
            "from autogen_agentchat.agents import AssistantAgent",
            "AssistantAgent('a')",
            "autogen",
            "AutoGen agent",
        ),
        ("from google.adk.agents import LlmAgent", "LlmAgent(name='a')", "adk", "ADK agent"),
        ("from google.adk import Agent", "Agent(name='a')", "adk", "ADK agent"),
        ("from ag2 import Agent", "Agent('a')", "ag2", "AG2 agent"),
        ("from autogen import ConversableAgent", "ConversableAgent('a')", "ag2", "AG2 agent"),
        ("from agent_framework import Agent", "Agent(client)", "agent_framework", "Agent Framework agent"),
    ],
)
def test_agents_of_frameworks(tmp_path: Path, imported: str, made: str, framework: str, what: str) -> None:
    candidates = found(tmp_path, f"{imported}\n\nmine = {made}\n")
    tied = framework == "langchain"
    assert candidates == [FileCandidate("mine", "agent", 3, what, framework, tied)]


def test_every_framework_has_a_title() -> None:
    assert all(framework.title for framework in FRAMEWORKS.values())


@pytest.mark.parametrize(
    "code",
    [
        "class Agent: ...\nmine = Agent()",  # not imported from anywhere
        "from somewhere import Agent\nmine = Agent()",
        "from .agents import Agent\nmine = Agent()",
        "from crewai import Task\nmine = Task()",
        "from crewai import Crew\n_mine = Crew()",
        "from crewai import Crew\nif __name__ == '__main__':\n    mine = Crew()",
        "from crewai import Crew\nmine = Crew",
    ],
)
def test_what_is_no_agent(tmp_path: Path, code: str) -> None:
    assert names(tmp_path, code, "agent") == []


@pytest.mark.parametrize("own", ["agents.py", "agents/__init__.py"])
def test_a_module_of_the_user_hides_a_package_of_the_same_name(tmp_path: Path, own: str) -> None:
    code = "from agents import Agent\nmine = Agent()"
    assert names(tmp_path, code, "agent") == ["mine"]
    (tmp_path / own).parent.mkdir(exist_ok=True)
    (tmp_path / own).touch()
    assert names(tmp_path, code, "agent") == []


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("def mine(request, tools): ...", "function"),
        ("async def mine(request: str, tools: list) -> str: ...", "function"),
        ("def mine(tools, request): ...", "function"),
        ("def mine(question, tool_list, verbose=False): ...", "function"),
        ("def mine(user_message, available_tools): ...", "function"),
        ("def mine(tools):\n    return lambda request: ''", "function of the tools"),
        ("def mine(tools):\n    def inner(request): ...\n    return inner", "function of the tools"),
        ("from crewai import Crew\ndef mine(tools):\n    return Crew(tools)", "function of the tools"),
        (
            "class mine:\n    def __init__(self):\n        self.name = ''\n    async def run(self, a, b): ...",
            "class",
        ),
        ("from crewai import Crew\ndef mine():\n    return Crew()", "function"),
        ("from crewai import Crew\ndef mine(size=3):\n    crew = Crew()\n    return crew", "function"),
        ("class mine:\n    name = 'a'\n    async def run(self, assignment, toolbox): ...", "class"),
    ],
)
def test_agents_in_plain_python(tmp_path: Path, code: str, what: str) -> None:
    assert [(each.name, each.what) for each in found(tmp_path, code) if each.kind == "agent"] == [
        ("mine", what)
    ]


@pytest.mark.parametrize(
    "code",
    [
        "def mine(a, b): ...",
        "def mine(request): ...",
        "def mine(request, tools, more): ...",
        "def mine(request, tools, *, more): ...",
        "def mine(): ...",
        "def mine(server, tools): ...",
        "def mine(tools): ...",
        "def mine(tools):\n    return len(tools)",
        "class mine:\n    async def run(self, assignment, toolbox): ...",
        "class mine(typing.Protocol):\n    name: str\n    async def run(self, assignment, toolbox): ...",
        "def _mine(request, tools): ...",
        "class mine:\n    def run(self, assignment, toolbox): ...",
        "class mine:\n    def __init__(self, x): ...\n    async def run(self, assignment, toolbox): ...",
        "@app.command()\ndef mine(request, tools): ...",
    ],
)
def test_functions_that_are_no_agents(tmp_path: Path, code: str) -> None:
    assert names(tmp_path, code, "agent") == []


@pytest.mark.parametrize(
    "imported",
    [
        "from mcp.server.fastmcp import FastMCP as S",
        "from mcp.server import MCPServer as S",
        "from mcp.server import Server as S",
        "from mcp.server.lowlevel import Server as S",
        "from fastmcp import FastMCP as S",
    ],
)
def test_servers_keep_their_tools(tmp_path: Path, imported: str) -> None:
    code = f"{imported}\nserver = S('s')\n@server.tool()\ndef add(a: int, b: int) -> int:\n    'Add.'\n"
    assert found(tmp_path, code) == [FileCandidate("server", "server", 2, "MCP server", "mcp")]


def test_tools(tmp_path: Path) -> None:
    code = '''
import functools
from agents import function_tool
from langchain_core.tools import StructuredTool, tool
from langchain_community.agent_toolkits import FileManagementToolkit

def price(item: str, count: int = 1) -> float:
    """The price of an item."""

def now() -> str:
    """The time."""

@functools.cache
def rate(currency: str) -> float:
    """The rate of a currency."""

@tool
def search(query): ...

@function_tool(strict_mode=False)
def weather(city: str): ...

wrapped = StructuredTool.from_function(price)
kit = FileManagementToolkit()
tools = [price, search]

def make_tools(): ...

def untyped(item):
    """No types."""

def undocumented(item: str) -> str: ...

def main() -> None:
    """Run it."""

def test_price(item: str) -> None:
    """A test."""

@app.get("/")
def page(name: str) -> str:
    """A page."""
'''
    assert names(tmp_path, code, "tool") == [
        *("price", "now", "rate", "search", "weather", "wrapped", "kit", "tools", "make_tools")
    ]
    assert {each.name: each.framework for each in found(tmp_path, code) if each.framework} == {
        "search": "langchain",
        "weather": "openai_agents",
        "wrapped": "langchain",
    }


def test_what_is_under_if_and_try_counts_and_the_last_definition_wins(tmp_path: Path) -> None:
    code = (
        "try:\n    from crewai import Crew\nexcept ImportError:\n    Crew = None\n"
        "if Crew:\n    mine = Crew()\nelse:\n    def other(request, tools): ...\n"
        "def twice(item: str) -> str:\n    'Once.'\ndef twice(request, tools): ...\n"
    )
    assert [(each.name, each.kind, each.line) for each in found(tmp_path, code)] == [
        ("mine", "agent", 6),
        ("other", "agent", 8),
        ("twice", "agent", 11),
    ]


def test_nothing_is_imported(tmp_path: Path) -> None:
    code = "import no_such_package\nraise SystemExit('imported')\ndef agent(request, tools): ...\n"
    assert names(tmp_path, code, "agent") == ["agent"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"def agent(:\n", "mine.py:1  is not valid Python: invalid syntax"),
        (b"x = 1\n\xff\xfe\n", "is not valid Python"),
        (b"\0", "is not valid Python"),
        (b"#" * (1 << 20) + b"#", "is larger than 1 MB"),
        (b"(" * 50_000, "is not valid Python"),
    ],
    ids=["syntax", "encoding", "null", "large", "deep"],
)
def test_a_file_that_is_no_python(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        candidates_in(path)
    assert said in str(raised.value)


def test_the_preferred_one_can_be_used_as_it_is(tmp_path: Path) -> None:
    code = (
        "from langchain.agents import create_agent\nhelper = create_agent('m')\n"
        "def other(request, tools): ...\ndef make_agent(tools): ...\n"
    )
    assert preferred(found(tmp_path, code)).name == "make_agent"
    assert preferred(found(tmp_path, code)[:1]).name == "helper"


AGENTS = """
from crewai import Crew

def agent(request, tools):
    return "done"

crew = Crew()

def price(item: str) -> float:
    \"\"\"The price.\"\"\"
    return 1.0
"""


@pytest.mark.parametrize("given", ["mine.py", "mine.py:"])
@pytest.mark.parametrize(
    "command", [("plan", "test"), ("bench", "files"), ("tool", "consistency", "mine.py:price")], ids=" ".join
)
def test_an_agent_without_a_name(
    tmp_path: Path, misstep: Command, command: tuple[str, ...], given: str
) -> None:
    (tmp_path / "mine.py").write_text(AGENTS)
    assert misstep(*command, "--agent", given).err == (
        f"'{given}' does not name an agent\n"
        "  in mine.py: agent (function, line 4), crew (CrewAI crew, line 7)\n"
        "  for example: --agent mine.py:agent\n"
    )
    assert not (tmp_path / ".misstep").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("tool", "fuzz", "mine.py"),
        ("tool", "list", "mine.py"),
        ("tool", "lint", "mine.py"),
        ("plan", "synth", "--tools", "mine.py"),
    ],
    ids=" ".join,
)
def test_tools_without_a_name(tmp_path: Path, misstep: Command, command: tuple[str, ...]) -> None:
    (tmp_path / "mine.py").write_text(AGENTS)
    printed = misstep(*command)
    assert (printed.code, printed.out) == (2, "")
    assert printed.err == (
        "'mine.py' does not name a tool\n  in mine.py: price (function, line 9)\n  for example: mine.py:price\n"
    )


def test_a_server_is_named_by_its_command(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text("from mcp.server import MCPServer\nserver = MCPServer('s')\n")
    assert misstep("tool", "list", "mine.py").err == (
        "'mine.py' does not name a tool\n"
        "  in mine.py: server (MCP server, line 2)\n"
        "  for example: 'mcp:python mine.py'\n"
    )


def test_many_are_listed_on_a_line_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("".join(f"def agent_{i}(request, tools): ...\n" for i in range(12)))
    lines = str(nameless("mine.py", "agent", expected())).splitlines()
    assert lines[1:3] == ["  in mine.py:", "    agent_0 (function, line 1)"]
    assert lines[-2:] == ["    and 4 more", "  for example: --agent mine.py:agent_0"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (None, "mine.py  no such file"),
        ("x = 1", "'mine.py' does not name an agent\n  none was found in mine.py\n  expected one of:\n"),
        ("def agent(:", "mine.py:1  is not valid Python: invalid syntax"),
    ],
)
def test_files_without_an_agent(tmp_path: Path, misstep: Command, code: str | None, said: str) -> None:
    if code is not None:
        (tmp_path / "mine.py").write_text(code)
    assert misstep("plan", "test", "--agent", "mine.py").err.startswith(said)


@pytest.mark.parametrize(
    "command", [("plan", "test", "--agent", "mine.py:agnet"), ("tool", "fuzz", "mine.py:agnet")], ids=" ".join
)
def test_a_wrong_name(tmp_path: Path, misstep: Command, command: tuple[str, ...]) -> None:
    (tmp_path / "mine.py").write_text("def agent(request, tools): ...\n")
    assert misstep(*command).err == "mine.py  there is no 'agnet' here\n  Did you mean 'agent'?\n"
