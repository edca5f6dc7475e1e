"""Files that are written over: whose they are, how they may be used, what else they are called."""

import errno
import os
import stat
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from misstep.errors import UsageError
from misstep.store.files import refuse_unwritable, write_text

NEW = "new\n" * 10_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "tools.py"
    made.write_text("old\n")
    return made


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o220, 0o664])
def test_a_file_keeps_its_mode(path: Path, mode: int) -> None:
    path.chmod(mode)
    write_text(str(path), NEW)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o600)
    assert path.read_text() == NEW


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555])
def test_a_file_that_is_read_only_is_left_alone(path: Path, mode: int) -> None:
    path.chmod(mode)
    for write in (partial(write_text, str(path), NEW), partial(refuse_unwritable, str(path))):
        with pytest.raises(UsageError) as caught:
            write()
        assert (caught.value.message, caught.value.where) == ("can't be written: it is read-only", str(path))
    assert path.read_text() == "old\n"
    assert os.listdir(path.parent) == ["tools.py"]


def test_other_names_of_a_file_have_the_new_text_too(path: Path) -> None:
    other = path.with_name("other.py")
    other.hardlink_to(path)
    write_text(str(path), "newer and longer\n")
    assert other.read_text() == "newer and longer\n"
    write_text(str(other), "short")
    assert path.read_text() == "short"
    assert path.stat().st_nlink == 2
    assert sorted(os.listdir(path.parent)) == ["other.py", "tools.py"]


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="extended attributes are Linux's")


def mark(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        pytest.skip(f"this file system has no {name}")


def attributes(path: Path) -> dict[str, bytes]:
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


@ON_LINUX
def test_a_file_keeps_its_extended_attributes(path: Path) -> None:
    mark(path, "user.origin", b"by hand")
    mark(path, "user.empty", b"")
    before = attributes(path)
    write_text(str(path), NEW)
    assert (attributes(path), path.read_text()) == (before, NEW)


@ON_LINUX
def test_a_file_keeps_who_else_may_read_it(path: Path) -> None:
    """Another may read the file by an access list. New files of its folder would be shared more widely."""
    mark(path, "system.posix_acl_access", access_list(READ))
    mark(path.parent, "system.posix_acl_default", access_list(READ | 2))
    before = attributes(path), path.stat().st_mode
    write_text(str(path), NEW)
    assert (attributes(path), path.stat().st_mode) == before
    os.removexattr(path, "system.posix_acl_access")
    write_text(str(path), "again")
    assert attributes(path) == {}


READ = 4


def access_list(others: int) -> bytes:
    """What one more user may do, beside the owner, the group and everybody, as the kernel wants it."""
    nobody = 0xFFFFFFFF
    entries = [(1, 6, nobody), (2, others, 1234), (4, 4, nobody), (16, 6, nobody), (32, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@ON_LINUX
@pytest.mark.skipif(os.geteuid() != 0, reason="only root sets what others can't")
def test_attributes_that_a_new_file_could_not_be_given_stay_where_they_are(path: Path) -> None:
    """Nobody but root may set them, so that the old file has to be written over."""
    set_free(path)
    mark(path, "security.misstep", b"kept")
    before = path.stat().st_ino
    os.chown(path, 65_534, 65_533)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert (path.read_text(), path.stat().st_ino) == ("new", before)
    assert attributes(path) == {"security.misstep": b"kept"}


LIMITED = """
import resource, signal, sys
from misstep.store.files import opened

def limit():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

with opened(sys.argv[1]) as file:
    if sys.argv[2] == "while it is made":
        limit()
    file.write(b"new" * 10_000)
    file.flush()
    limit()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="files are limited in size on Linux")
@pytest.mark.parametrize(
    ("linked", "when"),
    [(False, "while it is made"), (True, "while it is made"), (True, "while it is put in place")],
)
def test_a_disk_without_room_leaves_the_old_text(path: Path, linked: bool, when: str) -> None:
    """A file may be no longer than that: a write breaks in the middle."""
    if linked:
        path.with_name("other.py").hardlink_to(path)
    command = [sys.executable, "-c", LIMITED, str(path), when]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "can't be written" in done.stderr
    assert path.read_text() == "old\n"
    assert sorted(os.listdir(path.parent)) == (["other.py", "tools.py"] if linked else ["tools.py"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_root_leaves_files_to_whom_they_belong(path: Path) -> None:
    os.chown(path, 65_534, 65_533)
    path.chmod(0o640)
    write_text(str(path), NEW)
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (65_534, 65_533, 0o640)


AS_NOBODY = """
import os, sys
from misstep.store.files import write_text

os.setgid(65_533)
os.setuid(65_534)
write_text(sys.argv[1], "new")
"""


def set_free(path: Path) -> None:
    """Let everybody write a file, and come to it."""
    path.parent.chmod(0o777)
    for folder in path.parent.parents:
        folder.chmod(folder.stat().st_mode | 0o011)
    path.chmod(0o666)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_who_may_write_a_file_of_another_leaves_it_to_them(path: Path) -> None:
    """Nobody but root can give a new file to another, so that the old one has to be written over."""
    set_free(path)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert (path.read_text(), path.stat().st_uid) == ("new", os.getuid())
    assert os.listdir(path.parent) == ["tools.py"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "it is a folder"), ("missing/out", "its folder does not exist"), ("tools.py/out", "its folder")],
)
def test_where_nothing_can_be_written_is_told_before(path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"can't be written: {said}"):
        refuse_unwritable(str(path.parent / name))
    refuse_unwritable(str(path))
    refuse_unwritable("-")
    refuse_unwritable("/dev/null")
