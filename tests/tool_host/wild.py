"""Tools that do what no tool should. They are called inside a sandbox only."""

import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

calls: list[str] = []


def fine(text: str = "") -> str:
    """Say how things are."""
    calls.append(text)
    return f"{len(calls)} {os.getcwd()} {sorted(os.listdir())}"


def branch(number: int) -> str:
    """Go one of two ways."""
    if number > 10:
        return "much"
    return "little"


def leave(how: str) -> str:
    """Leave the process, or try to."""
    match how:
        case "exit":
            sys.exit(3)
        case "interrupt":
            raise KeyboardInterrupt
        case "generator":
            raise GeneratorExit
        case "base":
            raise BaseException("nothing less")
        case "at once":
            os._exit(3)
        case "segfault":
            ctypes.string_at(0)
        case "abort":
            os.abort()
        case "processor":
            os.kill(os.getpid(), signal.SIGXCPU)
        case "parent":
            os.kill(os.getppid(), signal.SIGKILL)
        case "first":
            os.kill(1, signal.SIGKILL)
        case "everybody":
            os.kill(-1, signal.SIGKILL)
        case "stop parent":
            os.kill(os.getppid(), signal.SIGSTOP)
            os._exit(4)
        case "deep":
            return leave("deep")
        case "files":
            os.closerange(0, 4096)
        case "break":
            os.getpid = None  # type: ignore[assignment]
        case "copy":
            os.fork()
    return "still here"


def hang(how: str) -> str:
    """Take very long."""
    if how == "regex":
        return str(re.match(r"(a+)+$", "a" * 40 + "b"))
    match how:
        case "sleep":
            time.sleep(600)
        case "lock":
            lock = threading.Lock()
            with lock, lock:
                pass
        case "poll":
            while not os.path.exists("nowhere"):
                time.sleep(0.001)
        case "child":
            subprocess.run([sys.executable, "-c", "while True: pass"])
        case "thread":
            thread = threading.Thread(target=hang, args=("loop",))
            thread.start()
            thread.join()
    while True:
        pass


def slow() -> str:
    """Take a while."""
    time.sleep(0.6)
    return "there"


def eat(what: str) -> str:
    """Use up what there is."""
    kept: list[object] = []
    while True:
        match what:
            case "memory":
                kept.append(bytearray(1 << 24))
            case "processes":
                os.fork()
            case "programs":
                kept.append(subprocess.Popen(["sleep", "600"]))
            case "threads":
                threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            case "disk":
                Path(f"big{len(kept)}").write_bytes(b"x" * (1 << 22))
                kept.append(None)
            case "shared memory":
                Path(f"/dev/shm/big{len(kept)}").write_bytes(b"x" * (1 << 22))
                kept.append(None)
            case "devices":
                Path(f"/dev/big{len(kept)}").write_bytes(b"x" * (1 << 22))


def shout() -> str:
    """Print megabytes."""
    print("a\ud800" * 4_000_000)
    os.write(1, b"x" * 4_000_000)
    os.write(2, b"x" * 4_000_000)
    return sys.stdin.read()


def write(path: str) -> str:
    """Write to a file."""
    return str(Path(path).write_text("changed"))


def remove(path: str) -> str:
    """Remove a folder."""
    shutil.rmtree(path)
    return "gone"


def shut(path: str) -> str:
    """Take everybody's rights away."""
    os.chmod(path, 0)
    return "shut"


def read(path: str) -> str:
    """Read a file, or what is in a folder."""
    return str(os.listdir(path)) if os.path.isdir(path) else Path(path).read_text()


def connect(address: str) -> str:
    """Talk to a server at a port or a socket."""
    kind = socket.AF_UNIX if address.startswith("/") else socket.AF_INET
    with socket.socket(kind) as line:
        line.settimeout(5)
        line.connect(address if address.startswith("/") else ("127.0.0.1", int(address)))
        return line.recv(100).decode()


def linger(folder: str) -> str:
    """Leave something behind that outlives the call, and goes into a session of its own."""
    work = f"import time, pathlib\nwhile True:\n pathlib.Path({folder!r}, 'alive').write_text('x')\n time.sleep(0.01)"
    subprocess.Popen([sys.executable, "-c", work], start_new_session=True)
    threading.Thread(target=time.sleep, args=(600,)).start()
    for _ in range(500):
        if os.path.exists(os.path.join(folder, "alive")):
            return "started"
        time.sleep(0.01)
    return "not started"


def mess() -> str:
    """Change all that can be changed about the process and its files."""
    os.makedirs("a/b/c")
    Path("a/b/file").write_text("x")
    Path("given.txt").write_text("changed")
    os.symlink("/", "a/link")
    os.chmod("a/b", 0)
    os.environ["MESS"] = "1"
    os.chdir("/")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.setrecursionlimit(200)
    return "done"


def hand_over() -> str:
    """Send open files to whoever is at the other end of a line."""
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            with socket.socket(fileno=os.dup(number)) as line:
                for _ in range(100 if line.family == socket.AF_UNIX else 0):
                    socket.send_fds(line, [b" "], [0] * 4)
        except OSError:
            continue
    return "done"


def forge(what: str) -> str:
    """Report of a call that nobody has made, in the name of the process."""
    text = "x" * (1_000_000 if what == "large" else 20_000_000)
    row = json.dumps([{"ended": "returned", "text": text}, {}]).encode() + b"\n"
    for number in map(int, os.listdir("/proc/self/fd")):
        if number >= 200:
            with socket.socket(fileno=os.dup(number)) as line:
                line.sendall(row)
    time.sleep(600)
    return "done"


def variables() -> dict[str, str]:
    """The environment."""
    return dict(os.environ)


def odd(what: str) -> object:
    """Give back something odd."""
    return "\ud800" if what == "surrogate" else "x" * 3_000_000


tools = [
    fine, branch, leave, hang, slow, eat, shout, write, remove, shut, read, connect, linger, mess, hand_over,
    variables, odd, forge
]  # fmt: skip
