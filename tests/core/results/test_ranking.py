"""Findings in order of how bad and how plausible they are, and by their root cause."""

import json
from typing import Any

import pytest
from msgspec import structs

from misstep.core.results.finding import DIED, Finding, FuzzReport, ToolReport, causes_of, ranked
from misstep.core.tool import Invocation, oddity_of

SPEC = "tools.py:tools"


def finding(name: str, value: Any = "a", **changes: Any) -> Finding:
    calls = (Invocation("act", json.dumps({"text": value})),)
    plain = Finding(
        *(name, "act", "crash", "ValueError", f"t.py:{name} in f", "no", "", name, calls, calls, 1), spec=SPEC
    )
    return structs.replace(plain, **changes)


def order(*findings: Finding) -> list[str]:
    assert ranked(findings) == ranked(reversed(findings))
    return [each.id for each in ranked(findings)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (finding("1", "b"), finding("0", "\0")),
        (finding("1", "b" * 150), finding("0", "\ud800")),
        (finding("1", "b" * 250), finding("0", "\0")),
        (finding("1", "\x1b["), finding("0", "\0")),
        (finding("1", "b"), finding("0", "\x1b[")),
        (finding("1", "b" * 150), finding("0", "b" * 250)),
        (finding("1", "a longer text"), finding("0", 10**30)),
        (finding("1", "line\nline"), finding("0", "\u202e")),
        (finding("1", "bb"), finding("0", "b" * 30)),
        (finding("1", "bbbb"), finding("0", fits=False)),
        (finding("1", "celsius", documented=1), finding("0", "a")),
        (finding("1", "\0", error=DIED), finding("0")),
        (finding("1", kind="hang"), finding("0", "\0")),
        (finding("1"), finding("0", kind="hang")),
        (finding("1", "\0", kind="contract", error="read-only"), finding("0")),
        (finding("1", error=DIED), finding("0", kind="contract", error="read-only")),
        (finding("1", kind="contract", error="read back"), finding("0", error=DIED)),
        (finding("1", kind="security"), finding("0", kind="contract", error="read back")),
        (finding("1", kind="hang"), finding("0", kind="schema")),
        (finding("1", kind="schema"), finding("0", kind="acceptance")),
        (finding("1", "b" * 60, request="Where is it?"), finding("0", "b")),
    ],
)
def test_the_worse_and_more_plausible_one_comes_first(first: Finding, second: Finding) -> None:
    assert order(first, second) == ["1", "0"]


def test_arguments_that_cannot_be_read_are_odd() -> None:
    assert oddity_of([Invocation("act", "[" * 100_000)]) == 3
    assert oddity_of([Invocation("act", json.dumps({"x": [[[[[[[[[[1]]]]]]]]]]}))]) == 1
    assert oddity_of([]) == 0


def place(tool: str, where: str = "paths.py:48 in check", **changes: Any) -> Finding:
    return finding(f"{tool}{changes.get('error', '')}", tool=tool, where=where, **changes)


def test_twelve_tools_that_share_a_check_are_one_cause() -> None:
    shared = [place(f"tool{number}") for number in range(12)]
    own = place("tool3", "other.py:9 in act")
    causes = causes_of([*shared, own])
    assert sorted(len(cause.findings) for cause in causes) == [1, 12]
    assert len({cause.id for cause in causes}) == 2
    assert len(causes_of([place("one"), place("two", error="KeyError")])) == 2
    assert len(causes_of([place("one"), place("two", spec="tools.py:other")])) == 1
    assert len(causes_of([place("one"), place("two", spec="copy/tools.py:tools")])) == 2


def test_without_a_place_the_message_tells_causes_apart() -> None:
    def told(tool: str, signature: str, **changes: Any) -> Finding:
        return place(tool, "", signature=signature, error="OSError", **changes)

    same = [told(tool, f"OSError: {tool} failed: no such device, read '…'") for tool in ("load", "store")]
    assert len(causes_of(same)) == 1
    assert len(causes_of([same[0], told("store", "OSError: another message altogether")])) == 2
    assert len(causes_of([same[0], structs.replace(same[1], spec="other.py:tools")])) == 2
    assert len(causes_of([told("load", "OSError: '…'"), told("store", "OSError: '…'")])) == 2
    assert len(causes_of([told("load", "hang", kind="hang"), told("store", "hang", kind="hang")])) == 2


def test_a_report_lists_the_weightiest_first_whichever_tool_it_is_of() -> None:
    odd, plain = finding("0", "\0", tool="a"), finding("1", "b", tool="b")
    report = FuzzReport("r", (SPEC,), (ToolReport("a", 1, (odd,)), ToolReport("b", 1, (plain,))))
    assert report.findings == [plain, odd]
    assert [cause.findings for cause in report.causes] == [(plain,), (odd,)]
