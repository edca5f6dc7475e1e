"""Stores from elsewhere: no file is opened that only they name, whatever is shown, written or served."""

import html
import json
import os
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from misstep.core.settings import Settings
from misstep.features.serve.server import site
from misstep.store.runs import Store
from tests.cli.test_foreign_stores import as_somebody_else
from tests.conftest import Command
from tests.features.serve.stored import KINDS, keep_every_kind

PATHS = ("context", "data", "descriptions", "groups", "prices", "prompt", "prompts", "workspace", "cases")
_opened: list[str] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened is not None and event in ("open", "os.listdir", "os.scandir", "import"):
        _opened.append(os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else "")


sys.addaudithook(_note)


@contextmanager
def noting_files() -> Iterator[list[str]]:
    """The paths of all files that this process opens meanwhile."""
    global _opened
    _opened = list[str]()
    try:
        yield _opened
    finally:
        _opened = None


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that the user did not name, and that could be parsed as anything."""
    path = tmp_path / "private" / "secret.py"
    path.parent.mkdir()
    path.write_text("def agent(task, tools):\n    return 1\n")
    return path


def _pointing(value: Any, secret: Path) -> Any:
    """The same document, in which every file is the secret one, and every digest has to be compared."""
    if isinstance(value, dict):
        found = {name: _pointing(each, secret) for name, each in value.items()}
        found |= {name: str(secret) for name in ("file",) if name in found}
        found |= {"spec": f"{secret}:agent"} if "spec" in found else {}
        is_fix = "candidates" in found and "trying" in found
        return {**found, **({"file": str(secret), "line": 1, "digest": "0" * 64} if is_fix else {})}
    return [_pointing(each, secret) for each in value] if isinstance(value, list) else value


def point_at(store: str, secret: Path, agent: str, finished: bool) -> None:
    """Every run of the store names the file wherever a file can be named."""
    with closing(sqlite3.connect(store)) as connection:
        for number, settings, purpose in list(
            connection.execute("SELECT number, settings, purpose FROM runs")
        ):
            named = {name: str(secret) for name in PATHS} | {"agent": agent, "model": "openai/gpt-4o"}
            named |= {"allow_read": [str(secret)], "tools": f"{secret}:agent", "trust_store": True}
            aim = {**json.loads(purpose or b"{}"), "tools": [f"{secret}:agent"]}
            connection.execute(
                "UPDATE runs SET settings = ?, purpose = ? WHERE number = ?",
                (json.dumps({**json.loads(settings), **named}).encode(), json.dumps(aim).encode(), number),
            )
        for number, document in list(connection.execute("SELECT number, document FROM tool_reports")):
            pointing = json.dumps(_pointing(json.loads(document), secret)).encode()
            connection.execute("UPDATE tool_reports SET document = ? WHERE number = ?", (pointing, number))
        if not finished:
            connection.execute("UPDATE runs SET summary = NULL")
        connection.commit()


COMMANDS = {
    "fuzz": "tool fuzz",
    "consistency": "tool consistency",
    "crosstalk": "tool crosstalk",
    "fix": "tool fix",
    "files": "bench files",
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A run of somebody else's of each kind."""
    path = tmp_path_factory.mktemp("original") / "store.db"
    with pytest.MonkeyPatch.context() as patch, as_somebody_else(patch, path.parent):
        runs = keep_every_kind(Settings(store=str(path)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return path, runs


@pytest.fixture
def runs(original: tuple[Path, dict[str, str]], misstep: Command) -> dict[str, str]:
    """The same in `s.db`, in the current folder."""
    path, runs = original
    shutil.copy(path, "s.db")
    return runs


@pytest.mark.full(after=1)
@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_no_file_is_opened_that_only_the_store_names(
    own: bool, finished: bool, runs: dict[str, str], misstep: Command, secret: Path, tmp_path: Path
) -> None:
    """`own` is whether the agent is one of misstep's, whose prompt is a file, or is in a file itself."""
    point_at("s.db", secret, "tools" if own else f"{secret}:agent", finished)
    place = ("--store", "s.db")
    commands: list[tuple[str, ...]] = [("runs",)]
    for verb in KINDS:
        run, words = runs[verb], COMMANDS.get(verb, f"plan {verb}").split()
        commands += [
            ("show", run),
            ("show", run, "--json"),
            ("report", run, "--report", "html,junit,sarif,json,md,ndjson"),
            ("export", run, "--format", "csv", "--out", "out.csv"),
            ("export", run, "--format", "otlp", "--out", "out.jsonl"),
            ("export", run, "--format", "sft", "--out", "sft.jsonl"),
            ("plan", "rejudge", run),
            ("compare", run, runs["test"]),
            (*words, "--resume", run),
        ]
    pages = TestClient(site(Settings(store="s.db"), lambda: False))
    with noting_files() as opened:
        for command in commands:
            result = misstep(*command, *place)
            assert result.code in (0, 1, 2), (command, result)
            assert "Traceback" not in result.err, command
            opened.append(shlex.join(command))
        for run in ("", *(f"runs/{each}" for each in runs.values())):
            assert pages.get(f"/{run}").status_code == 200, run
            opened.append(f"/{run}")
    # What was opened before the line of a command was opened by it.
    wrong = [opened[at + 1 :] for at, path in enumerate(opened) if "private" in path]
    assert not [next(line for line in rest if line[0] != "/" or "/runs" in line) for rest in wrong]
    assert opened
    assert (tmp_path / "misstep-report" / f"{runs['fuzz']}.sarif").exists()


def test_a_foreign_prompt_is_exported_once_the_user_says_so(
    runs: dict[str, str], misstep: Command, secret: Path
) -> None:
    point_at("s.db", secret, "tools", True)
    command = ("export", runs["test"], "--format", "sft", "--out", "sft.jsonl", "--store", "s.db")
    refused = misstep(*command)
    assert refused.code == 2
    assert f"prompt: {secret}" in refused.err
    assert "--trust-store" in refused.err
    assert not Path("sft.jsonl").exists()
    assert misstep(*command, "--trust-store").code == 0
    assert "def agent" in Path("sft.jsonl").read_text()


def test_own_prices_are_still_read(tmp_path: Path, misstep: Command) -> None:
    """The other side: a run of this user's names its list, and what it cost is shown."""
    prices = tmp_path / "prices.toml"
    prices.write_text('[openai]\n"gpt-4o" = [1.0, 1.0]\n')
    settings = Settings(agent="tools", model="openai/gpt-4o", prices=str(prices), store="s.db")
    with Store("s.db", create=True) as store:
        run = store.add_run(settings, 1, 1000.0).id
    with noting_files() as opened:
        assert misstep("show", run, "--store", "s.db").code == 0
    assert str(prices) in opened


HOSTILE = "x; touch pwned #"


def change_documents(old: str, new: str) -> None:
    with closing(sqlite3.connect("s.db")) as connection:
        for number, document in list(connection.execute("SELECT number, document FROM tool_reports")):
            text = document.decode().replace(json.dumps(old), json.dumps(new))
            connection.execute(
                "UPDATE tool_reports SET document = ? WHERE number = ?", (text.encode(), number)
            )
        connection.commit()


@pytest.mark.parametrize("name", [HOSTILE, "../../x", "", "a\nb", "x" * 200])
@pytest.mark.parametrize(("verb", "parts"), [("fuzz", "findings"), ("consistency", "sets")])
def test_findings_and_sets_have_ids_that_mean_nothing_to_a_shell_or_in_a_path(
    verb: str, parts: str, name: str, runs: dict[str, str], misstep: Command
) -> None:
    with closing(sqlite3.connect("s.db")) as connection:
        query = "SELECT document FROM tool_reports JOIN runs ON runs.number = run WHERE runs.id = ?"
        document = json.loads(connection.execute(query, (runs[verb],)).fetchone()[0])
    change_documents(document[parts][0]["id"], name)
    for command in (("show", runs[verb]), ("report", runs[verb], "--report", "html,json,md,sarif,junit")):
        result = misstep(*command, "--store", "s.db")
        assert result.code == 2, result
        assert "is damaged" in result.err
        assert "an id that matches" in result.err


def test_the_name_of_a_task_is_one_word_of_every_command_that_is_shown(
    runs: dict[str, str], misstep: Command
) -> None:
    """Tasks come from folders of the user's, too: their names may be anything."""
    change_documents("fi1", HOSTILE)
    shown = misstep("show", f"{runs['files']}/{HOSTILE}", "--store", "s.db")
    assert shlex.quote(f"{runs['files']}/{HOSTILE}") in shown.out
    assert misstep("report", runs["files"], "--report", "html,sarif", "--store", "s.db").code == 0
    page = html.unescape(Path("misstep-report", f"{runs['files']}.html").read_text())
    assert f"misstep replay {shlex.quote(runs['files'] + '/' + HOSTILE)}" in page


def test_the_id_of_a_case_is_one_word_of_every_command_that_is_shown(
    runs: dict[str, str], misstep: Command
) -> None:
    """Cases come from files of the user's, too: their ids may be anything."""
    with Store("s.db") as store:
        known = [outcome.case.id for outcome in store.outcomes(runs["test"], "failed")]
    for name in (HOSTILE, "--agent=evil.py:agent"):
        with closing(sqlite3.connect("s.db")) as connection:
            for old in known:
                text = json.dumps(old)
                for table in ("records", "runs"):
                    column = "document" if table == "records" else "result"
                    found = list(connection.execute(f"SELECT rowid, {column} FROM {table}"))
                    for row, document in found:
                        changed = (document or b"").decode().replace(text, json.dumps(name)).encode()
                        connection.execute(
                            f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed or None, row)
                        )
                connection.execute("UPDATE OR IGNORE outcomes SET case_id = ? WHERE case_id = ?", (name, old))
            connection.commit()
        known = [name]
        for verb in ("test", "dissect", "shrink"):
            shown = misstep("show", runs[verb], "--store", "s.db").out
            told = [line for line in shown.splitlines() if ": misstep" in line or ":  misstep" in line]
            assert told
            for line in told:
                words = shlex.split(line.partition(": ")[2])
                assert words[0] == "misstep"
                assert not [word for word in words if word.startswith(("--agent", "touch", "#"))], line


TOOL = """
import pathlib

def delete_note(note: str = "", text: str = "") -> str:
    pathlib.Path(__file__).with_name("called").write_text(note + text)
    return "done"

def add_note(text: str = "") -> str:
    return "added"

tools = [delete_note, add_note]
"""


@pytest.mark.parametrize("command", ["fuzz", "crosstalk", "fix"])
def test_calls_of_a_foreign_run_are_not_made_without_a_sandbox(
    command: str, runs: dict[str, str], misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.py").write_text(TOOL)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    way = ("--from", runs["fuzz"], "--store", "s.db", "--sandbox", "none", "--display", "none")
    agent = (
        ("--agent", "tools", "--model", "openai/gpt-4o") if command != "fuzz" else ("--calls-per-tool", "20")
    )
    result = misstep("tool", command, "notes.py:tools", *way, *agent)
    assert result.code == 2, result
    assert f"run {runs['fuzz']} comes from another machine or user" in result.err
    assert "--trust-store" in result.err
    assert not (tmp_path / "called").exists()


def test_a_corpus_that_is_none_is_named(runs: dict[str, str], misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(TOOL)
    with closing(sqlite3.connect("s.db")) as connection:
        for number, document in list(connection.execute("SELECT number, document FROM tool_reports")):
            odd = {**json.loads(document), "corpus": ['[{"tool": 7}]']}
            connection.execute(
                "UPDATE tool_reports SET document = ? WHERE number = ?", (json.dumps(odd).encode(), number)
            )
        connection.commit()
    way = ("--from", runs["fuzz"], "--store", "s.db", "--display", "none", "--calls-per-tool", "20")
    result = misstep("tool", "fuzz", "notes.py:tools", *way)
    assert result.code == 2, result
    assert f"run {runs['fuzz']} is damaged" in result.err
