"""What a stretch of a run on tools tells, whoever tells it."""

import threading
import time
from pathlib import Path

from misstep.core.event import Event, Notice
from misstep.core.results.crosstalk import GroupReport
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.runs.summary import summarise_sets
from misstep.runs.tool_session import ToolRunSession
from misstep.store.runs import Store


def test_listeners_hear_one_event_at_a_time(tmp_path: Path) -> None:
    """Notices come from the threads in which tools are tested."""
    heard, within, overlaps = list[Event](), list[Event](), list[int]()

    def listen(event: Event) -> None:
        within.append(event)
        time.sleep(0.002)
        overlaps.append(len(within))
        heard.append(within.pop())

    with Store(str(tmp_path / "store.db"), create=True) as store:
        run = store.add_run(Settings(agent="tools", model="x"), 1, 0.0, purpose=RunSpec("crosstalk"))
        session = ToolRunSession(store, run, [listen], GroupReport, summarise_sets)

        def say(number: int) -> None:
            for i in range(5):
                session.emit(Notice(f"{number}.{i}"))

        threads = [threading.Thread(target=say, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(overlaps) == {1}
    assert {event.text for event in heard if isinstance(event, Notice)} == {
        f"{number}.{i}" for number in range(4) for i in range(5)
    }
