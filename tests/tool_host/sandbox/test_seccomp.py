"""The system call filter, carried out step by step for every machine that it is written for."""

import errno
import struct

import pytest

from misstep.tool_host.sandbox.seccomp import MISSING, REFUSED, call_filter

ALLOWED, FAILS = 0x7FFF0000, 0x00050000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
OTHERS = {
    "x86_64": {"read": 0, "clone": 56, "socket": 41, "socketpair": 53, "connect": 42, "ioctl": 16},
    "aarch64": {"read": 63, "clone": 220, "socket": 198, "socketpair": 199, "connect": 203, "ioctl": 29},
}


def run(machine: str, number: int, *arguments: int, architecture: int = 0) -> int:
    """The error number that a call ends with; 0 if it is allowed."""
    program = call_filter(machine)
    assert program is not None
    given = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *given)
    lines, place, value = list(struct.iter_unpack("=HBBI", program)), 0, 0
    while True:
        code, if_true, if_false, constant = lines[place]
        place += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, constant)
            case 0x54:
                value &= constant
            case 0x15 | 0x35 | 0x45:
                tests = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}
                place += if_true if tests[code] else if_false
            case 0x06:
                assert constant == ALLOWED or constant & 0xFFFF0000 == FAILS
                return 0 if constant == ALLOWED else constant & 0xFFFF


@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_what_is_refused_and_what_is_not(machine: str, column: int) -> None:
    other = OTHERS[machine]
    assert {run(machine, numbers[column]) for numbers in REFUSED.values()} == {errno.EPERM}
    assert {run(machine, numbers[column]) for numbers in MISSING.values()} == {errno.ENOSYS}
    assert run(machine, other["read"]) == run(machine, other["connect"]) == 0
    sockets = {family: run(machine, other["socket"], family, 1) for family in (1, 2, 10, 16, 17, 38, 40)}
    assert sockets[2] == sockets[10] == sockets[16] == 0
    assert sockets[1] == errno.EACCES
    assert {sockets[17], sockets[38], sockets[40]} == {errno.EAFNOSUPPORT}
    cloexec = 0o2000000
    pairs = [run(machine, other["socketpair"], 1, kind | cloexec) for kind in (1, 5, 2, 3)]
    assert pairs == [0, 0, errno.EACCES, errno.EACCES]
    assert run(machine, other["clone"], 0x1200011) == 0  # a fork
    assert run(machine, other["clone"], 0x3D0F00) == 0  # a thread
    assert run(machine, other["clone"], 0x10000011) == errno.EPERM
    assert run(machine, other["ioctl"], 0, 0x5413) == 0
    assert run(machine, other["ioctl"], 0, 0x5412) == run(machine, other["ioctl"], 0, 0x541C) == errno.EPERM


def test_the_halves_of_arguments_that_the_kernel_ignores_do_not_matter() -> None:
    assert run("x86_64", 41, (1 << 32) | 1) == errno.EACCES
    assert run("x86_64", 16, 0, (7 << 32) | 0x5412) == errno.EPERM


@pytest.mark.parametrize("architecture", [0x40000003, 0xC00000B7])
def test_calls_of_other_interfaces_are_refused(architecture: int) -> None:
    assert run("x86_64", 0, architecture=architecture) == errno.ENOSYS
    assert run("x86_64", 0x40000000 | 41) == errno.ENOSYS


def test_there_is_none_for_other_machines() -> None:
    assert call_filter("riscv64") is None
