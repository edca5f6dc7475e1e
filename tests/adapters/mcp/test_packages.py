"""Servers that `npx` and `uvx` would download: installed once, and started from there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from misstep.adapters.mcp.entries import McpServer, server_of
from misstep.adapters.mcp.packages import PackageCommand, cache_folder, installed, read_command
from misstep.errors import UsageError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("command", "manager", "packages", "program", "arguments"),
    [
        ("npx -y @scope/server@1.2 /tmp", "npm", ("@scope/server@1.2",), "", ("/tmp",)),
        ("npx server", "npm", ("server",), "", ()),
        ("/usr/bin/npx --yes -- server --flag", "npm", ("server",), "", ("--flag",)),
        ("npx --package=@scope/server -p other prog -y", "npm", ("@scope/server", "other"), "prog", ("-y",)),
        ("npm exec -y server a", "npm", ("server",), "", ("a",)),
        ("pnpm dlx server", "npm", ("server",), "", ()),
        (
            "uvx mcp-server-git --repository .",
            "pip",
            ("mcp-server-git",),
            "mcp-server-git",
            ("--repository", "."),
        ),
        ("uvx server@1.0", "pip", ("server==1.0",), "server", ()),
        ("uvx server@latest", "pip", ("server",), "server", ()),
        ("uvx 'server[extra]>=1'", "pip", ("server[extra]>=1",), "server", ()),
        ("uvx --from package --with 'mcp<2' server x", "pip", ("package", "mcp<2"), "server", ("x",)),
        ("uvx --from git+https://h/r@v1 server", "pip", ("git+https://h/r@v1",), "server", ()),
        ("uv tool run server", "pip", ("server",), "server", ()),
        ("pipx run --spec package server", "pip", ("package",), "server", ()),
    ],
)
def test_what_a_command_would_download_is_read(
    command: str, manager: str, packages: tuple[str, ...], program: str, arguments: tuple[str, ...]
) -> None:
    found = read_command(server_of(command).command)
    assert found is not None
    assert msgspec.structs.astuple(found) == (manager, packages, program, arguments)


@pytest.mark.parametrize(
    "command",
    [
        *("python server.py", "node index.js", "npm start", "uv run server.py", "npx", "npx -y"),
        *("npx -c 'echo 1'", "uvx --unknown 3 server", "npx ./here", "uvx --from . server", "npx -p"),
    ],
)
def test_other_commands_are_left_alone(command: str) -> None:
    server = server_of(command)
    assert read_command(server.command) is None
    assert installed(server) is server


def test_a_server_with_an_address_is_left_alone() -> None:
    server = McpServer("x", url="http://127.0.0.1:1/mcp")
    assert installed(server) is server


def test_the_cache_is_where_the_user_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "misstep" / "servers"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_offline", "true")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def npm_package(folder: Path, programs: object) -> str:
    """A package as a file, which npm can install without a network; its address."""
    source = folder / "source"
    source.mkdir()
    about = {"name": "@misstep/tried", "version": "1.2.3", "bin": programs}
    (source / "package.json").write_text(json.dumps(about))
    (source / "index.js").write_text("#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join())\n")
    (source / "other.js").write_text("#!/usr/bin/env node\n")
    subprocess.run(["npm", "pack", "--silent", "."], cwd=source, check=True, capture_output=True)
    return f"{source}/misstep-tried-1.2.3.tgz"


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
@pytest.mark.parametrize(
    "programs", ["index.js", {"odd-name": "index.js"}, {"tried": "index.js", "x": "other.js"}]
)
def test_an_npm_package_is_installed_once(
    packages: Path, programs: object, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = PackageCommand("npm", (npm_package(packages, programs),), "", ("a", "b"))
    monkeypatch.setattr("misstep.adapters.mcp.packages.read_command", lambda _: given)
    server = installed(server_of("npx -y tried a b"))
    assert subprocess.run(server.command, capture_output=True, text=True, check=True).stdout == "a,b\n"
    (folder,) = [each for each in (packages / "cache/misstep/servers").iterdir() if each.is_dir()]
    record = json.loads((folder / "installed.json").read_bytes())
    assert record["versions"] == {"@misstep/tried": "1.2.3"}
    assert record["hashes"]["@misstep/tried"].startswith("sha512-")
    assert capfd.readouterr().err.startswith("installing ")
    assert installed(server_of("npx -y tried a b")) == server
    assert capfd.readouterr().err == ""
    (folder / "installed.json").write_text("{")  # as if it had been killed
    assert installed(server_of("npx -y tried a b")) == server


@pytest.mark.full
def test_a_python_package_is_installed_once(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = packages / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "tried"\nversion = "3.2.1"\nscripts = {tried = "tried:main"}\n'
    )
    (source / "tried.py").write_text("import sys\ndef main():\n    print(sys.argv[1:])\n")
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(packages), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *wheel], check=True, capture_output=True)
    (built,) = packages.glob("*.whl")
    monkeypatch.setattr("misstep.adapters.mcp.packages._is_local", lambda _: False)
    server = installed(server_of(f"uvx --from {built} tried x"))
    assert subprocess.run(server.command, capture_output=True, text=True, check=True).stdout == "['x']\n"
    (folder,) = [each for each in (packages / "cache/misstep/servers").iterdir() if each.is_dir()]
    record = json.loads((folder / "installed.json").read_bytes())
    assert record["versions"] == {"tried": "3.2.1"}
    assert record["hashes"]["tried"].startswith("sha256-")
    with pytest.raises(UsageError, match="there is no program 'other'") as caught:
        installed(server_of(f"uvx --from {built} other"))
    assert str(caught.value).endswith("\n  it has tried")


@pytest.mark.full
def test_a_package_that_is_not_there_is_told_with_what_the_installer_says(packages: Path) -> None:
    with pytest.raises(UsageError, match="can't install MCP server 'uvx misstep-there-is-no-such'") as caught:
        installed(server_of("uvx misstep-there-is-no-such"))
    assert "misstep-there-is-no-such" in str(caught.value).partition("\n")[2]


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    with pytest.raises(UsageError, match="can't install MCP server"):
        installed(server_of("npx -y tried"))
    assert os.listdir(tmp_path) == ["file"]
