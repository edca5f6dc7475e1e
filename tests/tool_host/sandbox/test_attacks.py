"""What tools try in order to get out of the sandbox fails there, and succeeds without one."""

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from tests.tool_host.trying import LIMITS, needs_bubblewrap, react

pytestmark = needs_bubblewrap

SECRETS = (
    ".cache/huggingface/stored_tokens",
    ".kaggle/kaggle.json",
    ".m2/settings.xml",
    ".databrickscfg",
    ".aws/credentials",
    ".ssh/id_ed25519",
    ".netrc",
    ".bash_history",
    "notes.txt",  # which nobody has in a list
    "code/.env",
    "code/project/.env",
    "code/project/.env.production",
    "code/project/deploy/server.pem",
    "code/project/.git/config",
    "code/project/.npmrc",
    "code/other/secret.txt",
    "colleague/letter.txt",
)
CALLS = (
    *("ptrace", "process_vm_readv", "keyctl", "add_key", "request_key", "bpf", "perf_event_open", "mount"),
    *("umount2", "pivot_root", "unshare", "setns", "userfaultfd", "kexec_load", "init_module"),
    *("io_uring_setup", "clone3", "open_by_handle_at", "pidfd_getfd"),
)
HARMLESS = ("ptrace", "process_vm_readv", "keyctl")  # which anybody may do outside


class Listener:
    """A host process that says hello to whoever reaches its socket."""

    def __init__(self, address: str, kind: int = socket.SOCK_STREAM) -> None:
        self._socket = socket.socket(socket.AF_UNIX, kind)
        self._socket.bind(address)
        self.visits = 0
        self._kind = kind
        if kind == socket.SOCK_STREAM:
            self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                if self._kind != socket.SOCK_STREAM:
                    data = self._socket.recv(100)
                    if data == b"stop":
                        return
                    self.visits += 1
                    continue
                visitor, _ = self._socket.accept()
            except OSError:
                return
            self.visits += 1
            with visitor:
                visitor.sendall(b"hello")

    def close(self) -> None:
        if self._kind == socket.SOCK_STREAM:
            self._socket.shutdown(socket.SHUT_RDWR)
        else:
            with socket.socket(socket.AF_UNIX, self._kind) as line:
                line.sendto(b"stop", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A home with secrets, and a project with the attacking tools; its path is short enough for sockets."""
    home = Path(tempfile.mkdtemp(prefix="ms-"))
    for name in SECRETS:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"secret of {name}")
    project = home / "code" / "project"
    shutil.copy(Path(__file__).with_name("attacks.py"), project / "attacks.py")
    (project / "data.json").write_text("data")
    (project / ".env.example").write_text("NAME=")
    os.mkfifo(project / "inner.fifo")
    os.mkfifo(home / "outer.fifo")
    yield home
    shutil.rmtree(home)


@pytest.fixture(scope="module")
def benches(home: Path) -> Iterator[dict[str, ToolHost]]:
    """The same tools inside a sandbox and outside of any."""
    spec = f"{home}/code/project/attacks.py:tools"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("DEPLOY_PASSPHRASE", "open sesame")
        with (
            ToolHost(spec, CallConditions(shelter="auto", limits=LIMITS)) as inside,
            ToolHost(spec, CallConditions(shelter="none", limits=LIMITS)) as outside,
        ):
            yield {"inside": inside, "outside": outside}


@pytest.fixture
def inside(benches: dict[str, ToolHost]) -> ToolHost:
    return benches["inside"]


@pytest.fixture
def outside(benches: dict[str, ToolHost]) -> ToolHost:
    return benches["outside"]


def kind_of(bench: ToolHost, tool: str, **arguments: object) -> str:
    """The exception that kept a tool from something."""
    reaction = react(bench, tool, patience=10.0, **arguments)
    assert "reached" not in reaction.text
    assert reaction.ended == "raised", reaction
    assert reaction.raised is not None
    return reaction.raised.kind


def reaches(bench: ToolHost, tool: str, **arguments: object) -> bool:
    return react(bench, tool, patience=10.0, **arguments).text.startswith("reached")


def arrived(pipe: int) -> bytes:
    try:
        return os.read(pipe, 100)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_cannot_be_read(inside: ToolHost, outside: ToolHost, home: Path, name: str) -> None:
    assert kind_of(inside, "read", path=f"{home}/{name}") in (
        "FileNotFoundError",
        "PermissionError",
        "NotADirectoryError",
    )
    assert reaches(outside, "read", path=f"{home}/{name}")


def test_of_the_home_there_is_only_the_project(inside: ToolHost, outside: ToolHost, home: Path) -> None:
    assert react(inside, "look", path=str(home)).text == "reached ['code']"
    assert react(inside, "look", path=f"{home}/code").text == "reached ['project']"
    assert ".ssh" in react(outside, "look", path=str(home)).text
    assert react(inside, "look", path=os.environ["HOME"]).text != str(sorted(os.listdir(os.environ["HOME"])))
    assert react(inside, "look", path="/tmp/misstep/home").text == "reached []"


def test_what_the_tool_needs_can_be_read(inside: ToolHost, home: Path) -> None:
    for name, text in {"data.json": "data", ".env.example": "NAME="}.items():
        assert react(inside, "read", path=f"{home}/code/project/{name}").text == f"reached {text}"


def test_a_file_that_is_made_later_elsewhere_is_not_seen(
    inside: ToolHost, outside: ToolHost, home: Path
) -> None:
    (home / "later.txt").write_text("later")
    assert kind_of(inside, "read", path=f"{home}/later.txt") == "FileNotFoundError"
    assert reaches(outside, "read", path=f"{home}/later.txt")


@pytest.mark.parametrize(
    "path",
    ["/etc/shadow", "/etc/machine-id", "/etc/ssh", "/var/log", "/var/lib", "/run/lock", "/root/.bashrc"],
)
def test_of_the_system_only_programs_and_libraries_are_seen(inside: ToolHost, path: str) -> None:
    assert kind_of(inside, "look" if os.path.isdir(path) else "read", path=path) == "FileNotFoundError"


def test_the_files_of_the_tool_cannot_be_changed(inside: ToolHost, outside: ToolHost, home: Path) -> None:
    for name in ("new.txt", "data.json"):
        assert kind_of(inside, "write", path=f"{home}/code/project/{name}") == "OSError"
    assert not (home / "code/project/new.txt").exists()
    assert reaches(outside, "write", path=f"{home}/code/project/new.txt")
    (home / "code/project/new.txt").unlink()


@pytest.mark.parametrize("place", ["host.sock", "code/project/host.sock"])
@pytest.mark.parametrize("way", ["absolute", "relative", "bound by a relative path"])
def test_host_sockets_are_not_reached(
    inside: ToolHost, outside: ToolHost, home: Path, place: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made after the start, and may be in the tool's own folder."""
    path = home / place
    monkeypatch.chdir(path.parent)
    host = Listener("host.sock" if way == "bound by a relative path" else str(path))
    address = f"{path.parent}//host.sock" if way == "relative" else str(path)
    assert kind_of(inside, "connect", address=address) in ("PermissionError", "FileNotFoundError")
    assert not host.visits
    assert reaches(outside, "connect", address=address)
    assert host.visits == 1
    host.close()
    path.unlink()


def test_abstract_sockets_are_not_reached_even_with_the_network(outside: ToolHost, home: Path) -> None:
    name = f"misstep-{os.getpid()}"
    host = Listener(f"\0{name}")
    spec = f"{home}/code/project/attacks.py:tools"
    with ToolHost(spec, CallConditions(limits=LIMITS, allow_network=True)) as inside:
        assert kind_of(inside, "connect", address=f"@{name}") == "PermissionError"
    assert not host.visits
    assert reaches(outside, "connect", address=f"@{name}")
    host.close()


def test_datagrams_do_not_get_out_through_a_pair(inside: ToolHost, outside: ToolHost, home: Path) -> None:
    path = home / "code/project/datagrams.sock"
    host = Listener(str(path), socket.SOCK_DGRAM)
    assert kind_of(inside, "connect", address=str(path), kind="pair") == "PermissionError"
    assert reaches(outside, "connect", address=str(path), kind="pair")
    host.close()
    assert host.visits == 1


@pytest.mark.parametrize("how", ["read and write", "write"])
@pytest.mark.parametrize("name", ["outer.fifo", "code/project/inner.fifo"])
def test_host_pipes_are_not_reached(
    inside: ToolHost, outside: ToolHost, home: Path, name: str, how: str
) -> None:
    reader = os.open(home / name, os.O_RDONLY | os.O_NONBLOCK)
    assert kind_of(inside, "pipe", path=f"{home}/{name}", how=how) in ("FileNotFoundError", "PermissionError")
    assert not arrived(reader)
    assert reaches(outside, "pipe", path=f"{home}/{name}", how=how)
    assert arrived(reader) == b"hello"
    os.close(reader)


@pytest.mark.parametrize("name", CALLS)
def test_system_calls_that_no_tool_needs_are_refused(inside: ToolHost, outside: ToolHost, name: str) -> None:
    reaction = react(inside, "kernel", name=name)
    assert reaction.raised is not None
    expected = (
        "Function not implemented" if name in ("io_uring_setup", "clone3") else "Operation not permitted"
    )
    assert reaction.raised.message.endswith(f"{name}: {expected}")
    if name in HARMLESS:
        control = react(outside, "kernel", name=name)
        assert not (control.raised and control.raised.message.endswith(expected))


def test_nobody_types_into_a_terminal(inside: ToolHost) -> None:
    assert kind_of(inside, "type_in") == "PermissionError"


def test_the_machine_around_this_one_is_not_reached(inside: ToolHost) -> None:
    assert kind_of(inside, "vsock") == "OSError"


def test_other_processes_are_not_there(inside: ToolHost, outside: ToolHost) -> None:
    assert kind_of(inside, "end", process=os.getpid()) == "ProcessLookupError"
    assert reaches(outside, "end", process=os.getpid())
    assert kind_of(inside, "read", path=f"/proc/{os.getpid()}/environ") == "FileNotFoundError"
    assert reaches(outside, "read", path=f"/proc/{os.getpid()}/environ")


def test_variables_are_not_seen(inside: ToolHost) -> None:
    text = react(inside, "variables").text
    assert "PATH" in text
    assert "sesame" not in text


def test_real_tools_still_work(inside: ToolHost, outside: ToolHost) -> None:
    told = react(inside, "spread", patience=10.0)
    assert told.ended == "returned", told
    assert told.text == react(outside, "spread", patience=10.0).text
