"""The image as far as it can be tested without Docker: what it copies, and what pip does in it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.bare import ROOT, BareEnvironment
from tests.packaging.dockerfile import copied, stages, texts
from tests.packaging.test_metadata import project

EXTRAS = {"anthropic", "fuzz", "mcp", "openai", "web"}
SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")


@server.tool()
def unit_price(total: int, count: int) -> float:
    """Divide a total by a number of items."""
    return total / count


if __name__ == "__main__":
    server.run()
'''


def extras() -> set[str]:
    _, image = stages()
    (install,) = [text for text in texts(image, "RUN") if text.startswith("pip install")]
    found = re.search(r'/wheels/misstep-\*\.whl\)\[([\w,-]+)\]"', install)
    assert found is not None, install
    return {*found[1].split(",")}


def test_the_image_is_misstep_and_nobody_s_root() -> None:
    build, image = stages()
    assert texts(image, "WORKDIR") == ["/project"]
    assert texts(image, "ENTRYPOINT") == ['["misstep"]']
    (user,) = texts(image, "USER")
    assert any(f"useradd --create-home {user}" in text for text in texts(image, "RUN"))
    assert texts(build, "FROM")[0].split()[0] == texts(image, "FROM")[0]


def test_the_image_has_the_sandbox_git_and_the_extras() -> None:
    _, image = stages()
    (packages,) = [text for text in texts(image, "RUN") if "apt-get install" in text]
    assert {"bubblewrap", "git"} <= {*packages.split()}
    assert extras() == EXTRAS <= project(".")["optional-dependencies"].keys()


def test_the_base_is_a_python_that_is_supported() -> None:
    version = re.search(r"python:(3\.\d+)-slim", (ROOT / "Dockerfile").read_text())
    assert version is not None
    assert f"Programming Language :: Python :: {version[1]}" in project(".")["classifiers"]


def test_whatever_is_copied_is_there_and_nothing_else_is_sent() -> None:
    build, image = stages()
    wanted = {*copied(build), *copied(image)}
    assert all((ROOT / source).exists() for source in wanted)
    everything, *rest = [
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"
    ]
    assert everything == "*"
    assert {line[1:] for line in rest if line.startswith("!")} == wanted


@pytest.mark.full
def test_its_steps_make_an_installation_that_fuzzes_a_server(tmp_path: Path) -> None:
    """The wheel is made of what is copied, and nothing else, by the command of the build stage."""
    build, _ = stages()
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    for name in copied(build):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    (command,) = texts(build, "RUN")
    words = command.replace("/wheels", str(wheels)).split()
    assert words[:2] == ["pip", "wheel"]
    offline = {**os.environ, "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # 0 means none, oddly
    built = subprocess.run(
        [sys.executable, "-m", *words], cwd=source, env=offline, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = wheels.glob("misstep-*.whl")
    bare = BareEnvironment(tmp_path / "bare")
    bare.install(wheel, extras=",".join(extras()))
    (bare.work / "server.py").write_text(SERVER)
    for client in ("anthropic", "openai", "starlette", "jinja2", "mcp", "hypothesis"):
        assert bare.run("python", "-c", f"import {client}").returncode == 0, client
    if shutil.which("bwrap"):
        python = bare.folder / "bin" / "python"
        fuzzed = bare.run(
            *("misstep", "tool", "fuzz", f"mcp:{python} server.py"),
            *("--calls-per-tool", "30", "--display", "none"),
        )
        assert fuzzed.returncode == 1, fuzzed.stderr
        assert 'unit_price({"total": 0, "count": 0})' in fuzzed.stdout
