"""What is found in a project by reading it."""

import json
from pathlib import Path

import pytest

from misstep.features.init import search
from misstep.features.init.search import ProjectItem, scan

AGENT = "def agent(request, tools): ...\n"


def write(folder: Path, name: str, text: str = AGENT) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def specs(folder: Path, kind: search.ItemKind = "agent") -> list[str]:
    return [item.spec for item in scan(folder).of(kind)]


def test_files_are_searched_where_people_write_code(tmp_path: Path) -> None:
    for name in (
        *("a.py", "deep/er/b.py", "größe.py", "with space.py"),
        *(".hidden/x.py", ".hidden.py", "venv/x.py", "my-env/pyvenv.cfg", "my-env/x.py", "node_modules/x.py"),
        *("tests/x.py", "deep/tests/x.py", "test_x.py", "x_test.py", "conftest.py", "setup.py", "x.txt"),
        *("__pycache__/x.py", "build/x.py"),
    ):
        write(tmp_path, name)
    assert specs(tmp_path) == [
        "a.py:agent",
        "größe.py:agent",
        "with space.py:agent",
        "deep/er/b.py:agent",
    ]


def test_a_folder_in_a_virtual_environment_or_hidden_folder_is_searched_if_it_is_the_project(
    tmp_path: Path,
) -> None:
    write(tmp_path, ".venv/pyvenv.cfg")
    write(tmp_path, ".venv/a.py")
    assert specs(tmp_path) == []
    assert specs(tmp_path / ".venv") == ["a.py:agent"]


def test_the_package_of_misstep_is_skipped_wherever_it_is(tmp_path: Path) -> None:
    for name in ("misstep", "src/misstep", "shop", "shop/misstep"):
        write(tmp_path, f"{name}/__init__.py", "")
    for name in ("src/misstep/a.py", "misstep/deep/a.py", "shop/misstep/a.py", "evals/misstep/a.py"):
        write(tmp_path, name)
    assert specs(tmp_path) == ["evals/misstep/a.py:agent", "shop.misstep.a:agent"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    found = scan(tmp_path)
    assert [item.spec for item in found.items] == ["a.py:agent"]
    assert found.unread == ("gone.py  can't be read: No such file or directory",)


def test_huge_projects_are_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write(tmp_path, f"a{number}.py")
    assert scan(tmp_path).is_complete
    monkeypatch.setattr(search, "MOST_FILES", 3)
    found = scan(tmp_path)
    assert (found.files, found.is_complete, len(found.items)) == (3, False, 3)
    monkeypatch.setattr(search, "MOST_ENTRIES", 4)
    assert not scan(tmp_path).is_complete


def test_what_is_not_python_is_told(tmp_path: Path) -> None:
    write(tmp_path, "deep/broken.py", "def agent(:\n")
    write(tmp_path, "fine.py")
    found = scan(tmp_path)
    assert found.unread == ("deep/broken.py:1  is not valid Python: invalid syntax",)
    assert [item.spec for item in found.items] == ["fine.py:agent"]


def test_modules_of_a_package_are_named_as_such(tmp_path: Path) -> None:
    write(tmp_path, "shop/__init__.py", "")
    write(tmp_path, "shop/inner/__init__.py", "")
    write(tmp_path, "shop/inner/a.py")
    write(tmp_path, "src/not_installed/__init__.py", "")
    write(tmp_path, "src/not_installed/b.py")
    write(tmp_path, "src/json/__init__.py", "")  # a name that can be imported
    write(tmp_path, "src/json/c.py")
    assert specs(tmp_path) == ["shop.inner.a:agent", "json.c:agent", "src/not_installed/b.py:agent"]


def test_servers(tmp_path: Path) -> None:
    made = "from mcp.server import MCPServer\nserver = MCPServer('s')\n"
    write(tmp_path, "my server.py", f"{made}server.run()\n")
    write(tmp_path, "part.py", made)
    write(
        tmp_path,
        ".mcp.json",
        json.dumps({"mcpServers": {"files": {"command": "npx"}, "web": {"url": "http://x"}}}),
    )
    write(tmp_path, ".cursor/mcp.json", json.dumps({"mcpServers": {"web": {"url": "http://x"}}}))
    write(tmp_path, ".vscode/mcp.json", json.dumps({"servers": {"git": {"command": "uvx"}}}))
    write(tmp_path, "mcp.json", "{no JSON")
    found = scan(tmp_path)
    assert found.of("server") == [
        ProjectItem("server", "mcp:python 'my server.py'", "my server.py:2", "MCP server", "server", "mcp"),
        ProjectItem("server", ".mcp.json", ".mcp.json", "MCP servers files, web", extra="mcp"),
        ProjectItem("server", ".vscode/mcp.json", ".vscode/mcp.json", "MCP servers git", extra="mcp"),
        ProjectItem(
            "server",
            "mcp:python part.py",
            "part.py:2",
            "MCP server",
            "server",
            "mcp",
            "is not started by its file",
        ),
        ProjectItem(
            "server",
            ".cursor/mcp.json",
            ".cursor/mcp.json",
            "MCP servers web",
            extra="mcp",
            problem="lists remote servers only",
        ),
    ]
    assert found.unread[0].startswith("mcp.json  can't be read: ")


@pytest.mark.parametrize(
    ("more", "spec", "problem"),
    [
        ({"bin": {"x": "index.js"}}, "mcp:node index.js", ""),
        ({"bin": "./index.js"}, "mcp:node index.js", ""),
        ({"main": "index.js"}, "mcp:node index.js", ""),
        ({"main": "dist/index.js", "scripts": {"start": "x"}}, "mcp:npm start --silent", ""),
        ({"main": "dist/index.js"}, "mcp:", "does not say how it is started, or is not built yet"),
        ({"main": 3, "scripts": []}, "mcp:", "does not say how it is started, or is not built yet"),
    ],
)
def test_servers_for_node(tmp_path: Path, more: dict[str, object], spec: str, problem: str) -> None:
    write(tmp_path, "index.js")
    write(tmp_path, "package.json", json.dumps({"dependencies": {search.MCP_SDK: "^1"}, **more}))
    assert [(item.spec, item.problem) for item in scan(tmp_path).items] == [(spec, problem)]
    write(tmp_path, "package.json", json.dumps({"dependencies": {"express": "^1"}, **more}))
    assert scan(tmp_path).items == ()


@pytest.mark.parametrize(
    "text", ["[]", "3", '{"dependencies": 3}', '{"mcpServers": []}', '{"servers": {"a": 3}}']
)
def test_odd_configurations_are_no_servers(tmp_path: Path, text: str) -> None:
    write(tmp_path, "package.json", text)
    write(tmp_path, "mcp.json", text)
    assert scan(tmp_path).items == ()


def test_the_likeliest_come_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        "app.py",
        "from langchain.agents import create_agent\nfrom crewai import Crew\n"
        "helper = create_agent('m')\ncrew = Crew()\ndef make_agent(tools): ...\n"
        "def cut(text: str) -> str:\n    'Cut.'\n",
    )
    write(tmp_path, "my_tools.py", "def add(a: int) -> int:\n    'Add.'\n")
    write(tmp_path, "deep/kit.py", "tools = []\n")
    found = scan(tmp_path)
    assert [item.name for item in found.of("agent")] == ["make_agent", "crew", "helper"]
    assert [item.problem for item in found.of("agent")] == ["", "", "is tied to its tools"]
    assert [item.extra for item in found.of("agent")] == ["", "crewai", "langchain"]
    assert [item.name for item in found.of("tool")] == ["tools", "add", "cut"]


def test_functions_are_tools_if_anything_says_so(tmp_path: Path) -> None:
    function = "def f(a: int) -> int:\n    'F.'\n"
    write(tmp_path, "other.py", function)
    assert specs(tmp_path, "tool") == ["other.py:f"]  # there is nothing else
    write(tmp_path, "my_tools.py", function)
    assert specs(tmp_path, "tool") == ["my_tools.py:f"]
    write(tmp_path, "app.py", AGENT + function)
    assert specs(tmp_path, "tool") == ["my_tools.py:f", "app.py:f"]
    assert scan(tmp_path).guesses == 1
