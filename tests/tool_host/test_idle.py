"""Tools that nobody calls cost nothing, and those that are still being loaded are waited for."""

import os
import re
import time
from pathlib import Path

import pytest

from misstep.adapters.processes import listed
from misstep.errors import UsageError
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions, Shelter
from tests.tool_host.trying import LIMITS, bench_in, needs_bubblewrap, react

SHELTERS = [pytest.param("bubblewrap", marks=needs_bubblewrap), "none"]
INTERVAL = 0.25  # seconds in which a supervisor that looks every few milliseconds would do so many times


def awoken(before: set[int]) -> dict[int, str]:
    """How often each process that was started since has been awoken or made to wait."""
    found = {os.getpid()}
    everybody = list(listed())
    for _ in range(5):
        found |= {each.pid for each in everybody if each.parent in found}
    statuses = {pid: Path(f"/proc/{pid}/status").read_text() for pid in found - before - {os.getpid()}}
    return {pid: " ".join(re.findall(r"ctxt_switches:\s*(\d+)", text)) for pid, text in statuses.items()}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system doesn't count that")
@pytest.mark.parametrize("shelter", SHELTERS)
@pytest.mark.parametrize("called", [False, True])
def test_idle_tools_let_the_processor_sleep(tmp_path: Path, shelter: Shelter, called: bool) -> None:
    before = {each.pid for each in listed()}
    with bench_in(tmp_path, shelter=shelter) as bench:
        if called:
            assert react(bench, "fine").ended == "returned"
        for _ in range(20):  # until what has just been done is done
            counted = awoken(before)
            time.sleep(INTERVAL)
            slept = awoken(before) == counted
            if slept:
                break
        assert len(counted) >= 3  # the warden, the zygote and the copy
        assert slept
        assert react(bench, "fine").ended == "returned"


@pytest.mark.parametrize("shelter", SHELTERS)
def test_limits_hold_after_a_rest(tmp_path: Path, shelter: Shelter) -> None:
    with bench_in(tmp_path, shelter=shelter) as bench:
        assert react(bench, "fine").ended == "returned"
        reaction = react(bench, "eat", patience=100.0, what="programs")
        assert reaction.ended == "died"
        assert ", more than allowed" in reaction.detail


LOADING = """
import os, time
def busy():
    until = time.monotonic() + 3
    while time.monotonic() < until:
        pass
def printing():
    for _ in range(6):
        os.write(2, b"still here")
        time.sleep(0.5)
def endless():
    while True:
        pass
def idle():
    time.sleep(600)
{how}()
def tool() -> str:
    '''A tool.'''
    return "there"
"""


@pytest.mark.full(after=1)
@pytest.mark.parametrize("shelter", SHELTERS)
@pytest.mark.parametrize("how", ["busy", "printing"])
def test_tools_that_are_being_loaded_are_waited_for(tmp_path: Path, shelter: Shelter, how: str) -> None:
    (tmp_path / "slow.py").write_text(LOADING.format(how=how))
    conditions = CallConditions(shelter=shelter, limits=LIMITS, load_limit=2.0)
    with ToolHost(f"{tmp_path}/slow.py:tool", conditions) as bench:
        assert react(bench, "tool").text == "there"


@pytest.mark.full(after=1)
@pytest.mark.parametrize("shelter", SHELTERS)
@pytest.mark.parametrize(("how", "told"), [("idle", ": it was idle for 0.8 s"), ("endless", " within 8 s")])
def test_tools_that_never_come_are_given_up_on(tmp_path: Path, shelter: Shelter, how: str, told: str) -> None:
    (tmp_path / "slow.py").write_text(LOADING.format(how=how))
    with pytest.raises(UsageError, match=f"did not load{told}\n"):
        ToolHost(f"{tmp_path}/slow.py:tool", CallConditions(shelter=shelter, load_limit=0.8)).start()
