"""Tools that try to get out of the sandbox. Each says what it reached, or raises what kept it from that."""

import ctypes
import fcntl
import os
import pty
import signal
import socket
import termios
from pathlib import Path

X86_64 = {"ptrace": 101, "process_vm_readv": 310, "keyctl": 250, "add_key": 248, "request_key": 249}
X86_64 |= {"bpf": 321, "perf_event_open": 298, "mount": 165, "umount2": 166, "pivot_root": 155}
X86_64 |= {"unshare": 272, "setns": 308, "userfaultfd": 323, "kexec_load": 246, "init_module": 175}
X86_64 |= {"io_uring_setup": 425, "clone3": 435, "open_by_handle_at": 304, "pidfd_getfd": 438}
AARCH64 = {"ptrace": 117, "process_vm_readv": 270, "keyctl": 219, "add_key": 217, "request_key": 218}
AARCH64 |= {"bpf": 280, "perf_event_open": 241, "mount": 40, "umount2": 39, "pivot_root": 41}
AARCH64 |= {"unshare": 97, "setns": 268, "userfaultfd": 282, "kexec_load": 104, "init_module": 105}
AARCH64 |= {"io_uring_setup": 425, "clone3": 435, "open_by_handle_at": 265, "pidfd_getfd": 438}
NUMBERS = X86_64 if os.uname().machine == "x86_64" else AARCH64
ARGUMENTS = {
    "keyctl": (0, -4, 1),  # KEYCTL_GET_KEYRING_ID of the user's own keyring
    "unshare": (0x10000000,),  # CLONE_NEWUSER
    "userfaultfd": (1,),  # UFFD_USER_MODE_ONLY
}


def call(name: str, *arguments: int) -> int:
    """A system call, past all libraries."""
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(NUMBERS[name], *map(ctypes.c_long, (*arguments, 0, 0, 0, 0, 0)[:6]))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return int(result)


def kernel(name: str) -> str:
    """Make a system call that no tool needs, in a copy of this process."""
    child = os.fork()
    if not child:
        try:
            call(name, *ARGUMENTS.get(name, ()))
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 255)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return f"reached {name}"


def read(path: str) -> str:
    """Read a file."""
    return f"reached {Path(path).read_text()}"


def look(path: str) -> str:
    """See what is in a folder."""
    return f"reached {sorted(os.listdir(path))}"


def write(path: str) -> str:
    """Write to a file."""
    Path(path).write_text("changed")
    return "reached"


def connect(address: str, kind: str = "stream") -> str:
    """Talk to a Unix socket; from its own folder, if the address begins with one that is set apart by '//'."""
    folder, apart, name = address.partition("//")
    if apart:
        os.chdir(folder)
    where = f"\0{address[1:]}" if address.startswith("@") else name if apart else address
    if kind == "pair":  # whose ends can send to any address, if they are of this kind
        line = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
        line.sendto(b"hello", where)
        return "reached"
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(5)
        line.connect(where)
        return f"reached {line.recv(100).decode()}"


def pipe(path: str, how: str) -> str:
    """Open a FIFO, without waiting for the other side."""
    file = os.open(path, os.O_NONBLOCK | (os.O_WRONLY if how == "write" else os.O_RDWR))
    os.write(file, b"hello")
    os.close(file)
    return "reached"


def end(process: int) -> str:
    """Ask a process for its life."""
    os.kill(process, 0)
    return "reached"


def type_in() -> str:
    """Put a command into the terminal."""
    _, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
    return "reached"


def vsock() -> str:
    """Talk to whoever runs this machine."""
    with socket.socket(getattr(socket, "AF_VSOCK", 40), socket.SOCK_STREAM):
        return "reached"


def variables() -> str:
    """The environment of this process and of the first one."""
    return f"reached {dict(os.environ)} {Path('/proc/self/environ').read_text()}"


def spread() -> str:
    """What real tools do: threads, processes, pools, event loops."""
    import asyncio
    import multiprocessing
    import subprocess
    from concurrent.futures import ThreadPoolExecutor

    async def program() -> bytes:
        started = await asyncio.create_subprocess_exec("echo", "hi", stdout=subprocess.PIPE)
        return (await started.communicate())[0]

    with ThreadPoolExecutor() as pool:
        threads = list(pool.map(abs, [-1]))
    with multiprocessing.get_context("fork").Pool(2) as processes:
        copies = processes.map(abs, [-2])
    return f"{threads} {copies} {asyncio.run(program())!r} {signal.getsignal(signal.SIGCHLD)}"


tools = [kernel, read, look, write, connect, pipe, end, type_in, vsock, variables, spread]
