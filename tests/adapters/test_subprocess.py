"""Agents in processes of their own: whatever happens there, the run goes on and nothing stays behind."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import venv
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

import misstep
from misstep.adapters.subprocess.agent import AgentProcess, SubprocessAgent, WorkerError
from misstep.adapters.subprocess.protocol import LONGEST
from misstep.core.agent import Answer, Assignment, Closing, Preparing, Tool
from misstep.core.outcome import Usage
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder
from misstep.errors import MisstepError, UsageError
from tests.processes import children

TELL = Tool("tell", "Tells the test something.", {"type": "object"})


class World:
    """One tool, by which agents tell the test what they are up to."""

    tools: Sequence[Tool] = (TELL,)

    def __init__(self, react: Callable[[Any], Any] = lambda _: "ok") -> None:
        self.told = list[Any]()
        self._react = react

    def answer(self, name: str, arguments: Any) -> str:
        self.told.append(arguments)
        return str(self._react(arguments))

    def renewed(self) -> "World":
        return World(self._react)


class Trial:
    def __init__(self, world: World | None = None, request: str = "go") -> None:
        self.world = world or World()
        self.deadline = Deadline(60)
        self.recorder = Recorder(self.world, self.deadline, max_steps=10, keep_messages=True)
        self._assignment = Assignment(request, 7)

    async def run(self, agent: SubprocessAgent) -> "Trial":
        self.answer, self.broken = await attempt(agent, self._assignment, self.recorder, self.deadline)
        return self


def written(folder: Path, text: str) -> str:
    """The spec of what is called `agent` in a user's file with this text."""
    (folder / "mine.py").write_text(textwrap.dedent(text))
    return f"{folder / 'mine.py'}:agent"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], str]:
    return lambda text: written(tmp_path, text)


def play(
    spec: str, *trials: Trial, python: str = sys.executable, at_once: bool = False, **options: Any
) -> Trial:
    """The trials with one agent, one after the other unless told otherwise; the first of them."""
    before = children()

    async def main() -> None:
        agent = SubprocessAgent(spec, python, "mine", **options)
        try:
            if at_once:
                await asyncio.gather(*(trial.run(agent) for trial in trials))
            for trial in () if at_once else trials:
                await trial.run(agent)
        finally:
            await agent.close()
            assert children() <= before

    asyncio.run(main())
    return trials[0]


def prepare(spec: str, python: str = sys.executable, **options: Any) -> None:
    """Prepare an agent, which leaves nothing behind when it can't be."""
    before = children()

    async def main() -> None:
        agent = SubprocessAgent(spec, python, "mine", **options)
        try:
            await agent.prepare()
        except MisstepError:
            assert children() <= before
            raise
        finally:
            await agent.close()

    asyncio.run(main())


def is_gone(pid: int) -> bool:
    """Whether a process ends within a while; what is dead but not buried is gone."""
    for _ in range(1000):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_it_is_an_agent_to_prepare_and_to_close() -> None:
    agent = SubprocessAgent("mine.py:agent", sys.executable, "mine")
    assert isinstance(agent, Preparing)
    assert isinstance(agent, Closing)
    assert agent.name == "mine"


def test_all_that_a_toolbox_offers_is_carried_across(write: Callable[[str], str]) -> None:
    spec = write("""
        import threading
        from misstep import Answer
        from misstep.core.outcome import Usage

        class Whole:
            name = "whole"
            async def run(self, assignment, toolbox):
                turn = toolbox.begin_turn()
                toolbox.spend(Usage(5, 3, 2))
                toolbox.ask("nothing", "{", turn)
                toolbox.misread()
                toolbox.note({"seed": assignment.seed, "steps": toolbox.max_steps})
                toolbox.note(object())
                toolbox.wait(0.5)
                thread = threading.Thread(target=toolbox.call, args=("tell", {"a": [1]}))
                thread.start()
                thread.join()
                toolbox.begin_turn()
                result = toolbox.call("tell", {"tool": toolbox.tools[0].name}, turn)
                return Answer(f"{assignment.request}: {result} \\ud800")

        agent = Whole()
    """)
    trial = play(spec, Trial(World(lambda _: "done")))
    assert (trial.broken, trial.answer) == ("", Answer("go: done ?"))
    calls = [(call.tool, call.arguments, call.turn, call.ran) for call in trial.recorder.calls]
    assert calls == [("nothing", "{", 1, -1), ("tell", {"a": [1]}, 1, 0), ("tell", {"tool": "tell"}, 1, 0)]
    assert trial.recorder.usage == Usage(5, 3, 2)
    assert trial.recorder.misread_turns == 1
    assert trial.recorder.messages == [{"seed": 7, "steps": 10}, "object that is not JSON"]


def test_arguments_that_are_no_json_arrive_as_such(write: Callable[[str], str]) -> None:
    spec = write("""
        def agent(request, tools):
            tools[0](value=object())
            tools[0](text="\\ud800")
    """)
    assert play(spec, Trial()).world.told == ["dict that is not JSON"] * 2


def test_the_end_of_the_turns_is_carried_across(write: Callable[[str], str]) -> None:
    spec = write("""
        def agent(request, tools):
            while True:
                tools[0]()
    """)
    trial = play(spec, Trial())
    assert (trial.broken, trial.answer.ended, len(trial.world.told)) == ("", "iterations", 10)


def test_processes_are_kept_for_later_cases(write: Callable[[str], str]) -> None:
    spec = write("""
        import os
        def agent(request, tools):
            tools[0](pid=os.getpid())
            if request == "fail":
                raise ValueError("on purpose")
    """)
    trials = [Trial(), Trial(request="fail"), Trial()]
    play(spec, *trials)
    assert "ValueError: on purpose" in trials[1].broken
    assert len({trial.world.told[0]["pid"] for trial in trials}) == 1


def test_cases_at_once_have_processes_of_their_own(write: Callable[[str], str]) -> None:
    spec = write("""
        import os
        def agent(request, tools):
            return tools[0](pid=os.getpid())
    """)
    together = threading.Barrier(10)
    trials = [Trial(World(lambda _: together.wait(60) is not None)) for _ in range(10)]
    play(spec, *trials, at_once=True)
    assert [trial.answer.text for trial in trials] == ["True"] * 10
    assert len({trial.world.told[0]["pid"] for trial in trials}) == 10


def test_what_an_earlier_case_left_behind_is_told_that_it_is_over(write: Callable[[str], str]) -> None:
    spec = write("""
        from misstep.core.agent import Answer, StepsExhausted

        class Forgetful:
            name = "forgetful"
            kept = []
            async def run(self, assignment, toolbox):
                for old in self.kept:
                    old.misread()
                    try:
                        old.call("tell", {"case": "old"})
                    except StepsExhausted:
                        toolbox.call("tell", {"case": "new"})
                self.kept.append(toolbox)
                return Answer()

        agent = Forgetful()
    """)
    trials = [Trial(), Trial()]
    play(spec, *trials)
    assert [trial.world.told for trial in trials] == [[], [{"case": "new"}]]
    assert trials[1].recorder.misread_turns == 0


def test_printing_megabytes_blocks_nobody(write: Callable[[str], str]) -> None:
    spec = write("""
        import sys
        def agent(request, tools):
            for stream in (sys.stdout, sys.stderr):
                for _ in range(200):
                    print("x" * 20_000, file=stream, flush=True)
            return "printed"
    """)
    assert play(spec, Trial()).answer.text == "printed"


def test_a_process_that_is_killed_from_outside_is_an_error_and_the_run_goes_on(
    write: Callable[[str], str],
) -> None:
    spec = write("""
        import os
        def agent(request, tools):
            tools[0](pid=os.getpid())
            return "survived"
    """)
    killed = Trial(World(lambda arguments: os.kill(arguments["pid"], signal.SIGKILL)))
    after = Trial()
    play(spec, killed, after)
    assert killed.answer.ended == "error"
    assert killed.broken == "WorkerError: the agent's process ended unexpectedly: it was ended by SIGKILL"
    assert after.answer.text == "survived"


def test_a_process_whose_children_were_forked_is_missed_when_it_dies(write: Callable[[str], str]) -> None:
    spec = write("""
        import os, time
        def agent(request, tools):
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(5)
    """)
    assert "it ended with status 5" in play(spec, Trial()).broken


def test_a_process_that_dies_between_cases_is_replaced(write: Callable[[str], str]) -> None:
    spec = write("""
        import os
        def agent(request, tools):
            tools[0](pid=os.getpid())
    """)

    async def main() -> list[int]:
        agent = SubprocessAgent(spec, sys.executable, "mine")
        first = (await Trial().run(agent)).world.told[0]["pid"]
        os.kill(first, signal.SIGKILL)
        assert is_gone(first)
        second = await Trial().run(agent)
        await agent.close()
        assert second.broken == ""
        return [first, second.world.told[0]["pid"]]

    first, second = asyncio.run(main())
    assert first != second


def test_the_last_words_of_a_process_are_shown_without_keys(
    write: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    spec = write("""
        import os, sys
        def agent(request, tools):
            print("\\x1b[31mcannot log in with", os.environ["SOME_API_KEY"], file=sys.stderr, flush=True)
            os._exit(3)
    """)
    said = play(spec, Trial()).broken
    assert said.splitlines() == [
        "WorkerError: the agent's process ended unexpectedly: it ended with status 3",
        "  cannot log in with [secret]",
    ]


def test_a_crash_of_the_interpreter_says_where(write: Callable[[str], str]) -> None:
    spec = write("""
        import ctypes
        def agent(request, tools):
            ctypes.string_at(0)
    """)
    said = play(spec, Trial()).broken
    assert "it was ended by SIGSEGV" in said
    assert "mine.py" in said


FAMILY = """
    import os, subprocess, threading
    def agent(request, tools):
        sleep = ["sleep", "1000"]
        near = subprocess.Popen(sleep)
        far = subprocess.Popen(sleep, start_new_session=True)
        orphan = int(subprocess.check_output(["setsid", "sh", "-c", "sleep 1000 >/dev/null & echo $!"]))
        tools[0](pids=[os.getpid(), near.pid, far.pid, orphan])
        threading.Event().wait()
"""


def test_when_time_is_up_the_whole_family_goes(
    write: Callable[[str], str], begotten: Callable[[], set[int]]
) -> None:
    trial = Trial(World(lambda _: trial.deadline.strike()))
    spec = write(FAMILY)

    async def main() -> None:
        agent = SubprocessAgent(spec, sys.executable, "mine")
        await trial.run(agent)
        assert begotten() == set()  # at once, not only when the agent is closed
        await agent.close()

    asyncio.run(main())
    assert (trial.broken, trial.answer.ended) == ("", "timeout")
    pids = trial.world.told[0]["pids"]
    assert len(pids) == 4
    assert all(is_gone(pid) for pid in pids)


def test_nothing_survives_when_we_are_killed(write: Callable[[str], str], tmp_path: Path) -> None:
    spec = write(FAMILY)
    script = f"""
import asyncio, sys
from tests.adapters.test_subprocess import SubprocessAgent, Trial, World
def tell(arguments):
    print(*arguments["pids"], flush=True)
asyncio.run(Trial(World(tell)).run(SubprocessAgent({spec!r}, sys.executable, "mine")))
"""
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=root, stdout=subprocess.PIPE, text=True
    ) as ours:
        assert ours.stdout is not None
        pids = [int(pid) for pid in ours.stdout.readline().split()]
        assert len(pids) == 4
        ours.kill()
    assert all(is_gone(pid) for pid in pids)


def test_cancelling_while_a_process_starts_leaves_nothing(
    write: Callable[[str], str], tmp_path: Path, begotten: Callable[[], set[int]]
) -> None:
    spec = write(f"""
        import pathlib, threading
        pathlib.Path({str(tmp_path / "begun")!r}).touch()
        threading.Event().wait()
    """)

    async def main() -> None:
        agent = SubprocessAgent(spec, sys.executable, "mine")
        task = asyncio.create_task(Trial().run(agent))
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert begotten() == set()
        await agent.close()

    asyncio.run(main())


class Patient(Recorder):
    """A toolbox that remembers for how long it was asked to wait."""

    waited = 0.0

    def wait(self, seconds: float) -> None:
        self.waited += seconds
        super().wait(seconds)


def test_the_time_a_process_takes_to_start_is_not_the_agents(write: Callable[[str], str]) -> None:
    spec = write("""
        def agent(request, tools):
            return "here"
    """)

    async def main() -> list[float]:
        agent = SubprocessAgent(spec, sys.executable, "mine")
        waited = []
        for _ in range(2):
            deadline = Deadline(60)
            toolbox = Patient(World(), deadline, 10)
            began = time.monotonic()
            async with deadline:
                assert (await agent.run(Assignment("go", 0), toolbox)).text == "here"
            assert toolbox.waited < time.monotonic() - began + 0.2
            waited.append(toolbox.waited)
        await agent.close()
        return waited

    first, second = asyncio.run(main())
    assert first > 0
    assert second == 0


def test_a_start_that_takes_for_ever_is_an_error(write: Callable[[str], str]) -> None:
    spec = write("""
        import threading
        threading.Event().wait()
    """)
    with pytest.raises(WorkerError, match=r"mine.py:agent' did not load: it was idle for 0.5 s"):
        prepare(spec, start_limit=0.5)


@pytest.mark.full
@pytest.mark.parametrize("work", ["pass", "print('.', file=sys.stderr, flush=True); time.sleep(0.1)"])
def test_a_start_that_makes_progress_is_waited_for(write: Callable[[str], str], work: str) -> None:
    spec = write(f"""
        import sys, time
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            {work}
        def agent(request, tools):
            return "here"
    """)
    prepare(spec, start_limit=0.5)


@pytest.mark.full
def test_a_start_that_computes_without_end_is_an_error(write: Callable[[str], str]) -> None:
    spec = write("""
        while True:
            pass
    """)
    with pytest.raises(WorkerError, match=r"mine.py:agent' did not load within 3 s"):
        prepare(spec, start_limit=0.3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def agent(:\n  pass", "mine.py  raised SyntaxError: invalid syntax"),
        (
            "x = 1\nimport nowhere_at_all",
            "mine.py:2  raised ModuleNotFoundError: No module named 'nowhere_at_all'",
        ),
        ("def agant(request, tools): ...", "mine.py  there is no 'agent' here\n  Did you mean 'agant'?"),
        ("def agent(tools):\n  return 1 / 0", "mine.py:2  raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_without_an_agent_is_reported_once_and_for_all(
    text: str, expected: str, write: Callable[[str], str], tmp_path: Path
) -> None:
    spec = write(text)
    with pytest.raises(UsageError) as caught:
        prepare(spec)
    assert str(caught.value).replace(f"{tmp_path}/", "").startswith(expected)


def test_an_error_of_the_agent_shows_the_users_own_line(write: Callable[[str], str], tmp_path: Path) -> None:
    spec = write("""
        import json
        def agent(request, tools):
            json.loads("{")  # the library raises, this line is to blame
    """)
    said = play(spec, Trial()).broken.replace(f"{tmp_path}/", "")
    assert said.startswith("AgentError: JSONDecodeError: Expecting property name")
    assert 'mine.py:4 in agent: json.loads("{")' in said


def test_leaving_is_an_error_too(write: Callable[[str], str]) -> None:
    spec = write("""
        def agent(request, tools):
            raise SystemExit(4)
    """)
    assert "SystemExit: 4" in play(spec, Trial()).broken


def test_an_interpreter_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"'/no/such/python' can't be run: No such file or directory"):
        prepare("mine.py:agent", "/no/such/python")


def test_a_program_that_is_no_interpreter() -> None:
    with pytest.raises(WorkerError, match=r"'/bin/false' did not start: it ended with status 1"):
        prepare("mine.py:agent", "/bin/false")


def test_an_interpreter_that_is_too_old(tmp_path: Path) -> None:
    old = tmp_path / "python3.8"
    pretend = "import sys; sys.version_info = (3, 8, 18); del sys.argv[0]; exec(compile(open(sys.argv[0]).read(), sys.argv[0], 'exec'), {'__name__': '__main__', '__file__': sys.argv[0], '__builtins__': __builtins__})"
    old.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{pretend}" "$@"\n')
    old.chmod(0o755)
    with pytest.raises(UsageError) as caught:
        prepare("mine.py:agent", str(old))
    assert str(caught.value).splitlines() == [
        f"'{old}' is Python 3.8.18",
        "  agents need Python 3.11 or newer",
    ]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An environment with nothing in it."""
    venv.create(tmp_path / "bare", symlinks=True)
    return tmp_path / "bare"


def test_an_interpreter_without_msgspec(bare: Path) -> None:
    python = bare / "bin" / "python"
    with pytest.raises(UsageError) as caught:
        prepare("mine.py:agent", str(python))
    assert str(caught.value).splitlines() == [
        f"'{python}' has no msgspec",
        f"  {python} -m pip install msgspec",
    ]


def test_what_a_process_said_before_it_ended_is_read(bare: Path) -> None:
    process = AgentProcess(str(bare / "bin" / "python"), {})
    try:
        while process.alive:
            time.sleep(0.01)
        with pytest.raises(UsageError, match="has no msgspec"):
            process.load("mine.py:agent", "mine", 60.0)
    finally:
        process.kill()


def test_an_interpreter_needs_nothing_but_msgspec(bare: Path, write: Callable[[str], str]) -> None:
    (packages,) = bare.glob("lib/python*/site-packages")
    shutil.copytree(Path(msgspec.__file__).parent, packages / "msgspec")
    spec = write("""
        import sys
        from importlib.util import find_spec
        def agent(request, tools):
            import misstep
            return f"{find_spec('click')} {find_spec('serving')} {misstep.__file__} {sys.prefix}"
    """)

    trial = play(spec, Trial(), python=str(bare / "bin" / "python"))
    assert trial.broken == ""
    assert trial.answer.text == f"None None {misstep.__file__} {bare}"


@pytest.mark.parametrize(
    "rubbish",
    [
        'b"rubbish\\n"',
        'b"[" * 100_000 + b"\\n"',
        'b"\\xff\\n"',
        """b'{"type":"loaded"}\\n'""",
        """b'{"type":"spend","case":1,"input":-1,"output":0,"cached":0}\\n'""",
        """b'{"type":"wait","case":1,"seconds":1e300}\\n'""",
        """b'{"type":"finished","case":1,"answer":{"text":"x","ended":"won"}}\\n'""",
        """b'{"type":"misread","case":1,"more":2}\\n'""",
        f'b"x" * {LONGEST + 1}',
    ],
)
def test_a_process_that_talks_rubbish_is_ended(rubbish: str, write: Callable[[str], str]) -> None:
    spec = write(f"""
        import gc, threading
        from misstep.adapters.subprocess.protocol import ProcessLink
        def agent(request, tools):
            (link,) = [each for each in gc.get_objects() if isinstance(each, ProcessLink)]
            link._line.sendall({rubbish})
            threading.Event().wait()
    """)
    trial = play(spec, Trial())
    assert trial.answer.ended == "error"
    assert trial.broken.startswith(
        "WorkerError: the agent's process ended unexpectedly: it sent an invalid message"
    )


def test_the_environment_is_passed_on_and_added_to(
    write: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_PASSED_ON", "yes")
    spec = write("""
        import os
        def agent(request, tools):
            return os.environ["TEST_PASSED_ON"] + os.environ["TEST_ADDED"]
    """)
    assert play(spec, Trial(), environment={"TEST_ADDED": "!"}).answer.text == "yes!"
