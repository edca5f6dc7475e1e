"""What is shown of tasks of a benchmark."""

import json

from msgspec.structs import replace
from rich.console import Console

from misstep.core.outcome import Judgement, Usage
from misstep.core.results.benchmark import BenchmarkReport, TaskReport
from misstep.core.results.summary import Tally
from misstep.core.results.trial import Judged, Trial, Use
from misstep.features.bench.view import benchmark_as_json, benchmark_view, task_as_json, task_view, tasks
from misstep.rendering.html.page import RunPage, run_page
from tests.rendering.screens import shown

NASTY = "\x1b[31m\u202e<b>[red]\n\ud800"


def a_task(
    verdict: Judgement = "failed", text: str = "plain", kind: str = "move", name: str = "fi1"
) -> TaskReport:
    usage = {"agent": Usage(1000, 200)}
    return TaskReport(
        name,
        kind,
        text,
        "test",
        verdict,
        text,
        (text,) * 5,
        Trial(text, answer=text),
        usage=usage,
        notes=(text,),
    )


def a_run(*tasks: TaskReport) -> BenchmarkReport:
    return BenchmarkReport("run", "files", ("a.py:b",), tasks, {"agent": Usage(1000, 200)}, 1.5, 0.25)


def test_texts_from_outside_are_harmless_everywhere() -> None:
    report = a_run(a_task(text=NASTY, kind=NASTY), a_task("errored", NASTY))
    page = run_page(RunPage(Tally().summary("run", "agent"), tuple(tasks(report, ""))))
    for text in (shown(benchmark_view(report, "show")), shown(task_view(report.tasks[0])), page):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\\u001b[31m" in text
    assert "<b>[red]" not in page
    assert "&lt;b&gt;[red]" in page
    assert json.loads(json.dumps(benchmark_as_json(report)))["results"][0]["kind"] == NASTY


def test_rates_are_of_what_could_be_judged() -> None:
    report = a_run(a_task(), a_task("passed"), a_task("errored"), a_task("inconclusive", kind="copy"))
    lines = [line.split() for line in shown(benchmark_view(report, "show")).splitlines()]
    assert lines[1] == ["move", "1", "2", "50.0", "%", "9.5", "–", "90.5", "%", "1"]
    assert lines[2] == ["copy", "0", "0", "–", "–", "1"]
    assert lines[3][:4] == ["all", "1", "2", "50.0"]
    found = benchmark_as_json(report)
    assert (found["inconclusive"], found["by_kind"]["move"]["inconclusive"]) == (1, 0)
    assert (found["success"], found["errored"], found["by_kind"]["copy"]["success"]) == (0.5, 1, None)


def test_kinds_are_in_the_order_of_the_benchmark() -> None:
    report = replace(a_run(a_task(kind="odd"), a_task(kind="copy"), a_task()), kinds=("move", "copy"))
    assert list(report.by_kind) == ["move", "copy", "odd"]


def test_lines_of_requests_are_lines_and_none_ends_in_blanks() -> None:
    request = "Make these:\n" + "".join(f"line {number}\n" for number in range(20))
    report = a_run(a_task(text=request), a_task("passed"))
    for view in (benchmark_view(report, "show"), task_view(report.tasks[0])):
        console = Console(width=100, color_system=None)
        with console.capture() as captured:
            console.print(view)
        lines = captured.get().split("\n")
        assert "  line 0" in lines
        assert [line for line in lines if line != line.rstrip(" ")] == []
    listed = shown(benchmark_view(report, "show"))
    assert "  Make these:\n  line 0\n  line 1\n  line 2\n  … (18 more lines)\n" in listed


def test_a_run_that_is_not_done_says_how_far_it_is() -> None:
    def last(*tasks: TaskReport, total: int) -> str:
        return shown(benchmark_view(replace(a_run(*tasks), total=total), "show")).splitlines()[-1]

    assert last(a_task("passed"), a_task("passed"), total=234) == "2 of 234 tasks so far, all passed"
    assert last(a_task("passed"), total=234) == "1 of 234 tasks so far, which passed"
    assert last(a_task("passed"), total=1) == "the only task passed"
    assert last(a_task("passed"), a_task("passed"), total=2) == "all 2 tasks passed"
    some = replace(a_run(a_task("passed"), a_task()), total=234)
    assert "2 of 234 tasks so far\n" in shown(benchmark_view(some, "show"))
    assert benchmark_as_json(some)["total"] == 234
    assert "2 of 234 tasks so far" in run_page(
        RunPage(Tally().summary("run", "agent"), tuple(tasks(some, "")))
    )
    done = replace(some, total=2)
    assert "so far" not in shown(benchmark_view(done, "show"))
    assert "so far" not in run_page(RunPage(Tally().summary("run", "agent"), tuple(tasks(done, ""))))


def test_answers_of_tools_are_shown_in_short() -> None:
    answers = ("fine", "", "one\ntwo\nthree", "x" * 5_000, NASTY)
    uses = tuple(Use("read_file", "{}", answer, Judged("fine")) for answer in answers)
    whole = replace(a_task(), trial=Trial("plain", uses))
    text = shown(task_view(whole))
    assert "  read_file()\n    → fine\n  read_file()\n    → (nothing)\n" in text
    assert "\n    → one … (2 more lines)\n" in text
    assert text.count("x" * 100) < 5
    assert "\x1b" not in text
    page = run_page(RunPage(Tally().summary("run", "agent"), tuple(tasks(a_run(whole), ""))))
    assert "→ one … (2 more lines)" in page


def test_a_long_list_is_cut_and_says_so() -> None:
    report = a_run(*[a_task(name=f"fi{number}") for number in range(30)])
    text = shown(benchmark_view(report, "misstep show run", " --store x", 4))
    assert text.count("failed  fi") == 4
    assert "… and 26 more: misstep show run --most 30 --store x lists them all" in text
    assert "Details: misstep show run/fi0 --store x" in text
    assert "… and 2 more" in text, "of five differences three are listed"


def test_what_an_agent_says_is_no_call_and_keeps_its_lines() -> None:
    task = replace(a_task(), trial=Trial("plain", answer="a.txt\nb <b>.txt"))
    assert "agent calls\n  (no call)\n\nagent answer\n  a.txt\n  b <b>.txt\n" in shown(task_view(task))
    page = run_page(RunPage(Tally().summary("run", "agent"), tuple(tasks(a_run(task), ""))))
    calls, _, said = page.partition("Agent answer:")
    assert calls.endswith("<ol><li>(no call)</li></ol><p>")
    assert said.startswith("</p><pre>a.txt\nb &lt;b&gt;.txt</pre>")


def test_money_is_shown_where_it_was_spent() -> None:
    assert "1,200 tokens, 0.2500 USD; 1.5 s" in shown(benchmark_view(a_run(a_task("passed")), "show"))


def test_json_has_the_same_fields_whatever_is_known() -> None:
    bare = task_as_json(TaskReport("x", "move", "?", "test", "errored"))
    assert bare.keys() == task_as_json(a_task()).keys()
    assert bare["trial"] is None
