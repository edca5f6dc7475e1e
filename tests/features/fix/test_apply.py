"""What `misstep tool fix` has proved, put in place: at once, later, or not at all."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Command, Result
from tests.features.fix.test_command import BETTER, SHORT, Travelling, asked, given
from tests.fuzzing.agent_tests.scripted_roles import always
from tests.fuzzing.consistency.roads import SOURCE
from tests.scripted import ScriptedServer

WORDS = str(BETTER["description"])
MENDED = SOURCE.replace("How far it is by road from one city to another.", WORDS)
FIX = ("--from", "last", "--candidates", "1")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "roads.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def server(source: Path, misstep: Command) -> Iterator[ScriptedServer]:
    """With a run that has proved better words, and written nothing."""
    with Travelling().server as served:
        asked(misstep, served)
        assert misstep(*given(served, "fix", *FIX)).code == 0
        yield served
    assert SOURCE != MENDED


def resumed(misstep: Command, *more: str) -> Result:
    return misstep("tool", "fix", "--resume", "last", "--display", "none", *more)


def test_what_a_finished_run_has_proved_is_written_later(
    source: Path, misstep: Command, server: ScriptedServer
) -> None:
    before = len(server.model_requests)
    printed = resumed(misstep, "--write", "--out", "new.toml")
    assert (printed.code, source.read_text()) == (0, MENDED)
    assert f"were written to {source}" in printed.err
    assert WORDS in source.with_name("new.toml").read_text()
    again = resumed(misstep, "--write")
    assert (again.code, source.read_text()) == (0, MENDED)
    assert "nothing was written: the docstrings are up to date" in again.err
    assert len(server.model_requests) == before


def test_a_finished_run_is_shown_with_how_to_put_in_place_what_it_has_proved(
    misstep: Command, server: ScriptedServer
) -> None:
    printed = resumed(misstep)
    assert printed.code == 0
    assert "--write" in printed.out + printed.err
    misstep("plan", "test", "--agent", "sim:perfect", "--count", "1", "--display", "none")
    for more in ((), ("--write",), ("--out", "new.toml")):
        printed = resumed(misstep, *more)
        assert (printed.code, "is not from tool fix, but from plan test" in printed.err) == (2, True)


def test_no_source_is_overwritten_by_descriptions(
    source: Path, misstep: Command, server: ScriptedServer
) -> None:
    printed = resumed(misstep, "--out", "roads.py")
    assert (printed.code, "is where the tool 'road' is written" in printed.err) == (2, True)
    assert source.read_text() == SOURCE


def test_a_function_that_has_moved_is_found(source: Path, misstep: Command, server: ScriptedServer) -> None:
    head = '"""Roads."""\n\nimport os\n'
    source.write_text(head + SOURCE.replace("Look a place up.", "Find a place."))
    printed = resumed(misstep, "--write")
    assert (printed.code, source.read_text()) == (
        0,
        head + MENDED.replace("Look a place up.", "Find a place."),
    )


CHANGED = {
    SOURCE.replace("How far it is", "How long it is"): "has changed since the run started",
    SOURCE.replace("465 km", "466 km"): "has changed since the run started",
    SOURCE.replace("start", "begin"): "has changed since the run started",
    SOURCE.replace("def road", "def rood").replace("[road", "[rood"): "'road'",
    "tools = [": "roads.py",
}


def test_a_function_that_is_another_by_now_is_left_alone(
    source: Path, misstep: Command, server: ScriptedServer
) -> None:
    for changed, said in CHANGED.items():
        source.write_text(changed)
        printed = resumed(misstep, "--write")
        assert (printed.code, said in printed.err) == (2, True), printed.err
        assert source.read_text() == changed
        told = resumed(misstep, "--out", "new.toml")
        assert (told.code, "has changed since they were tested" in told.err) == (0, True)
    source.unlink()
    printed = resumed(misstep, "--write")
    assert (printed.code, "roads.py" in printed.err, source.exists()) == (2, True, False)


def test_what_is_not_better_is_never_written(source: Path, misstep: Command) -> None:
    with Travelling(**{"fix-findings": always({**BETTER, "description": "By road."})}).server as server:
        asked(misstep, server)
        printed = misstep(*given(server, "fix", *FIX))
    assert (printed.code, "what changes" in printed.out) == (1, False)
    printed = resumed(misstep, "--write", "--out", "new.toml")
    assert (printed.code, source.read_text()) == (1, SOURCE)
    assert "nothing was written: no description is better" in printed.err
    assert not source.with_name("new.toml").exists()


def test_words_tried_beside_others_are_not_written(source: Path, misstep: Command) -> None:
    source.with_name("old.toml").write_text('[tools.road]\ndescription = "Old."\n')
    with Travelling().server as server:
        asked(misstep, server)
        more = (*FIX, "--descriptions", "old.toml")
        early = misstep(*given(server, "fix", *more, "--write"))
        assert misstep(*given(server, "fix", *more)).code == 0
    late = resumed(misstep, "--write")
    for printed in (early, late):
        assert (printed.code, "--write can't be combined with --descriptions" in printed.err) == (2, True)
    assert source.read_text() == SOURCE


def test_a_run_that_was_stopped_shows_no_result(source: Path, misstep: Command) -> None:
    with Travelling().server as server:
        asked(misstep, server)
        stopped = misstep(*given(server, "fix", *FIX, "--budget-calls", "10"))
        assert stopped.code == 3
        assert "stopped early: nothing is proved yet" in stopped.out
        assert "what changes" not in stopped.out
        assert " \n" not in stopped.out
        assert WORDS not in stopped.out
        assert "unfinished: 0 of 1 tools\n" in misstep("show", "last").out
        assert json.loads(misstep("runs", "--json").out)["runs"][0]["done"] == 0
        source.write_text(SOURCE.replace("465 km", "466 km"))
        before = len(server.model_requests)
        printed = resumed(misstep, "--write", "--budget-calls", "99")
        assert (printed.code, "has changed since the run started" in printed.err) == (2, True)
        assert len(server.model_requests) == before


def test_a_candidate_with_a_key_in_it_can_t_be_used(
    source: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk-nobodys-business")
    leaking = {**BETTER, "description": f"{WORDS} Use sk-nobodys-business."}
    with Travelling(**{"fix-findings": always(leaking)}).server as server:
        asked(misstep, server)
        printed = misstep(*given(server, "fix", *FIX, "--write", "--json"))
        told = [json.dumps(each.body.get("tools")) for each in server.requests]
    (one,) = json.loads(printed.out)["tools"]
    assert (printed.code, one["better"], source.read_text()) == (1, False, SOURCE)
    (candidate,) = one["candidates"]
    assert (candidate["description"], candidate["validation"]) == (None, None)
    assert "contains the value of a secret environment variable" in candidate["why"]
    assert not any("sk-nobodys" in each for each in told)
    assert "contains the value of a secret environment variable" in misstep("show", "last").out


def test_one_name_for_two_tools_is_refused_before_anything_is_asked(source: Path, misstep: Command) -> None:
    source.with_name("more.py").write_text(SOURCE)
    with Travelling().server as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, *SHORT)
        for other in ("more.py:road", "roads.py:tools"):
            more = ("--bench", "files", "--strategy", "source")
            printed = misstep("tool", "fix", "roads.py:road", other, *model, *more)
            assert (printed.code, printed.out) == (2, "")
            assert "the tool 'road' exists twice" in printed.err
            assert f"{source}:road and in {source.parent}/{other}" in printed.err
        assert not server.model_requests


DECORATED = SOURCE.replace(
    '    """How far it is by road from one city to another."""\n',
    "    @cache\n    def kilometres():\n        return 465\n",
).replace("\ndef road", "from functools import cache\n\n\ndef road", 1)


def test_a_function_without_words_gets_some(source: Path, misstep: Command) -> None:
    source.write_text(DECORATED)
    with Travelling().server as server:
        asked(misstep, server)
        assert misstep(*given(server, "fix", *FIX, "--write")).code == 0
    assert source.read_text() == DECORATED.replace("    @cache", f'    """{WORDS}"""\n    @cache')


TYPED = '    "How far.\\n\\nArgs:\\n    start: A city.\\n    end: Another."\n'
ESCAPED = SOURCE.replace('    """How far it is by road from one city to another."""\n', TYPED)


def test_a_function_that_can_t_get_any_is_refused_before_anything_is_asked(
    source: Path, misstep: Command
) -> None:
    source.write_text(ESCAPED)
    with Travelling().server as server:
        asked(misstep, server)
        before = len(server.model_requests)
        printed = misstep(*given(server, "fix", *FIX, "--write"))
        assert len(server.model_requests) == before
    assert (printed.code, "can't be edited automatically" in printed.err) == (2, True)


def test_a_read_only_file_is_not_replaced(source: Path, misstep: Command, server: ScriptedServer) -> None:
    out = source.with_name("new.toml")
    out.write_text("mine")
    out.chmod(0o444)
    before = len(server.model_requests)
    for printed in (
        resumed(misstep, "--out", "new.toml"),
        misstep(*given(server, "fix", *FIX, "--out", "new.toml")),
    ):
        assert (printed.code, "new.toml  can't be written: it is read-only" in printed.err) == (2, True)
    source.chmod(0o444)
    printed = resumed(misstep, "--write")
    assert (printed.code, "can't be written: it is read-only" in printed.err) == (2, True)
    assert (out.read_text(), source.read_text(), len(server.model_requests)) == ("mine", SOURCE, before)


def test_a_file_with_two_names_keeps_both(source: Path, misstep: Command, server: ScriptedServer) -> None:
    other = source.with_name("other.py")
    other.hardlink_to(source)
    source.chmod(0o750)
    assert resumed(misstep, "--write").code == 0
    assert (other.read_text(), os.stat(other).st_nlink, os.stat(other).st_mode & 0o777) == (MENDED, 2, 0o750)
