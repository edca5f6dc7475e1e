"""Nothing is left behind on the disk, also by those who were killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from misstep.tool_host.sandbox.scratch_dir import ScratchDir, sweep
from tests.tool_host.test_process import SHELTERS, descendants
from tests.tool_host.trying import bench_in, react, settle

SCRIPT = """
import signal, sys
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
bench = ToolHost(sys.argv[1], CallConditions(shelter="none"))
bench.start()
print(bench.sandbox.folder, flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def kill_all(pid: int) -> None:
    """Kill a process and its descendants, all stopped before: none is left to clear away, or to have a child."""
    stopped = set[int]()
    while fresh := {pid, *descendants(pid)} - stopped:
        for each in fresh:
            os.kill(each, signal.SIGSTOP)
        stopped |= fresh
    for each in stopped:
        os.kill(each, signal.SIGKILL)


@pytest.mark.full
@pytest.mark.parametrize("shelter", SHELTERS)
def test_what_the_killed_leave_behind_is_swept_away_by_the_next(tmp_path: Path, shelter: str) -> None:
    spec = settle(tmp_path / "tools")
    with subprocess.Popen([sys.executable, "-c", SCRIPT, spec], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().decode().strip())
        sweep()
        assert left.exists()
        kill_all(process.pid)
    (left / "shut").mkdir(mode=0o000)
    assert left.exists()
    with bench_in(tmp_path / "tools", shelter=shelter) as bench:
        assert not left.parent.exists()
        sweep()
        assert react(bench, "fine").text.startswith("1 ")


def test_nothing_else_is_swept_away(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").touch()
    (temporary / "misstep-0123456789abcdef").symlink_to(tmp_path / "mine")
    (temporary / "misstep-1123456789abcdef").touch()
    for name in ("misstep-report", "misstep-0123456789abcde", "misstep-0123456789ABCDEF", "other"):
        (temporary / name).mkdir()
    before = sorted(temporary.iterdir())
    sweep()
    assert sorted(temporary.iterdir()) == before
    assert (tmp_path / "mine/letter").exists()


def test_what_links_lead_to_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    ground = ScratchDir()
    ground.claim()
    (Path(ground.path) / "link").symlink_to(tmp_path / "mine")
    ground.leave()
    assert not os.path.exists(ground.path)
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o755


def test_a_folder_is_removed_whatever_tools_have_made_there(temporary: Path) -> None:
    """Deeper than Python calls itself, and than paths may be long; without rights; names that look like ours."""
    deep = "for _ in range(3000): os.mkdir('d'); os.chdir('d')"
    ground = ScratchDir()
    ground.claim()
    (temporary / "kept").mkdir()
    (temporary / "kept" / "file").touch()
    subprocess.run([sys.executable, "-c", f"import os\n{deep}"], cwd=ground.path, check=True)
    for name in ("misstep-1", "misstep-2/misstep-1/x", "locked/inside"):
        os.makedirs(os.path.join(ground.path, name))
    os.symlink(temporary / "kept", os.path.join(ground.path, "out"))
    os.symlink(".", os.path.join(ground.path, "misstep-2", "loop"))
    os.mkfifo(os.path.join(ground.path, "locked", "inside", "pipe"))
    os.chmod(os.path.join(ground.path, "locked"), 0)
    ground.leave()
    assert os.listdir(temporary) == ["kept"]
    assert (temporary / "kept" / "file").exists()
