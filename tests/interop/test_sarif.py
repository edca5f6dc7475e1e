"""SARIF held against the schema of its standard, and against what GitHub takes."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from misstep.core.results.report import SourceLocation, Unconfirmed
from misstep.interop import sarif as module
from misstep.interop.sarif import RULES, find_root, sarif
from tests.interop.statements import HOSTILE, entry, flaw, statement

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0-rtm.5.json").read_text())
ALL = ("plan", "tool", "lint", "bench", "cause")


def written(root: Path, *entries: Any, **given: Any) -> dict[str, Any]:
    document = json.loads("".join(sarif(statement(entries, **given), root)))
    jsonschema.Draft4Validator(SCHEMA).validate(document)
    (run,) = document["runs"]
    return dict(run)


def test_a_finding_is_located_in_the_source(tmp_path: Path) -> None:
    tool = tmp_path / "my tools" / "shop.py"
    tool.parent.mkdir()
    tool.write_text("")
    located = flaw(rule="tool/crash", spot=SourceLocation(str(tool), 6), calls=('find({"a": "[x]"})',))
    run = written(tmp_path, entry("failed", flaws=(located,)), families=("tool",))
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20tools/shop.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 6},
    }
    assert "SRCROOT" in run["originalUriBaseIds"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "tool/crash"
    assert 'find({{"a": "\\[x\\]"}})' in result["message"]["text"]
    assert result["properties"]["calls"] == ['find({"a": "[x]"})']


def test_a_file_elsewhere_keeps_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    located = flaw(spot=SourceLocation(str(tmp_path / "shop.py"), 6))
    (result,) = written(tmp_path / "repository", entry("failed", flaws=(located,)))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (tmp_path / "shop.py").as_uri()}


def test_an_agent_without_a_file_has_a_logical_location(tmp_path: Path) -> None:
    (result,) = written(tmp_path, entry("failed"))["results"]
    assert result["locations"] == [{"logicalLocations": [{"name": "sim:greedy", "kind": "object"}]}]


def test_what_was_not_judged_is_no_result(tmp_path: Path) -> None:
    entries = [entry("passed"), entry("errored", "e"), *[entry("inconclusive", "i")] * 150]
    run = written(tmp_path, *entries, unfinished="the run has not come to its end")
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    told = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert told[:2] == ["the run has not come to its end", "e errored: the model was out"]
    assert told[-1] == "150 inconclusive in all"
    assert len(told) == 103


def test_minor_ones_are_notes_and_what_was_not_confirmed_is_no_result(tmp_path: Path) -> None:
    known = {"rule": "tool/crash"}
    flaws = (flaw(**known), flaw(**known, aside="minor"), flaw(**known, aside="same cause"))
    one, two = Unconfirmed("crash one", "misstep replay r/1"), Unconfirmed("two", "misstep replay r/2")
    entries = entry("failed", flaws=flaws, unconfirmed=(one,)), entry("passed", unconfirmed=(two,))
    run = written(tmp_path, *entries, unit="tool", families=("tool",))
    assert [result.get("level") for result in run["results"]] == [None, "note", None]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [(note["level"], note["message"]["text"]) for note in notes] == [
        ("note", "not confirmed: crash one. Replay: misstep replay r/1"),
        ("note", "not confirmed: two. Replay: misstep replay r/2"),
    ]


def test_fingerprints_stay(tmp_path: Path) -> None:
    def prints(**given: Any) -> list[str]:
        run = written(tmp_path, entry("failed", flaws=(flaw(**given),)))
        return [result["partialFingerprints"]["misstep/v1"] for result in run["results"]]

    usual = prints()
    assert prints(text="in other words", spot=SourceLocation(str(tmp_path / "a.py"), 99)) == usual
    assert prints(identity="another") != usual
    assert prints(rule="plan/lost") != usual


def test_no_more_than_github_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RESULTS", 10)
    run = written(tmp_path, *[entry("failed")] * 25)
    assert len(run["results"]) == 10
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("15 more results were omitted")


def test_a_file_that_github_takes(tmp_path: Path) -> None:
    many = [entry("failed", flaws=(flaw("x" * 3_900),))] * 4_000
    text = "".join(sarif(statement(many), tmp_path))
    assert len(text.encode()) <= 10_000_000
    assert 1_000 < len(json.loads(text)["runs"][0]["results"]) < 4_000
    assert "more results were omitted" in text


def test_hostile_text_is_no_link_and_has_no_place_for_arguments(tmp_path: Path) -> None:
    hostile = flaw(
        HOSTILE, title=HOSTILE, subject=HOSTILE, calls=(HOSTILE,), replay=HOSTILE, identity=HOSTILE
    )
    (result,) = written(tmp_path, entry("failed", HOSTILE, flaws=(hostile,)))["results"]
    text = result["message"]["text"]
    assert "\\[a\\](https://evil.example)" in text
    assert "{{0}}" in text
    assert "\\\\u001b" in text


def test_every_rule_says_what_to_do(tmp_path: Path) -> None:
    run = written(tmp_path, families=ALL)
    rules = run["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} == set(RULES)
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in rules)


def test_a_rule_that_nobody_has_described(tmp_path: Path) -> None:
    (result,) = written(tmp_path, entry("failed", flaws=(flaw(rule="plan/new"),)))["results"]
    assert (result["ruleId"], result["level"]) == ("plan/new", "error")


def test_the_root_of_a_repository(tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    assert find_root(inside) == inside
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere")
    assert find_root(inside) == tmp_path / "a"
