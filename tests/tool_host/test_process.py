"""The process in which tools are called goes on, whatever they do to it."""

import os
import signal
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.errors import UsageError
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions, Limits
from misstep.tool_host.sandbox.bubblewrap import find_bubblewrap
from misstep.tool_host.serving.scratch import names_in
from tests.adapters.toolset.test_mcp_servers import serving
from tests.tool_host.trying import LIMITS, bench_in, needs_bubblewrap, probe, react, settle

SHELTERS = [
    "none",
    pytest.param(
        "bubblewrap", marks=pytest.mark.skipif(bool(find_bubblewrap().problem), reason="no bubblewrap")
    ),
]


@pytest.fixture(scope="module", params=SHELTERS)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolHost]:
    with bench_in(tmp_path_factory.mktemp("tools"), shelter=request.param) as bench:
        yield bench


@pytest.fixture(autouse=True)
def anew(request: pytest.FixtureRequest) -> None:
    if "bench" in request.fixturenames:
        request.getfixturevalue("bench").reset()


def test_state_lives_until_the_reset(bench: ToolHost) -> None:
    assert [react(bench, "fine").text[0] for _ in range(3)] == ["1", "2", "3"]
    bench.reset()
    assert react(bench, "fine").text.startswith("1 ")


def test_many_calls_come_to_what_each_of_them_does(bench: ToolHost) -> None:
    reactions = list(bench.run(probe("fine", text="x" * 1000) for _ in range(500)))
    assert [int(reaction.text.split()[0]) for reaction in reactions] == list(range(1, 501))


def test_texts_that_fill_the_line_both_ways_are_no_problem(bench: ToolHost) -> None:
    reactions = list(bench.run([probe("fine", text="x" * 1_000_000)] * 5 + [probe("odd", what="long")] * 200))
    assert {reaction.ended for reaction in reactions} == {"returned"}
    assert reactions[-1].size == 3_000_000
    assert len(reactions[-1].text) < 10_000


@pytest.mark.parametrize(
    ("how", "kind"),
    [("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt"), ("generator", "GeneratorExit"),
     ("base", "BaseException"), ("deep", "RecursionError")],
)  # fmt: skip
def test_what_is_raised_ends_nothing(bench: ToolHost, how: str, kind: str) -> None:
    assert react(bench, "fine").text.startswith("1 ")
    reaction = react(bench, "leave", how=how)
    assert reaction.raised is not None
    assert (reaction.ended, reaction.raised.kind) == ("raised", kind)
    assert reaction.raised.frames[-1].own
    assert react(bench, "fine").text.startswith("2 ")


@pytest.mark.parametrize(
    ("how", "detail"),
    [
        ("at once", "status 3"),
        ("segfault", "SIGSEGV"),
        ("abort", "SIGABRT"),
        ("files", "closed its process's file descriptors"),
        ("break", "broke its interpreter"),
    ],
)
def test_a_process_that_dies_is_told_of_and_replaced(bench: ToolHost, how: str, detail: str) -> None:
    probes = [probe("fine"), probe("leave", how=how), probe("fine"), probe("fine")]
    reactions = list(bench.run(probes))
    assert [reaction.ended for reaction in reactions] == ["returned", "died", "returned", "returned"]
    assert detail in reactions[1].detail
    assert [reaction.text[:1] for reaction in reactions] == ["1", "", "1", "2"]


def test_the_place_of_a_segfault_is_known(bench: ToolHost) -> None:
    raised = react(bench, "leave", how="segfault").raised
    assert raised is not None
    assert [frame.function for frame in raised.frames if frame.own] == ["leave"]


@pytest.mark.full(after=2)
@pytest.mark.parametrize("how", ["loop", "regex", "sleep"])
def test_a_hang_is_given_up_and_its_place_is_known(bench: ToolHost, how: str) -> None:
    hung, after = bench.run([probe("hang", how=how), probe("fine")])
    assert (hung.ended, after.text[:1]) == ("hung", "1")
    assert hung.raised is not None
    assert [frame.function for frame in hung.raised.frames if frame.own] == ["hang"]


@pytest.mark.full(after=2)
@pytest.mark.parametrize("how", ["loop", "regex", "child", "thread"])
def test_a_call_that_is_given_up_and_has_computed_says_for_how_long(bench: ToolHost, how: str) -> None:
    hung = react(bench, "hang", how=how)
    assert (hung.ended, hung.computed > 0.0) == ("hung", True)


@pytest.mark.full(after=1)
@pytest.mark.parametrize("how", ["sleep", "lock", "poll"])
def test_a_call_that_is_given_up_and_has_waited_has_not_computed(bench: ToolHost, how: str) -> None:
    assert list(bench.run([probe("fine"), probe("slow")]))
    hung = react(bench, "hang", how=how)
    assert (hung.ended, hung.computed) == ("hung", 0.0)


def test_a_process_that_used_up_its_processor_time_is_given_up(bench: ToolHost) -> None:
    reaction = react(bench, "leave", how="processor")
    assert (reaction.ended, reaction.computed > 0.0) == ("hung", True)


def test_nobody_waits_for_a_hang_once_it_is_over(tmp_path: Path) -> None:
    over = threading.Event()
    with bench_in(tmp_path, limits=Limits(timeout=600.0)) as bench:
        bench.heed(over.is_set)
        reactions = bench.run([probe("fine"), probe("hang", how="sleep"), probe("fine")])
        assert next(reactions).ended == "returned"
        over.set()
        assert list(reactions) == []
        assert list(bench.run([probe("fine")])) == []
        over.clear()
        assert react(bench, "fine").text.startswith("1 ")


@pytest.mark.parametrize("again", ["reset", "run"])
def test_nobody_waits_for_a_new_start_once_it_is_over(tmp_path: Path, again: str) -> None:
    (tmp_path / "slow.py").write_text(
        "import os, time\n"
        f"if os.path.exists({str(tmp_path / 'slow')!r}):\n    time.sleep(600)\n"
        "def leave():\n    os.kill(os.getppid(), 9)\n    time.sleep(600)\n"
    )
    over = threading.Event()
    with ToolHost(f"{tmp_path}/slow.py:leave", CallConditions(shelter="none", load_limit=600.0)) as bench:
        bench.heed(over.is_set)
        (tmp_path / "slow").touch()
        assert react(bench, "leave").ended == "died"
        threading.Timer(0.5, over.set).start()
        assert list(bench.run([probe("leave")])) == [] if again == "run" else bench.reset() is None
        (tmp_path / "slow").unlink()
        over.clear()
        assert react(bench, "leave").ended == "died"


@pytest.mark.parametrize(("what", "is_heard"), [("large", True), ("endless", False)])
def test_of_a_forged_report_no_more_is_taken_in_than_of_an_honest_one(
    bench: ToolHost, what: str, is_heard: bool
) -> None:
    reaction = react(bench, "forge", what=what)
    assert (reaction.ended == "returned") == is_heard
    assert len(reaction.text) < 100_000
    bench.reset()
    assert react(bench, "fine").text.startswith("1 ")


def test_with_more_patience_what_is_slow_does_not_hang(tmp_path: Path) -> None:
    with bench_in(tmp_path, limits=Limits(timeout=0.1)) as bench:
        assert [reaction.ended for reaction in bench.run([probe("slow")])] == ["hung"]
        assert [reaction.ended for reaction in bench.run([probe("slow")], patience=100.0)] == ["returned"]


@pytest.mark.full(after=1)
def test_slow_is_not_hung(bench: ToolHost) -> None:
    assert [reaction.text for reaction in bench.run([probe("slow")] * 3)] == ["there"] * 3


def test_a_copy_of_the_process_does_not_answer_for_it(bench: ToolHost) -> None:
    reactions = list(bench.run([probe("leave", how="copy"), probe("fine"), probe("fine")]))
    assert [reaction.text[:1] for reaction in reactions] == ["s", "1", "2"]


def test_the_folder_itself_can_be_removed(bench: ToolHost) -> None:
    first = react(bench, "fine").text
    assert react(bench, "remove", path=bench.sandbox.folder).text == "gone"
    bench.reset()
    assert react(bench, "fine").text == first


def test_nobody_hears_what_is_printed(bench: ToolHost, capfd: pytest.CaptureFixture[str]) -> None:
    assert react(bench, "shout").ended == "returned"
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_encoded_is_replaced(bench: ToolHost) -> None:
    assert react(bench, "odd", what="surrogate").text == "?"


def test_what_cannot_be_encoded_of_a_description_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text('def say(text: str) -> str:\n    "Say \\ud800."\n    return text\n')
    with ToolHost(f"{tmp_path}/mine.py:say") as bench:
        assert [tool.tool.description for tool in bench.tools] == ["Say ?."]
        assert react(bench, "say", text="a").text == "a"


def test_memory_is_limited(bench: ToolHost) -> None:
    reactions = list(bench.run([probe("fine"), probe("eat", what="memory"), probe("fine")], patience=100.0))
    assert [reaction.ended for reaction in reactions] == ["returned", "exhausted", "returned"]
    assert "MB" in reactions[1].detail
    assert reactions[2].text.startswith("1 ")  # what had been kept before is not kept any longer


def test_open_files_are_not_taken_from_tools(bench: ToolHost) -> None:
    react(bench, "fine")
    before = len(os.listdir("/proc/self/fd"))
    assert react(bench, "hand_over").text == "done"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_tool_that_is_no_longer_there_is_told_of(bench: ToolHost) -> None:
    reaction = react(bench, "nobody")
    assert (reaction.ended, reaction.detail) == ("garbled", "the server no longer has the tool 'nobody'")
    assert react(bench, "fine").ended == "returned"


def test_there_are_only_so_many_programs(bench: ToolHost) -> None:
    assert ", more than allowed" in react(bench, "eat", patience=100.0, what="programs").detail


def test_edges_are_told_of_once_from_each_start_and_lines_add_up(tmp_path: Path) -> None:
    with bench_in(tmp_path, shelter="none") as bench:
        first, again = bench.run([probe("branch", number=1), probe("branch", number=2)])
        assert first.edges
        assert not again.edges
        bench.reset()
        old, other = bench.run([probe("branch", number=1), probe("branch", number=20)])
        assert old.edges == first.edges
        assert other.edges
        marked, _ = bench.run([probe("branch", number=1, mark=True), probe("branch", number=1)])
        assert set(marked.edges) >= set(first.edges)
        reach = bench.reach("branch")
        bench.forget()
        nothing = bench.reach("branch")
    assert nothing is not None
    assert nothing.lines == 0
    assert reach is not None
    assert (reach.lines, reach.total, reach.missed) == (3, 3, ())


def test_marked_arguments_tell_what_is_done_with_them(bench: ToolHost) -> None:
    reaction = react(bench, "branch", mark=True, number=3)
    assert [(seen.path, seen.operation, seen.operand) for seen in reaction.observations] == [
        (("number",), ">", "10")
    ]


def test_what_is_not_read_to_its_end_leaves_nothing_behind(bench: ToolHost) -> None:
    for reaction in bench.run([probe("fine")] * 100):
        assert reaction.text.startswith("1 ")
        break
    assert react(bench, "fine").text.startswith("1 ")


def descendants(pid: int) -> set[int]:
    found = {pid}
    for _ in range(8):
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(path.read_text().rpartition(")")[2].split()[1])
            except (OSError, ProcessLookupError):
                continue
            if parent in found:
                found.add(int(path.parent.name))
    return found - {pid}


@pytest.mark.parametrize("shelter", SHELTERS)
def test_whoever_is_killed_from_outside_is_replaced(tmp_path: Path, shelter: str) -> None:
    before = descendants(os.getpid())
    with bench_in(tmp_path, shelter=shelter) as bench:
        processes = sorted(descendants(os.getpid()) - before)
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
            reactions = list(bench.run([probe("fine"), probe("fine")]))
            assert {reaction.ended for reaction in reactions} <= {"returned", "died"}
            assert "returned" in [react(bench, "fine").ended for _ in range(3)]
    assert descendants(os.getpid()) <= before


@pytest.mark.full
@pytest.mark.parametrize("shelter", SHELTERS)
def test_it_ends_when_we_do(tmp_path: Path, shelter: str) -> None:
    script = f"""
import os, signal
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
bench = ToolHost({settle(tmp_path)!r}, CallConditions(shelter={shelter!r}))
bench.start()
print(bench.sandbox.roots[0], flush=True)
signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        root = Path(process.stdout.readline().decode().strip())
        left = descendants(process.pid)
        assert len(left) >= 3
        process.kill()
    for _ in range(500):
        if not any(Path(f"/proc/{pid}").exists() for pid in left):
            assert shelter == "bubblewrap" or not root.exists()
            return
        time.sleep(0.01)
    pytest.fail("something outlives us")


def test_two_benches_do_not_see_each_other(tmp_path: Path) -> None:
    with bench_in(tmp_path, shelter="auto") as one, bench_in(tmp_path, shelter="auto") as other:
        runs = [one.run([probe("fine")] * 100), other.run([probe("fine")] * 100)]
        texts = [(a.text.split()[0], b.text.split()[0]) for a, b in zip(*runs, strict=True)]
    assert texts == [(str(number), str(number)) for number in range(1, 101)]


def test_it_can_be_started_in_a_thread_that_ends(tmp_path: Path) -> None:
    bench = ToolHost(settle(tmp_path), CallConditions(limits=LIMITS))
    thread = threading.Thread(target=bench.start)
    thread.start()
    thread.join()
    try:
        assert [reaction.text[:1] for reaction in bench.run([probe("fine")] * 2)] == ["1", "2"]
    finally:
        bench.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os; os._exit(3)", "the process ended while loading"),
        ("print('x' * 10_000_000); raise RuntimeError('no luck')", "no luck"),
        ("import sys; sys.exit('enough')", "enough"),
        ("def other(): pass", "there is no 'tools' here"),
        ("tools = [", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_of(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    bench = ToolHost(f"{tmp_path / 'bad.py'}:tools", CallConditions())
    with pytest.raises(UsageError, match=message):
        bench.start()


def test_a_file_that_takes_for_ever_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import time; time.sleep(600)")
    with pytest.raises(
        UsageError, match=r"did not load: it was idle for 1 s\n.*check what its import waits for"
    ):
        ToolHost(f"{tmp_path / 'bad.py'}:tools", CallConditions(load_limit=1.0)).start()


def test_a_workspace_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        ToolHost(settle(tmp_path), CallConditions(workspace=str(tmp_path / "missing")))


def test_a_workspace_that_cannot_be_copied_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    os.mkfifo(tmp_path / "given/pipe")
    with pytest.raises(UsageError, match="can't be copied"):
        ToolHost(settle(tmp_path), CallConditions(workspace=str(tmp_path / "given"))).start()


def test_an_interpreter_that_is_none_is_told_of(tmp_path: Path) -> None:
    bench = ToolHost(settle(tmp_path), CallConditions(shelter="none", python=str(tmp_path / "python")))
    with pytest.raises(UsageError, match="can't be run"):
        bench.start()


def test_an_interpreter_without_msgspec_is_told_of(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    bench = ToolHost(settle(tmp_path), CallConditions(python=str(tmp_path / "bare/bin/python")))
    with pytest.raises(UsageError, match="has no msgspec"):
        bench.start()


def test_servers_are_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp")
    monkeypatch.setenv("SOME_KEY", "secret")
    server = Path(__file__).with_name("served.py")
    with ToolHost(f"mcp:{sys.executable} {server}") as bench:
        assert [tool.name for tool in bench.tools] == ["fine", "leave", "burn", "wait"]
        folder = bench.sandbox.folder
        reactions = list(bench.run([probe("fine"), probe("fine"), probe("leave"), probe("fine")]))
        assert [reaction.ended for reaction in reactions] == ["returned", "returned", "died", "returned"]
        assert "exit code 3" in reactions[2].detail
        texts = [reaction.text for reaction in reactions if reaction.text]
        assert texts == [f"1 1 {folder} False", f"2 2 {folder} False", f"1 1 {folder} False"]
        bench.reset()
        assert react(bench, "fine").text == texts[0]
        assert bench.reach("fine") is None


@pytest.mark.full
def test_a_server_that_computes_is_told_from_one_that_waits() -> None:
    pytest.importorskip("mcp")
    server, conditions = Path(__file__).with_name("served.py"), CallConditions(limits=LIMITS)
    with ToolHost(f"mcp:{sys.executable} {server}", conditions) as bench:
        reactions = list(bench.run([probe("burn"), probe("wait")]))
    assert [(reaction.ended, reaction.computed > 0.0) for reaction in reactions] == [
        ("hung", True),
        ("hung", False),
    ]


@pytest.mark.full
def test_calls_to_a_server_that_is_gone_come_to_its_death() -> None:
    pytest.importorskip("mcp")
    with serving("http", "odd.py") as url, ToolHost(f"mcp:{url}", CallConditions(shelter="none")) as bench:
        calls = [probe("echo", text="a"), probe("die", how="exit"), *[probe("echo", text="b")] * 100]
        reactions = list(bench.run(calls))
        assert [reaction.ended for reaction in reactions] == ["returned"] + ["died"] * 101
        assert "the server can't be reached" in reactions[-1].detail
        bench.reset()
        assert react(bench, "echo").ended == "died"


def test_what_to_do_about_code_that_is_part_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "pkg/sub").mkdir(parents=True)
    for folder in ("pkg", "pkg/sub"):
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "pkg/sub/t.py").write_text("from . import nothing")
    with pytest.raises(UsageError, match=r"give pkg\.sub\.t:conf, in the folder"):
        ToolHost(f"{tmp_path}/pkg/sub/t.py:conf").start()


@needs_bubblewrap
def test_what_to_do_about_code_that_writes_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("open(__file__ + '.log', 'w')")
    with pytest.raises(UsageError, match="--workspace"):
        ToolHost(f"{tmp_path}/t.py:conf").start()


def test_tools_that_are_left_out_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(
        "class Odd: ...\ndef bad(x: Odd): ...\ndef good(x: int): ...\ntools = [bad, good]\n"
    )
    with ToolHost(f"{tmp_path}/t.py:tools") as bench:
        assert [tool.name for tool in bench.tools] == ["good"]
        assert "the tool 'bad'" in bench.skipped[0]
        assert bench.notes == ()


def test_files_where_tools_start_are_named(tmp_path: Path) -> None:
    given = tmp_path / "given"
    (given / "a/b/c/d").mkdir(parents=True)
    (given / "loop").symlink_to("loop")
    (given / "odd\n").touch()
    with bench_in(tmp_path / "tools", shelter="none", workspace=str(given)) as bench:
        assert bench.files == ("a", "loop", "a/b", "a/b/c")


def test_of_many_files_some_are_named(tmp_path: Path) -> None:
    for number in range(99):
        (tmp_path / f"{number:02}").touch()
    assert names_in(str(tmp_path)) == [f"{number:02}" for number in range(50)]
    assert names_in(str(tmp_path / "missing")) == []
