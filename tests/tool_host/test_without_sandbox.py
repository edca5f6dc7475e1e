"""Without a sandbox no tool is loaded, unless it is said that none is wanted."""

from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.tool_host.host import ToolHost, read_apart
from misstep.tool_host.protocol import CallConditions, Shelter
from tests.tool_host.trying import react

HARMLESS = """
from pathlib import Path
Path(__file__).with_name("loaded").write_text("")

def add(a: int, b: int) -> int:
    '''Add two numbers.'''
    return a + b
"""
BROKEN = "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tool on a machine without bubblewrap."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "harmless.py").write_text(HARMLESS)
    return f"{tmp_path}/harmless.py:add"


@pytest.mark.parametrize("shelter", ["auto", "bubblewrap"])
def test_every_tool_is_refused_before_it_is_loaded(spec: str, tmp_path: Path, shelter: Shelter) -> None:
    for load in (
        lambda: ToolHost(spec, CallConditions(shelter)),
        lambda: read_apart(spec, CallConditions(shelter)),
    ):
        with pytest.raises(UsageError) as refused:
            load()
        text = str(refused.value)
        assert "there is no sandbox for the tools: bubblewrap is not installed" in text
        assert "apt install bubblewrap" in text or "Linux only" in text
        assert '--sandbox none, or sandbox = "none" in misstep.toml' in text
    assert not (tmp_path / "loaded").exists()


def test_so_it_is_where_bubblewrap_does_not_work(spec: str, tmp_path: Path) -> None:
    (tmp_path / "bin" / "bwrap").write_text(BROKEN)
    (tmp_path / "bin" / "bwrap").chmod(0o755)
    with pytest.raises(UsageError, match="No permissions to create a new namespace"):
        ToolHost(spec, CallConditions())
    assert not (tmp_path / "loaded").exists()


def test_without_a_sandbox_tools_are_called_if_that_is_said(spec: str, tmp_path: Path) -> None:
    with ToolHost(spec, CallConditions(shelter="none")) as bench:
        assert react(bench, "add", a=1, b=2).text == "3"
        assert bench.sandbox.words.startswith("no sandbox")
    assert (tmp_path / "loaded").exists()


def test_auto_is_what_the_settings_say() -> None:
    assert Settings().sandbox == CallConditions().shelter == "auto"


@pytest.mark.parametrize("shelter", ["auto", "bubblewrap"])
def test_servers_elsewhere_are_called_only_if_that_is_said(shelter: Shelter, tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(
        '{"mcpServers": {"a": {"command": "true"}, "b": {"url": "http://127.0.0.1:9/mcp"}}}'
    )
    for spec in ("mcp:http://127.0.0.1:9/mcp", f"{tmp_path}/mcp.json"):
        with pytest.raises(
            UsageError,
            match=r"the tools of http://127\.0\.0\.1:9/mcp run on that server, outside any sandbox",
        ) as refused:
            ToolHost(spec, CallConditions(shelter))
        assert "--sandbox none" in str(refused.value)
