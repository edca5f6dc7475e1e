"""MCP clients that misstep starts and ends itself."""

import asyncio
import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")


from misstep.adapters.mcp.agent import LONGEST_ANSWER, McpAgent, Transport
from misstep.core.agent import Answer, Assignment
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.adapters.mcp.cases import CASE, CLIENTS, OLDER_VERSIONS, ROOT, TOOLS, World, recorder, transports

# Clients that misstep starts


def lazily(*given: Any, **options: Any) -> McpAgent:
    """A client that need not connect."""
    return McpAgent(*given, lazy=True, **options)


class Trial:
    """One attempt at a case, and what came of it."""

    def __init__(self, world: Any = None, max_steps: int = 100, seconds: float = 60) -> None:
        self.deadline = Deadline(seconds)
        self.toolbox = Recorder(world or MockWorld(CASE), self.deadline, max_steps)

    async def run(self, agent: McpAgent, request: str = "Do it all.") -> "Trial":
        assignment = Assignment(request, 0)
        self.answer, self.broken = await attempt(agent, assignment, self.toolbox, self.deadline)
        return self

    @property
    def called(self) -> list[str]:
        return [call.tool for call in self.toolbox.calls]


def play(agent: McpAgent, request: str = "Do it all.", trial: Trial | None = None) -> Trial:
    async def main() -> Trial:
        try:
            return await (trial or Trial()).run(agent, request)
        finally:
            await agent.close()

    return asyncio.run(main())


def printed(trial: Trial) -> Any:
    """What a client printed as JSON; it has to have ended well."""
    assert (trial.broken, trial.answer.ended) == ("", "answered")
    return json.loads(trial.answer.text)


def python(program: str, *words: str) -> str:
    """A command that runs a program of ours; the words go in as they are."""
    return " ".join([shlex.join([sys.executable, str(CLIENTS / program)]), *words])


def inline(script: str, *words: str) -> str:
    return " ".join([shlex.join([sys.executable, "-c", script]), *words])


SHOW = "import json, sys; print(json.dumps([sys.argv[1:], sys.stdin.read()]))"
NASTY = '\'; touch /x; "$HOME" `id` \\ \n\t{config} {url} {0} %s ünï \U0001f600 -- -x'


@transports
def test_a_request_stays_one_word_whatever_is_in_it(transport: Transport) -> None:
    command = inline(SHOW, "{config}", "{request}", "'--ask=<{request}>'", "'{\"json\": {}}'", "{tools}")
    (config, *words), told = printed(play(lazily(command, "show", transport), NASTY))
    assert words == [NASTY, f"--ask=<{NASTY}>", '{"json": {}}', ",".join(TOOLS)]
    assert told == ""
    assert Path(config).name == "mcp.json"


def test_a_request_without_a_place_is_told_on_standard_input() -> None:
    (url,), told = printed(play(lazily(inline(SHOW, "{url}"), "show"), NASTY))
    assert told == NASTY
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/mcp", url)


LOOK = """
import json, os, stat, sys
path = sys.argv[1]
modes = [stat.S_IMODE(os.stat(each).st_mode) for each in (os.path.dirname(path), path)]
print(json.dumps([path, modes, json.load(open(path)), os.environ["FROM_HERE"], os.environ["ADDED"]]))
"""


@transports
def test_the_configuration_is_private_and_goes_with_the_case(transport: Transport, monkeypatch: Any) -> None:
    monkeypatch.setenv("FROM_HERE", "passed on")
    agent = lazily(inline(LOOK, "{config}"), "look", transport, {"ADDED": "for it"})
    path, modes, config, passed_on, added = printed(play(agent))
    assert (passed_on, added) == ("passed on", "for it")
    assert modes == [0o700, 0o600]
    assert not Path(path).parent.exists()
    assert list(config) == ["mcpServers"]
    entry = config["mcpServers"]["misstep"]
    if transport == "http":
        assert entry == {"type": "http", "url": entry["url"]}
    else:
        assert entry == {"command": sys.executable, "args": entry["args"], "env": {}}
        assert not any("127.0.0.1" in word for word in entry["args"])


def raw(times: int, version: str = "2025-06-18") -> str:
    return python("raw.py", "{config}", version, str(times))


@transports
@pytest.mark.parametrize("version", OLDER_VERSIONS)
def test_a_client_without_an_sdk_is_heard(version: str, transport: Transport) -> None:
    trial = play(McpAgent(raw(1, version), "raw", transport))
    said = printed(trial)
    assert (said["version"], said["tools"], trial.called) == (version, TOOLS, TOOLS)


def test_no_proxy_stands_between_a_client_and_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    assert play(lazily(raw(1), "raw")).called == TOOLS
    script = "import json, os; print(json.dumps([os.environ['no_proxy'], os.environ['NO_PROXY']]))"
    assert printed(play(lazily(inline(script, "{config}"), "shows"))) == ["intranet.example,127.0.0.1"] * 2


def older_python() -> str:
    given = os.environ.get("TEST_MCP1_PYTHON") or str(ROOT / ".venv-mcp1" / "bin" / "python")
    if not Path(given).exists():
        pytest.skip("a client on mcp 1.x needs TEST_MCP1_PYTHON or .venv-mcp1")
    return given


@pytest.mark.full
@transports
def test_a_client_on_the_sdk_of_the_first_generation_is_heard(transport: Transport) -> None:
    command = f"{shlex.join([older_python(), str(CLIENTS / 'sdk1.py')])} {{config}}"
    trial = play(McpAgent(command, "sdk1", transport))
    said = printed(trial)
    assert said["version"] in OLDER_VERSIONS
    assert (said["tools"], trial.called) == (TOOLS, TOOLS)
    assert all("successfully" in each for each in said["said"])


@transports
def test_two_cases_at_once_have_nothing_in_common(transport: Transport) -> None:
    agent = McpAgent(raw(2), "raw", transport)

    async def main() -> None:
        trials = [Trial(World("knit", "sew")), Trial(World("mend", "darn", "iron"))]
        await asyncio.gather(*(trial.run(agent) for trial in trials))
        await agent.close()
        assert [trial.broken for trial in trials] == ["", ""]
        assert [trial.called for trial in trials] == [["knit", "sew"] * 2, ["mend", "darn", "iron"] * 2]

    asyncio.run(main())


@transports
def test_past_its_last_turn_a_client_is_ended(transport: Transport) -> None:
    trial = play(McpAgent(raw(100), "raw", transport), trial=Trial(max_steps=6))
    assert (trial.answer.ended, trial.broken, len(trial.called)) == ("iterations", "", 6)


@pytest.mark.full
def test_a_toolbox_that_just_says_so_ends_a_client_as_well() -> None:
    async def main() -> Answer:
        agent = McpAgent(raw(100), "raw")
        try:
            return await agent.run(Assignment("Do it all.", 0), recorder(max_steps=6))
        finally:
            await agent.close()

    assert asyncio.run(main()) == Answer(ended="iterations")


@transports
def test_an_agent_goes_on_after_it_was_closed(transport: Transport) -> None:
    agent = McpAgent(raw(1), "raw", transport)
    assert [play(agent).called for _ in range(2)] == [TOOLS, TOOLS]


# What clients print, and how they end


def test_a_client_that_fails_is_no_failure_of_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-indeed")
    complain = "import os, sys; print('x' * 9000 + os.environ['SOME_API_KEY'], 'is bad', file=sys.stderr)"
    trial = play(McpAgent(inline(f"{complain}; sys.exit(7)", "{config}"), "fails"))
    assert trial.answer.ended == "error"
    assert trial.broken.startswith("ClientFailed: the client ended with code 7\n")
    assert trial.broken.endswith("x[secret] is bad")
    assert len(trial.broken) < 2100


def test_a_client_that_is_killed_says_by_what() -> None:
    trial = play(McpAgent(inline("import os; os.kill(os.getpid(), 9)", "{config}"), "dies"))
    assert (trial.answer.ended, trial.broken) == ("error", "ClientFailed: the client was killed by signal 9")


TALK = """
import sys
for _ in range(300):
    sys.stdout.write("blah " * 10_000)
    sys.stderr.write("oh " * 10_000)
sys.stdout.flush()
sys.stdout.buffer.write(b"THE END \\xff")
"""


def test_of_a_talkative_client_the_end_is_kept() -> None:
    trial = play(lazily(inline(TALK, "{config}"), "talks"))
    assert trial.broken == ""
    assert len(trial.answer.text) == LONGEST_ANSWER
    assert trial.answer.text.endswith("blah THE END \N{REPLACEMENT CHARACTER}")


def test_keys_in_an_answer_are_masked() -> None:
    script = "import os; print(os.environ['MY_TOKEN'])"
    agent = lazily(inline(script, "{config}"), "tells", environment={"MY_TOKEN": "abcdefghij"})
    assert play(agent).answer.text == "[secret]"


# Nothing is left


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def none_lives(pids: list[int]) -> bool:
    """Whether all are dead, which the system needs a moment for once they are killed."""
    waiting_since = time.monotonic()
    while any(map(lives, pids)) and time.monotonic() - waiting_since < 10:
        time.sleep(0.01)
    return not any(map(lives, pids))


def folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("misstep-*"))


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


async def written(path: Path) -> list[int]:
    while not path.exists():
        await asyncio.sleep(0.01)
    return [int(pid) for pid in path.read_text().split()]


@transports
def test_a_client_that_won_t_go_goes_with_all_its_children(transport: Transport, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    agent = McpAgent(python("stubborn.py", "{config}", str(pids), "stay"), "stubborn", transport)

    async def main() -> list[int]:
        task = asyncio.create_task(Trial().run(agent))
        found = await written(pids)
        assert all(map(lives, found))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await agent.close()
        return found

    found = asyncio.run(main())
    assert len(found) == 4
    assert none_lives(found)
    assert folders() == set()


def test_a_client_that_runs_out_of_time_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    agent = McpAgent(python("stubborn.py", "{config}", str(pids), "stay"), "stubborn")
    trial = Trial()

    async def main() -> None:
        running = asyncio.create_task(trial.run(agent))
        await written(pids)
        trial.deadline.strike()
        await running
        await agent.close()

    asyncio.run(main())
    assert (trial.broken, trial.answer.ended) == ("", "timeout")
    assert none_lives([int(pid) for pid in pids.read_text().split()])


def test_what_a_client_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    trial = play(lazily(python("stubborn.py", "{config}", str(pids), "leave"), "leaves"))
    assert (trial.broken, trial.answer.text) == ("", "leaving")
    assert none_lives([int(pid) for pid in pids.read_text().split()])


@transports
def test_stopped_at_any_moment_nothing_is_left(
    transport: Transport, tmp_path: Path, begotten: Callable[[], set[int]]
) -> None:
    """The moments are steps of the event loop, up to when the client runs."""
    pids = tmp_path / "pids"
    agent = McpAgent(python("stubborn.py", "{config}", str(pids), "stay"), "stubborn", transport)

    async def main() -> None:
        for steps in range(25):
            task = asyncio.create_task(Trial().run(agent))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await agent.close()

    asyncio.run(main())
    assert begotten() == set()
    assert folders() == set()
    assert not pids.exists() or none_lives([int(pid) for pid in pids.read_text().split()])


# What is wrong is said before the first case


def wrong(command: str, transport: Transport = "http") -> str:
    with pytest.raises(UsageError) as caught:
        asyncio.run(McpAgent(command, "wrong", transport).prepare())
    return str(caught.value)


def test_a_command_that_can_t_work_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "client").write_text("#!/bin/sh\n")
    assert "MCP client 'no-such-client' not found" in wrong("no-such-client {config}")
    assert "can't be executed\n  chmod +x" in wrong(f"{tmp_path}/client {{config}}")
    assert "the command of the MCP client is empty" in wrong(" ")
    assert "can't parse the command of the MCP client: No closing quotation" in wrong("client 'x")
    assert "its command does not contain {config}" in wrong(f"{sys.executable} {{request}}")
    assert "{url} is not available when the client starts the server itself" in wrong(
        f"{sys.executable} {{url}}", "stdio"
    )


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[mcp\]"):
        asyncio.run(McpAgent(f"{sys.executable} {{config}}", "python").prepare())


def test_a_client_that_never_connects_is_not_set_up() -> None:
    trial = play(McpAgent(inline("print('done')", "{config}"), "deaf"))
    assert (trial.answer.ended, "never listed the tools" in trial.broken) == ("error", True)


def test_placeholders_that_nobody_knows_are_mistakes() -> None:
    with pytest.raises(UsageError, match=r"unknown placeholder \{promt\}"):
        asyncio.run(McpAgent(inline("", "{config}", "{promt}"), "x").prepare())
