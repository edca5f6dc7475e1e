"""The real tools as an agent meets them."""

from collections.abc import Iterable, Iterator, Sequence

import pytest

from misstep.core.settings import Settings
from misstep.core.tool import Described, Probe, Reaction
from misstep.errors import UsageError
from misstep.runs.setup.workbenches import Workbenches
from misstep.tool_host.host import ToolHost
from misstep.tool_host.live import STOPPED, LiveTools

SOURCE = '''
import os

seen = []


def remember(word: str) -> str:
    """Remember a word, and say all."""
    seen.append(word)
    return ", ".join(seen)


def fail(number: int) -> int:
    """Fail."""
    return 1 // 0


def leave() -> None:
    """Leave."""
    os._exit(3)


def much() -> str:
    """Say much."""
    return "x" * 100_000


tools = [remember, fail, leave, much]
'''


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolHost]:
    path = tmp_path_factory.mktemp("tools") / "live.py"
    path.write_text(SOURCE)
    with Workbenches(Settings(timeout=20.0)) as benches, benches.lend(f"{path}:tools") as bench:
        yield bench


class Unloadable:
    """A workbench whose code has gone since it was loaded."""

    files = ()
    starts_quickly = True

    def __init__(self, tools: Sequence[Described]) -> None:
        self.tools = tools

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        raise UsageError("can't be loaded", str(list(probes)), str(patience))

    def reset(self) -> None:
        """It has no state."""

    def reach(self, tool: str) -> None:
        """Nothing of any tool."""


def test_what_breaks_on_our_side_is_no_result_of_a_tool(bench: ToolHost) -> None:
    live = LiveTools(Unloadable(bench.tools))
    assert live.answer("remember", {"word": "one"}) == STOPPED
    assert (live.is_stopped, live.uses) == (True, [])
    assert isinstance(live.failure, UsageError)


def test_results_and_errors_are_told_as_frameworks_do(bench: ToolHost) -> None:
    bench.reset()
    live = LiveTools(bench)
    assert live.answer("remember", {"word": "one"}) == "one"
    assert live.answer("fail", {"number": 1}).startswith("Error: ZeroDivisionError: ")
    assert live.answer("leave", {}).startswith("Error: ")
    assert len(live.answer("much", {})) < 21_000
    assert [use.judged.ruling for use in live.uses[:3]] == ["fine", "crash", "crash"]


def test_what_is_no_call_is_told_and_not_counted(bench: ToolHost) -> None:
    asked = list[bool]()

    def grant() -> bool:
        asked.append(True)
        return True

    live = LiveTools(bench, ["remember"], grant)
    assert [tool.name for tool in live.tools] == ["remember"]
    assert live.answer("fail", {"number": 1}) == "Error: there is no tool 'fail'."
    assert live.answer("remember", "word") == "Error: the arguments must be a JSON object."
    assert (live.uses, asked, live.is_stopped) == ([], [], False)


def test_a_call_that_is_not_granted_is_not_made(bench: ToolHost) -> None:
    live = LiveTools(bench, (), lambda: False)
    assert live.answer("remember", {"word": "never"}) == "Error: the tool is no longer available."
    assert (live.uses, live.is_stopped) == ([], True)
    bench.reset()
    assert "never" not in LiveTools(bench).answer("remember", {"word": "one"})


def test_renewed_tools_have_forgotten_everything(bench: ToolHost) -> None:
    live = LiveTools(bench)
    live.answer("remember", {"word": "one"})
    again = live.renewed()
    assert again.answer("remember", {"word": "two"}) == "two"
    assert [use.result for use in again.uses] == ["two"]
