"""JUnit's XML as other programs read it."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import junitparser

from misstep.core.outcome import Judgement
from misstep.core.results.comparison import Held
from misstep.core.results.report import ReportItem, Unconfirmed
from misstep.interop.junit import junit
from tests.interop.statements import HOSTILE, entry, flaw, statement


def parsed(text: str) -> junitparser.TestSuite:
    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    assert isinstance(suite, junitparser.TestSuite)
    return suite


def test_verdicts_are_told_apart() -> None:
    entries = [entry("passed", "a"), entry("failed", "b"), entry("inconclusive", "c"), entry("errored", "d")]
    suite = parsed("".join(junit(statement(entries))))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (4, 1, 1, 1)
    assert suite.time == 12.346
    results = {case.name: case.result for case in suite}
    assert results["a"] == []
    (failed,) = results["b"]
    assert isinstance(failed, junitparser.Failure)
    assert (failed.message, failed.type) == ("order at step 2", "plan/order")
    assert failed.text == (
        "order at step 2\nit went wrong\nmisstep: step 2, wash()\nReplay: misstep replay k3x9aa/f1"
    )
    (skipped,) = results["c"]
    assert isinstance(skipped, junitparser.Skipped)
    assert skipped.message == "the model was out"
    (errored,) = results["d"]
    assert isinstance(errored, junitparser.Error)
    assert errored.message == "the model was out"
    assert {case.classname for case in suite} == {"misstep.plan.test.baker"}


def test_a_tool_with_several_defects_is_one_failure() -> None:
    flaws = (
        flaw("first", title="crash A", rule="tool/crash"),
        flaw("second", title="hang B", rule="tool/hang"),
    )
    (case,) = parsed("".join(junit(statement([entry("failed", flaws=flaws)]))))
    (failed,) = case.result
    assert (failed.message, failed.type) == ("crash A; hang B", "tool/crash, tool/hang")
    assert "first" in str(failed.text)
    assert "second" in str(failed.text)


def test_what_was_not_confirmed_is_no_failure_but_is_told() -> None:
    waiting = Unconfirmed(f"crash {HOSTILE}", "misstep replay r/1")
    (case,) = parsed("".join(junit(statement([entry("passed", unconfirmed=(waiting,))]))))
    assert case.result == []
    assert case.system_out.startswith("not confirmed: crash ")


def test_what_xml_forbids_is_spelt_out() -> None:
    hostile = entry("failed", HOSTILE, group=HOSTILE, flaws=(flaw(HOSTILE, title=HOSTILE),))
    given = [hostile, entry("inconclusive", reason=HOSTILE)]
    text = "".join(junit(statement(given, subject=HOSTILE)))
    suite = parsed(text)
    assert len(list(suite)) == 2
    body = str(next(iter(suite)).result[0].text)
    assert "<script>alert(1)</script> ]]> &lt; \\u0000\\u0008\\u001b[31m \\ud800 \ufffd" in body
    assert {element.tag for element in ET.fromstring(text.encode()).iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "skipped"
    }  # fmt: skip


def test_a_huge_explanation_is_cut() -> None:
    text = "".join(junit(statement([entry("failed", flaws=(flaw("x" * 1_000_000),))])))
    assert len(text) < 50_000
    assert "more characters" in text
    assert "Replay: misstep replay k3x9aa/f1</failure>" in text


def test_what_is_known_of_the_run() -> None:
    suite = parsed("".join(junit(statement([], held=Held("p4q2zz", regressed=True)))))
    told = {each.name: each.value for each in suite.properties()}
    assert told == {"run": "k3x9aa", "baseline": "no findings beyond baseline p4q2zz"}


def test_a_run_that_is_not_at_its_end_is_no_success() -> None:
    suite = parsed(
        "".join(junit(statement([entry("passed")], unfinished="the run has not come to its end: 1 of 9")))
    )
    assert (suite.tests, suite.errors) == (2, 1)
    assert [case.name for case in suite if case.result] == ["the run as a whole"]


def test_entries_are_written_as_they_come() -> None:
    """None is read before the one before it has been written out."""
    taken = 0

    def endless(_: Judgement | None) -> Iterator[ReportItem]:
        nonlocal taken
        while True:
            taken += 1
            yield entry("failed")

    pieces = junit(statement([], entries=endless))
    while "testcase" not in next(pieces):
        pass
    assert taken == 1
    for _ in range(20_000):
        assert "testcase" in next(pieces)
    assert taken == 20_001
