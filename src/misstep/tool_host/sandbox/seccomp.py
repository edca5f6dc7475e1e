"""The system call filter of the sandbox: a classic BPF program that bubblewrap installs."""

import errno
import platform
import struct
from collections.abc import Iterable, Mapping

# Refused with EPERM, as (x86_64, aarch64).
REFUSED: Mapping[str, tuple[int, int]] = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51),
    "clock_settime": (227, 112), "delete_module": (176, 106), "fanotify_init": (300, 262),
    "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430),
    "fspick": (433, 433), "init_module": (175, 105), "kcmp": (312, 272), "kexec_file_load": (320, 294),
    "kexec_load": (246, 104), "keyctl": (250, 219), "mount": (165, 40), "mount_setattr": (442, 442),
    "move_mount": (429, 429), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "pidfd_getfd": (438, 438), "pivot_root": (155, 41),
    "process_madvise": (440, 440), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "ptrace": (101, 117), "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142),
    "request_key": (249, 218), "setns": (308, 268), "settimeofday": (164, 170), "swapoff": (168, 225),
    "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97),
    "userfaultfd": (323, 282),
}  # fmt: skip
# Answered with ENOSYS: libraries then use older calls, whose arguments a filter can read.
MISSING: Mapping[str, tuple[int, int]] = {
    "clone3": (435, 435), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
}  # fmt: skip
# Allowed or refused by their arguments.
SOCKET, SOCKETPAIR, CLONE, IOCTL = (41, 198), (53, 199), (56, 220), (16, 29)

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCK_TYPE_MASK, SOCK_STREAM, SOCK_SEQPACKET = 0xF, 1, 5
CLONE_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
X32 = 0x40000000  # set in the call numbers of the x32 interface

_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_ARGUMENTS = (16, 24)  # lower halves of the first two
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """An instruction; the last two are how many to skip after a test."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _line(_LOAD, offset)


def _fail(number: int) -> bytes:
    return _line(_RETURN, _ERRNO | number)


_ALLOWED = _line(_RETURN, _ALLOW)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column and AUDIT_ARCH_*


def call_filter(machine: str = "") -> bytes | None:
    """The filter for this machine, or None if its architecture is not supported."""
    known = _MACHINES.get(machine or platform.machine())
    return b"".join(_program(*known)) if known else None


def _program(column: int, architecture: int) -> Iterable[bytes]:
    yield _load(_ARCHITECTURE)
    yield from (_line(_EQUAL, architecture, 1, 0), _fail(errno.ENOSYS))
    yield _load(_NUMBER)
    yield from (_line(_AT_LEAST, X32, 0, 1), _fail(errno.ENOSYS))
    for numbers in REFUSED.values():
        yield from _when(numbers[column], [_fail(errno.EPERM)])
    for numbers in MISSING.values():
        yield from _when(numbers[column], [_fail(errno.ENOSYS)])
    yield from _when(SOCKET[column], _sockets())
    yield from _when(SOCKETPAIR[column], _socket_pairs())
    no_namespaces = [_line(_ANY_BIT, CLONE_NAMESPACES, 0, 1), _fail(errno.EPERM)]
    yield from _when(CLONE[column], [_load(_ARGUMENTS[0]), *no_namespaces, _ALLOWED])
    refused = [line for request in (TIOCSTI, TIOCLINUX) for line in _when(request, [_fail(errno.EPERM)])]
    yield from _when(IOCTL[column], [_load(_ARGUMENTS[1]), *refused, _ALLOWED])
    yield _ALLOWED


def _sockets() -> list[bytes]:
    """Internet sockets, and netlink, which programs use to list network interfaces."""
    allowed = [line for family in (AF_INET, AF_INET6, AF_NETLINK) for line in _when(family, [_ALLOWED])]
    refused = _when(AF_UNIX, [_fail(errno.EACCES)])
    return [_load(_ARGUMENTS[0]), *allowed, *refused, _fail(errno.EAFNOSUPPORT)]


def _socket_pairs() -> list[bytes]:
    """Connected pairs only. A datagram socket of a pair could still send to any address."""
    masked = [_load(_ARGUMENTS[1]), _line(_AND, SOCK_TYPE_MASK)]
    allowed = [line for kind in (SOCK_STREAM, SOCK_SEQPACKET) for line in _when(kind, [_ALLOWED])]
    return [*masked, *allowed, _fail(errno.EACCES)]


def _when(value: int, lines: list[bytes]) -> list[bytes]:
    """Run `lines`, which end in a return, if the loaded value equals `value`."""
    return [_line(_EQUAL, value, 0, len(lines)), *lines]
