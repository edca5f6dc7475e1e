"""The files in which editors and clients list MCP servers are read as they are."""

import json
from pathlib import Path

import pytest

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.toolset.collecting import servers_in_file
from misstep.errors import UsageError


def read(path: Path, text: str) -> list[McpServer]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    servers = servers_in_file(str(path))
    assert servers is not None
    return servers


VS_CODE = r"""{
  // What VS Code asks for, and the servers. "https://example.com" is no comment.
  "inputs": [
    {"type": "promptString", "id": "notes-key", "description": "Key", "password": true},
    {"type": "pickString", "id": "level", "options": ["low", "high"], "default": "low"},
  ],
  "servers": {
    "notes": {
      "type": "stdio",
      "command": "${workspaceFolder}/bin/notes", /* built by
                                                    make */
      "args": ["--level", "${input:level}", "a // b, ]", "${userHome}"],
      "envFile": "${workspaceFolder}/.env",
      "env": {"KEY": "${input:notes-key}", "PORT": 8080, "UNSET": null},
    },
    "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
  },
}"""


def test_a_file_of_vs_code_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTES_KEY", "key1")
    monkeypatch.setenv("TOKEN", "token1")
    monkeypatch.setenv("HOME", "/home/ada")
    (tmp_path / ".env").write_text(
        "# keys\nexport PLACE='north wall'\nKEY=other\n\nPORT = 1\n", encoding="utf-8"
    )
    notes, web = read(tmp_path / ".vscode" / "mcp.json", VS_CODE)
    assert notes.command == (f"{tmp_path}/bin/notes", "--level", "low", "a // b, ]", "/home/ada")
    assert notes.environment == {"PLACE": "north wall", "KEY": "key1", "PORT": "8080"}
    assert (web.url, web.headers) == ("https://example.com/mcp", {"Authorization": "Bearer token1"})


def test_servers_in_the_settings_of_vs_code_are_read(tmp_path: Path) -> None:
    settings = {"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "a"}}}}
    assert [each.name for each in read(tmp_path / "settings.json", json.dumps(settings))] == ["'a'"]


def test_a_file_of_claude_desktop_or_cursor_is_read(tmp_path: Path) -> None:
    entries = {
        "memory": {"command": "npx", "args": ["-y", "memory"], "env": {"FILE": "${workspaceFolder}/m.json"}},
        "off": {"command": "x", "disabled": True},
    }
    (memory,) = read(tmp_path / ".cursor" / "mcp.json", json.dumps({"mcpServers": entries}))
    assert memory.command == ("npx", "-y", "memory")
    assert memory.environment == {"FILE": f"{tmp_path}/m.json"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"args": ["${input:my-key}"]}, "environment variable MY_KEY is not set"),
        ({"args": ["${NOWHERE_SET}"]}, "environment variable NOWHERE_SET is not set"),
        ({"envFile": "missing.env"}, "envFile can't be read"),
        ({"envFile": "\0"}, "envFile can't be read"),
        ({"env": {"A": []}}, "env"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, entry: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(tmp_path / "mcp.json", json.dumps({"servers": {"a": {"command": "x", **entry}}}))


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not JSON"):
        read(tmp_path / "mcp.json", '{"servers": {"a": // }')
