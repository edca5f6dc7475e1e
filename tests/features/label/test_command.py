"""`misstep label` as it is typed, its answers coming over a pipe."""

import io
import json
import socket
import sys
from pathlib import Path

import msgspec
import pytest

from misstep.core.results.trial import Trial
from misstep.errors import install_command
from misstep.store.runs import Store
from tests.conftest import Command, Result
from tests.features.consistency.stored_run import HIDDEN, keep_run, keep_sets, report_on_tool


class Person:
    """Somebody who answers with these letters, each on a line of its own."""

    def __init__(self, misstep: Command, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self._misstep, self._patch = misstep, patch
        self.run = keep_run(str(folder / ".misstep" / "store.db"))

    def __call__(self, answers: str, *options: str, name: str = "ann") -> Result:
        self._patch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
        return self._misstep("label", self.run, "--labeller", name, *options)

    def report(self, *options: str) -> dict[str, object]:
        return dict(json.loads(self._misstep("label", self.run, "--json", *options).out))


@pytest.fixture
def person(misstep: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Person:
    return Person(misstep, monkeypatch, tmp_path)


def test_whoever_labels_sees_nothing_but_what_happened(person: Person) -> None:
    printed = person("s" * 9)
    assert printed.code == 0
    assert "9 of 9" in printed.out
    for shown in ('forecast({"place": "How is moon 0?"})', "Tell me of sun", "sunny", "It is sunny."):
        assert shown in printed.out
    told = (*HIDDEN, "never shown", "failed", "passed", "discover", "crash")
    assert not [word for word in told if word in printed.out]
    assert "9 items left; resume with: misstep label" in printed.out
    assert printed.out.startswith("Erroneous means")
    assert max(map(len, printed.out.splitlines()[:3])) <= 100


def test_labels_are_kept_one_by_one(person: Person) -> None:
    first = person("ec")  # and the end of input
    assert "7 items left" in first.out
    assert "false discoveries" not in first.out
    second = person("e" * 7)
    assert "1 of 9" not in second.out
    assert "ann: 9 labelled" in second.out
    assert "all tools" in second.out
    assert "false discoveries" in person("").out


def test_one_can_go_back_and_change_ones_mind(person: Person) -> None:
    printed = person("xebsbcq")
    assert "you said: erroneous" in printed.out
    (opinion,) = person.report()["opinions"]  # type: ignore[misc]
    assert (opinion["labelled"], opinion["left"]) == (1, 8)
    with Store(".misstep/store.db") as store:
        assert [label.erroneous for label in store.labels(person.run)] == [False]


def test_everything_can_be_gone_through_again(person: Person) -> None:
    person("e" * 9)
    person("c" * 9, "--again")
    with Store(".misstep/store.db") as store:
        assert [label.erroneous for label in store.labels(person.run)] == [False] * 9


def test_rates_and_agreement_are_summed_up(person: Person) -> None:
    person("e" * 9)
    printed = person("e" * 4 + "c" * 5, name="bob")
    assert "ann and bob" in printed.out
    assert "same label  4 of 9: 44.4 %" in printed.out
    assert "differ on" in printed.out
    assert " \n" not in printed.out
    report = person.report()
    assert (report["items"], report["discovered"]) == (9, 6)
    ann = report["opinions"][0]  # type: ignore[index]
    assert ann["score"]["false_discoveries"]["share"] == 0
    assert ann["score"]["missed"]["share"] == 1
    (agreement,) = report["agreements"]  # type: ignore[misc]
    assert len(agreement["disagreements"]) == 5
    assert agreement["kappa"] == 0  # ann said the same of everything


def test_the_number_of_items_is_up_to_the_user(person: Person) -> None:
    assert "1 of 5" in person("q", "--per-tool", "1").out


def test_long_texts_are_cut_until_all_is_asked_for(misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_on_tool("moon", 1, 0)
    (one,) = (each for each in report.sets if each.verdict == "failed")
    trial = Trial("ask", answer="word " * 500 + "END")
    sets = (msgspec.structs.replace(one, trials=(trial,)),)
    with Store(".misstep/store.db", create=True) as store:
        keep_sets(store, [msgspec.structs.replace(report, sets=sets)])
    for keys, seen in (("q\n", False), ("a\nq\n", True)):
        monkeypatch.setattr("sys.stdin", io.StringIO(keys))
        printed = misstep("label", "last", "--labeller", "ann").out
        assert ("END" in printed) is seen
        assert "a all of it" in printed


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("nosuch",), "there is no run 'nosuch'"),
        (("last", "--labeller", "a\nb"), "invalid name"),
        (("last", "--per-tool", "0"), "--per-tool"),
        (("last", "--web", "--port", "70000"), "--port"),
        (("last", "--port", "8000"), "--port is for --web"),
        (("last", "--web", "--again"), "--again can't be combined with --web"),
        (("last", "--json", "--web"), "only prints the labels so far"),
    ],
)
def test_mistakes_are_told(person: Person, misstep: Command, options: tuple[str, ...], told: str) -> None:
    printed = misstep("label", *options)
    assert printed.code == 2
    assert told in printed.err


def test_a_run_without_judged_requests_has_nothing_to_label(misstep: Command) -> None:
    misstep("plan", "test", "--agent", "sim:perfect", "--count", "1", "--display", "none")
    printed = misstep("label", "last", "--labeller", "ann")
    assert printed.code == 2
    assert "has nothing to label" in printed.err


def test_a_page_needs_its_extra(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (
        "misstep.features.label.pages",
        "misstep.web.server",
    ):  # other tests may have imported them
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    printed = person("", "--web")
    assert printed.code == 2
    assert install_command("web") in printed.err


def test_a_port_that_is_taken_is_told(person: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        printed = person("", "--web", "--port", port)
    assert printed.code == 2
    assert f"can't listen on 127.0.0.1:{port}" in printed.err


def test_answers_have_to_be_text(person: Person, monkeypatch: pytest.MonkeyPatch, misstep: Command) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"e\n\xff\n"), "utf-8"))
    printed = misstep("label", person.run, "--labeller", "ann")
    assert printed.code == 2
    assert "an answer is not valid text" in printed.err
