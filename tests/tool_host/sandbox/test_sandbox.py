"""Nothing that a tool does in the sandbox changes anything outside, and the next call works."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.tool_host.host import ToolHost
from misstep.tool_host.sandbox.bubblewrap import SYSTEM, find_bubblewrap, opened, walls
from tests.tool_host.trying import bench_in, needs_bubblewrap, react, tree

pytestmark = needs_bubblewrap


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's home with a project and a key in it."""
    home = tmp_path_factory.mktemp("home")
    for path, text in {
        "project/docs/letter.txt": "dear",
        ".ssh/id": "private",
        ".netrc": "secret",
        ".bashrc": "export KEY=secret",
        "x.txt": "x",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    return home


@pytest.fixture(scope="module")
def bench(home: Path) -> Iterator[ToolHost]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("OPENAI_API_KEY", "sk-nobodys-business")
        with bench_in(home / "project", shelter="bubblewrap") as bench:
            yield bench


@pytest.fixture(autouse=True)
def unharmed(home: Path, bench: ToolHost) -> Iterator[None]:
    before = tree(home)
    yield
    assert tree(home) == before
    bench.reset()
    assert react(bench, "fine").text == "1 /tmp/misstep/work []"


def test_it_says_what_it_is(bench: ToolHost) -> None:
    assert bench.sandbox.words == "bubblewrap: no network, read-only system, 256 MB"


@pytest.mark.parametrize("process", [1, 2])
def test_nobody_looks_into_those_who_guard(bench: ToolHost, process: int) -> None:
    reaction = react(bench, "read", path=f"/proc/{process}/environ")
    assert reaction.raised is not None
    assert reaction.raised.kind == "PermissionError"


@pytest.mark.parametrize("tool", ["remove", "shut", "write"])
@pytest.mark.parametrize("place", ["project/docs", "project/docs/letter.txt", "project", "x.txt", "."])
def test_what_is_outside_cannot_be_changed(bench: ToolHost, home: Path, tool: str, place: str) -> None:
    """Beside the project there is scratch space: what is written there is not on the host."""
    reaction = react(bench, tool, path=str(home / place))
    assert reaction.ended == "raised" or place in ("x.txt", ".")
    bench.reset()
    assert "letter.txt" in react(bench, "read", path=str(home / "project/docs")).text


@pytest.mark.parametrize(
    "path", ["/etc/made", "/dev/made", "/proc/sys/vm/swappiness", "/usr/made", "/run/made"]
)
def test_the_system_cannot_be_changed(bench: ToolHost, path: str) -> None:
    assert react(bench, "write", path=path).ended == "raised"


def test_keys_are_not_seen(bench: ToolHost, home: Path) -> None:
    for name in (".ssh", ".netrc", ".bashrc"):
        raised = react(bench, "read", path=str(home / name)).raised
        assert raised is not None
        assert raised.kind == "FileNotFoundError"
    assert "nobodys" not in react(bench, "variables").text


def test_only_what_is_shown_is_there(tmp_path: Path) -> None:
    for name in ("project/inner", "project/hidden/inner", "private/inner"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("project")
    shown, hidden = [*SYSTEM, f"{tmp_path}/project", f"{tmp_path}/link"], [f"{tmp_path}/project/hidden"]
    command = walls(find_bubblewrap().flags, shown, hidden, 1 << 20, False, {})
    with opened([*command, "find", str(tmp_path)]) as (words, files):
        listed = subprocess.run(words, capture_output=True, text=True, check=True, pass_fds=files)
    expected = {str(tmp_path / name) for name in ("", "link", "project", "project/inner", "project/hidden")}
    assert set(listed.stdout.split()) == expected


@pytest.mark.parametrize("what", ["processes", "programs"])
def test_there_are_only_so_many_processes(bench: ToolHost, what: str) -> None:
    reaction = react(bench, "eat", patience=100.0, what=what)
    assert reaction.ended == "died"
    assert "processes, more than allowed" in reaction.detail


def test_memory_ends(bench: ToolHost) -> None:
    reaction = react(bench, "eat", patience=100.0, what="memory")
    assert reaction.ended == "exhausted"
    assert reaction.memory > 100_000_000


@pytest.mark.parametrize("what", ["disk", "shared memory", "devices", "threads"])
def test_what_there_is_can_be_used_up_without_harm(bench: ToolHost, what: str) -> None:
    reaction = react(bench, "eat", patience=100.0, what=what)
    assert reaction.ended in ("raised", "exhausted")
    assert reaction.raised is not None
    assert reaction.raised.kind in ("OSError", "RuntimeError", "MemoryError")


class Server:
    """Says hello to whoever comes, and remembers that somebody came."""

    def __init__(self, kind: int, address: object) -> None:
        self._socket = socket.socket(kind)
        self._socket.bind(address)  # type: ignore[arg-type]
        self._socket.listen()
        self.address = self._socket.getsockname()
        self.visits = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            self.visits += 1
            with visitor:
                visitor.sendall(b"hello")

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def test_there_is_no_network(bench: ToolHost) -> None:
    server = Server(socket.AF_INET, ("127.0.0.1", 0))
    reaction = react(bench, "connect", address=str(server.address[1]))
    server.close()
    assert reaction.raised is not None
    assert reaction.raised.kind == "ConnectionRefusedError"
    assert not server.visits


def test_there_is_a_network_if_it_is_allowed(tmp_path: Path) -> None:
    server = Server(socket.AF_INET, ("127.0.0.1", 0))
    with bench_in(tmp_path, shelter="bubblewrap", allow_network=True) as bench:
        reaction = react(bench, "connect", address=str(server.address[1]))
        assert "with the network" in bench.sandbox.words
    server.close()
    assert reaction.text == "hello"


@pytest.mark.full
@pytest.mark.parametrize("how", ["parent", "everybody", "first", "stop parent"])
def test_nobody_outside_is_ended(bench: ToolHost, how: str) -> None:
    ours = os.getpid()
    reaction = react(bench, "leave", how=how)
    assert reaction.ended in ("died", "raised", "returned")
    assert os.getpid() == ours


def test_what_outlives_a_call_ends_with_the_next_reset(bench: ToolHost) -> None:
    assert react(bench, "linger", folder="/tmp/misstep/work").text == "started"
    bench.reset()
    assert react(bench, "fine").text == "1 /tmp/misstep/work []"


def test_a_workspace_is_copied_and_put_back(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "inner").mkdir(parents=True)
    (workspace / "given.txt").write_text("given")
    before = tree(workspace)
    with bench_in(tmp_path / "tools", shelter="bubblewrap", workspace=str(workspace)) as bench:
        first = react(bench, "fine").text
        assert react(bench, "mess").text == "done"
        assert react(bench, "fine").text.startswith("2 / ")
        bench.reset()
        assert react(bench, "fine").text == first == "1 /tmp/misstep/work ['given.txt', 'inner']"
        assert react(bench, "read", path="given.txt").text == "given"
    assert tree(workspace) == before
