"""What the documents show is what happens: console examples are run, tables are compared with the code."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from misstep.cli.options import flag
from misstep.core.settings import FIELDS, Settings
from tests.asking.two_roads import two_roads
from tests.scripted import ScriptedServer
from tests.snapshots import scrub

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/tutorial.md", "docs/how-to.md", "docs/neighbours.md"]
AGENTS = "docs/agents.md"
FAMILIES = "docs/families.md"
UNDERSTANDING = "docs/understanding.md"
TOOLS = "docs/tools.md"
SERVING = "docs/serve.md"


def examples(page: str) -> list[tuple[str, str]]:
    """Commands with the output that the page shows for them."""
    found = list[tuple[str, str]]()
    for block in re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command.partition("#")[0].strip(), output))
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether the page's text is in the output; a line with just … stands for any lines."""
    pieces = [re.escape(piece.strip("\n")) for piece in re.split(r"^…$", scrub(shown), flags=re.MULTILINE)]
    return re.search(r"[\s\S]*?".join(pieces), scrub(printed)) is not None


def follow(page: str, folder: Path, **variables: str) -> None:
    """Type every command of a page and compare what it prints with what the page shows."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "COLUMNS": "100", "PATH": path, **variables}
    commands = [(command, shown) for command, shown in examples(page) if command.startswith("misstep ")]
    assert commands
    for command, shown in commands:
        result = subprocess.run(
            shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True
        )
        assert result.returncode in (0, 1), f"{command}\n{result.stderr}"
        printed = result.stderr + result.stdout
        assert matches(shown, printed), f"{command}\n{printed}"
        if " plan test " in command and " --json" not in command:
            assert re.search(r"^errored +0 *$", printed, re.MULTILINE), f"{command}\n{printed}"


@pytest.mark.parametrize("page", PAGES)
def test_console_examples(page: str, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    follow(page, tmp_path)


def test_examples_of_agents(tmp_path: Path) -> None:
    """The agents of the page, each in its file, on a model with a script."""
    write_files(AGENTS, tmp_path)
    with ScriptedServer() as server:
        follow(AGENTS, tmp_path, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="sk-test")


def test_examples_of_families(tmp_path: Path) -> None:
    write_files(FAMILIES, tmp_path)
    follow(FAMILIES, tmp_path)


def test_examples_of_understanding(tmp_path: Path) -> None:
    follow(UNDERSTANDING, tmp_path)


def test_examples_of_tools(tmp_path: Path) -> None:
    """Where a model is needed, it has a script."""
    write_files(TOOLS, tmp_path)
    with ScriptedServer(two_roads()) as server:
        follow(TOOLS, tmp_path, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="sk-test")


def test_examples_of_serving(tmp_path: Path) -> None:
    """What has an end is run to its end; a server is started, has its say, and is stopped."""
    for command, shown in examples(SERVING):
        words = [sys.executable, "-m", *shlex.split(command)]
        if " serve" not in command:
            result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
            assert matches(shown, result.stdout), result.stderr
            continue
        with subprocess.Popen(
            [*words, "--port", "0"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        ) as server:
            assert server.stderr
            said = "".join(server.stderr.readline() for _ in shown.splitlines())
            server.send_signal(signal.SIGINT)
        assert server.returncode == 0
        said = re.sub(r":\d+/", ":7357/", said)
        said = re.sub(r"//[^/]+(:7357/\?token=)[\w-]+", r"//HOST\1TOKEN", said)
        assert said == shown


def write_files(page: str, folder: Path) -> None:
    """The files that a page shows below their names."""
    shown = r"```(?:python|toml)\n# (\w+\.(?:py|toml))\n(.*?)```"
    for name, code in re.findall(shown, (ROOT / page).read_text(), re.DOTALL):
        (folder / name).write_text(code)


def test_python_examples(tmp_path: Path) -> None:
    for code in re.findall(r"```python\n(.*?)```", (ROOT / "docs/how-to.md").read_text(), re.DOTALL):
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)


def test_toml_examples(tmp_path: Path) -> None:
    from misstep.api.configuration import load_settings

    for text in re.findall(r"```toml\n(.*?)```", (ROOT / "docs/how-to.md").read_text(), re.DOTALL):
        (tmp_path / "misstep.toml").write_text(text)
        assert load_settings(tmp_path, {}) != Settings()


def settings_table() -> str:
    rows = ["| key | flag | default | meaning |", "|---|---|---|---|"]
    for name in FIELDS:
        description = next(
            meta.description for meta in Settings.__annotations__[name].__metadata__ if meta.description
        )
        default = getattr(Settings(), name)
        default = ", ".join(default) if isinstance(default, tuple) else default
        shown = "" if default in ("", (), {}, None) or default is False else f"`{default}`"
        rows.append(f"| `{name}` | `{flag(name)}` | {shown} | {description.replace('|', '/')} |")
    return "\n".join(rows)


def test_the_table_of_settings_is_complete() -> None:
    page = ROOT / "docs/reference.md"
    pattern = r"(<!-- settings: [^\n]*-->\n)(.*?)(\n<!-- /settings -->)"
    text = page.read_text()
    if os.environ.get("UPDATE_SNAPSHOTS"):
        page.write_text(
            re.sub(pattern, lambda match: match[1] + settings_table() + match[3], text, flags=re.DOTALL)
        )
    found = re.search(pattern, page.read_text(), re.DOTALL)
    assert found
    assert found[2] == settings_table()


@pytest.mark.parametrize(
    "page",
    sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]),
)
def test_links_lead_somewhere(page: str) -> None:
    prose = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose):
        assert (ROOT / page).parent.joinpath(target).exists(), target
