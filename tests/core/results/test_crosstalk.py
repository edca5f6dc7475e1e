"""Who is set off by what was meant for others, counted."""

import msgspec

from misstep.core.results.crosstalk import CrosstalkReport, GroupReport, ToolGroup, offered_beside
from misstep.core.results.trial import Judged, Trial, Use

FILES = ToolGroup("files", ("read", "write"))
WEB = ToolGroup("web", ("search", "read"))
CLOCK = ToolGroup("clock", ("tell",))


def trial(*tools: str, error: str = "") -> Trial:
    uses = tuple(Use(tool, "{}", "done", Judged("fine")) for tool in tools)
    return Trial("please", uses, "ok", error=error)


def test_tools_that_share_a_group_are_not_offered() -> None:
    groups = (FILES, WEB, CLOCK)
    assert offered_beside(FILES, groups) == ("tell",)
    assert offered_beside(CLOCK, groups) == ("read", "write", "search")
    assert offered_beside(FILES, (FILES, WEB)) == ()


def test_what_is_counted() -> None:
    clock = GroupReport("clock", CLOCK.tools, ("read", "write", "search"))
    clock = msgspec.structs.replace(
        clock,
        trials=(trial("read", "read", "write"), trial("read"), trial(), trial("write", error="it broke")),
    )
    files = GroupReport("files", FILES.tools, ("tell",), trials=(trial(),))
    report = CrosstalkReport("r", ("a.py",), (clock, files))
    assert (report.judged, report.activating) == (4, 2)
    assert (clock.verdict, files.verdict) == ("failed", "passed")
    found = {tool.tool: (tool.calls, tool.requests, tool.judged, tool.by_group) for tool in report.tools}
    assert list(found) == ["read", "write", "search", "tell"]
    assert found["read"] == (3, 2, 3, {"clock": 2})
    assert found["write"] == (1, 1, 3, {"clock": 1})
    assert found["search"] == (0, 0, 3, {})
    assert report.matrix == {"clock": {"clock": 0, "files": 2}, "files": {"clock": 0, "files": 0}}
    low, high = report.tools[0].interval
    assert 0 < low < 2 / 3 < high < 1


def test_what_broke_says_nothing() -> None:
    broken = GroupReport("files", FILES.tools, ("tell",), trials=(trial("tell", error="it broke"),))
    assert broken.verdict == "inconclusive"
    assert not broken.activating
    assert GroupReport("files", FILES.tools, ("tell",), why="no requests").verdict == "inconclusive"
