"""`misstep init`: find what can be tested in this folder, and write settings, a first test and a workflow."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import click
import msgspec

from misstep.adapters.loading.candidates import nameless
from misstep.adapters.loading.recognition import expected
from misstep.adapters.toolset.spec import refuse_nameless
from misstep.cli.help import command
from misstep.errors import UsageError, install_command
from misstep.features.init import files
from misstep.features.init.search import ProjectItem, ProjectScan, scan
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.runs.setup.configuration import find_settings_file
from misstep.store.files import write_text

MOST_SHOWN = 6  # items of a kind
MOST_TOOLS = 5  # functions in the first test
PACKAGES = {"fuzz": "hypothesis", "mcp": "mcp"}  # extras that tests of tools need


class InitChoice(msgspec.Struct, frozen=True):
    """What the files are written for; `notes` say why, where the user did not choose."""

    agent: str
    tools: tuple[str, ...]
    extras: tuple[str, ...]
    notes: tuple[str, ...]


@command("init", "misstep init", "misstep init --agent my_agent.py:agent")
@click.argument("specs", metavar="[SPEC]...", nargs=-1)
@click.option("--agent", default="", metavar="AGENT", help="Agent to test, if several are found.")
@click.option("--force", is_flag=True, help="Replace existing files.")
def init(specs: tuple[str, ...], agent: str, force: bool) -> int:
    """Write settings, a first test and a CI workflow.

    Python files and MCP configurations in this folder are read, not run, to find agents, MCP servers and
    tools. SPEC names the tools to test, if several are found: file.py:name, mcp:COMMAND or mcp.json. Existing
    files are left alone.
    """
    folder = Path.cwd()
    _refuse_unknown(agent, specs)
    found = scan(folder)
    _say("Found:", _found_lines(found))
    choice = _choose(found, agent, specs)
    _say("", choice.notes)
    written, kept = _write(folder, choice, force)
    _say("Written:", [f"{name:<30}  {about}" for name, about in written])
    _say("Left alone (--force replaces files):", [f"{name:<30}  {why}" for name, why in kept])
    _say("Next:", _next(choice, [name for name, _ in written]))
    return 0


def _refuse_unknown(agent: str, specs: Sequence[str]) -> None:
    for spec in specs:
        refuse_nameless(spec)
    if agent.rstrip(":").endswith(".py"):
        raise nameless(agent, "agent", expected())
    for spec in (agent, *specs):
        file = spec if spec.endswith(".json") else spec.rpartition(":")[0]
        if not spec.startswith("mcp:") and file.endswith((".py", ".json")) and not os.path.isfile(file):
            raise UsageError("no such file", where=file)


def _found_lines(found: ProjectScan) -> Iterator[str]:
    width = max((len(item.place) for item in found.items), default=0)
    for kind in ("agent", "server", "tool"):
        items = found.of(kind)
        for item in items[:MOST_SHOWN]:
            what = f"{item.name} ({item.what})" if item.name else item.what
            yield f"{kind:<6}  {item.place:<{width}}  {what}{f'; {item.problem}' if item.problem else ''}"
        if len(items) > MOST_SHOWN:
            yield f"{kind:<6}  and {len(items) - MOST_SHOWN} more"
    if found.guesses:
        yield f"{counted(found.guesses, 'other function')} could be tools: name them with SPEC"
    if not found.items:
        yield f"no agent, MCP server or tool in {counted(found.files, 'Python file')}"
    if not found.is_complete:
        yield f"only {found.files:,} Python files were read: name others with --agent and SPEC"
    for problem in found.unread[:MOST_SHOWN]:
        yield f"not read: {problem}"
    if len(found.unread) > MOST_SHOWN:
        yield f"not read: {len(found.unread) - MOST_SHOWN} more files"


def _choose(found: ProjectScan, agent: str, specs: Sequence[str]) -> InitChoice:
    notes = list[str]()
    agents = [item for item in found.of("agent") if not item.problem]
    if not agent and agents:
        agent = _pick(agents, notes).spec
    elif not agent:
        notes += _without_agent(found)
    usable = [item for item in (*found.of("server"), *found.of("tool")) if not item.problem]
    tools = tuple(specs)
    if usable and not tools:
        tools = _pick_tools(usable, notes)
    needed = ["fuzz"] if tools else []
    if any(spec.startswith("mcp:") or spec.endswith(".json") for spec in (*tools, agent)):
        needed.append("mcp")
    needed += [item.extra for item in agents if item.spec == agent and item.extra]
    return InitChoice(agent, tools, tuple(needed), tuple(notes))


def _pick(agents: Sequence[ProjectItem], notes: list[str]) -> ProjectItem:
    """The only agent, the one that the user picks, or the likeliest."""
    if len(agents) == 1:
        return agents[0]
    if sys.stdin.isatty() and sys.stdout.isatty():
        for number, item in enumerate(agents, 1):
            click.echo(f"  {number}  {plain(item.spec)}")
        number = click.prompt("Which agent?", type=click.IntRange(1, len(agents)), default=1)
        return agents[number - 1]
    notes.append(f"Using the first agent, {agents[0].spec}: choose another with --agent.")
    return agents[0]


def _without_agent(found: ProjectScan) -> Iterator[str]:
    for item in found.of("agent")[:1]:
        yield f"The agent at {item.place} {item.problem}. Add a function that builds it,"
        yield "  def make_agent(tools): return create_agent(model, tools=tools)"
        yield "and run misstep init --force."
        return
    if found.items and all(item.problem for item in found.items):
        yield "No server can be tested as it is. Name one with SPEC: mcp:COMMAND or mcp:URL."
    if not found.items:
        yield "An agent is a function, def agent(request, tools), or an agent of a framework."
        yield "Run misstep init --force when you have one. Until then, try a simulated agent."


def _pick_tools(usable: Sequence[ProjectItem], notes: list[str]) -> tuple[str, ...]:
    """The likeliest server or list of tools, or the tools in the likeliest file."""
    best = usable[0]
    single = best.kind == "server" or best.what in ("list of tools", "function that makes tools")
    alike = (best.file, best.kind, best.what)
    same = [item for item in usable if (item.file, item.kind, item.what) == alike]
    chosen = [best] if single else same[:MOST_TOOLS]
    if len(chosen) < len(usable):
        notes.append(f"Testing the tools of {best.file}: choose others with SPEC.")
    return tuple(item.spec for item in chosen)


def _write(
    folder: Path, choice: InitChoice, force: bool
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Write the files that don't exist yet; returns what was written and what was left alone, and why."""
    tests = "tests/test_misstep.py" if (folder / "tests").is_dir() else "test_misstep.py"
    below = _below_repository(folder)
    workflow = files.workflow_text(tests, folder, below, choice.extras, bool(choice.tools))
    elsewhere = "move it to the root of the repository, where GitHub reads it"
    moved = elsewhere if below else "runs the test on GitHub"
    plan = [(files.SETTINGS_FILE, files.settings_text(choice.agent), "settings")]
    if choice.agent or choice.tools:
        plan += [
            (tests, files.pytest_text(tests, choice.agent, choice.tools), "a first test for pytest"),
            (files.WORKFLOW_FILE, workflow, moved),
        ]
    written, kept = list[tuple[str, str]](), list[tuple[str, str]]()
    for name, text, about in plan:
        if name == files.SETTINGS_FILE and not (folder / name).exists() and _settings_elsewhere(folder):
            kept.append((name, "pyproject.toml has [tool.misstep]"))
        elif os.path.lexists(folder / name) and not force:
            kept.append((name, "exists"))
        else:
            _write_file(folder, name, text, [name for name, _ in written])
            written.append((name, about))
    return written, kept


def _write_file(folder: Path, name: str, text: str, before: Sequence[str]) -> None:
    hint = f"written before: {', '.join(before)}" if before else ""
    try:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_text(str(folder / name), text)
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", hint, where=name) from error
    except UsageError as error:
        raise UsageError(error.message, hint, where=name) from error


def _settings_elsewhere(folder: Path) -> bool:
    try:
        return bool(find_settings_file(folder)[0])
    except UsageError:
        return False  # pyproject.toml is not valid, which is not for us to say


def _below_repository(folder: Path) -> str:
    """The path of the folder in its git repository; empty if it is the root of one, or in none."""
    for parent in folder.parents if not (folder / ".git").exists() else ():
        if (parent / ".git").exists():
            return folder.relative_to(parent).as_posix()
    return ""


def _next(choice: InitChoice, written: Sequence[str]) -> Iterator[str]:
    missing = [extra for extra in choice.extras if extra in PACKAGES and find_spec(PACKAGES[extra]) is None]
    if missing:
        yield install_command(",".join(missing))
    if choice.agent:
        named = "" if files.SETTINGS_FILE in written else f" --agent {shlex.quote(choice.agent)}"
        yield f"misstep plan test{named} --count {files.CASES}"
    elif choice.tools:
        words = " ".join(shlex.quote(_with_python(spec)) for spec in choice.tools)
        yield f"misstep tool fuzz {words} --time-per-tool 30s"
    else:
        yield f"misstep plan test --agent sim:greedy --count {files.CASES}"
    for name in (name for name in written if name.endswith(".py")):
        if find_spec("pytest") is None:
            yield "pip install pytest"
        yield f"pytest {name}"


def _with_python(spec: str) -> str:
    """The spec with this interpreter, if another one is called python here, or none."""
    found = shutil.which("python")
    if not spec.startswith("mcp:python ") or (
        found and os.path.dirname(found) == os.path.dirname(sys.executable)
    ):
        return spec
    return f"mcp:{shlex.quote(sys.executable)} {spec.removeprefix('mcp:python ')}"


def _say(title: str, lines: Iterable[str]) -> None:
    told = [plain(line) for line in lines]
    if told:
        click.echo("\n".join([title, *(f"  {line}" for line in told)] if title else told))
        click.echo()
