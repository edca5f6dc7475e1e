"""The paper's tables, with whatever an agent may be called."""

import pytest

from misstep.core.results.capability import Capability
from misstep.core.results.comparison import Breakdown
from misstep.core.results.diagnosis import Dissection
from misstep.core.results.summary import Tally
from misstep.features.papers.pdoctor import Effectiveness, Replication, paper_view
from tests.features.capability.curves import point
from tests.rendering.screens import shown

HOSTILE = ("[/b]/ok.py:agent", "[red]a[/red]", "[link=file:///]x[/link]", "a\x1b[2Jb")


@pytest.mark.parametrize("agent", HOSTILE)
def test_a_name_is_no_markup_in_the_table_of_errors_found(agent: str) -> None:
    summary = Tally().summary("r1", agent, "[bold]gpt")
    screen = shown(paper_view(Replication("rq1", effectiveness=(Effectiveness(summary, 1.0, 2.0),))), 160)
    assert f"{agent}, [bold]gpt".replace("\x1b", "\\u001b") in screen


@pytest.mark.parametrize("agent", HOSTILE)
@pytest.mark.parametrize("question", ["rq2", "rq3"])
def test_nor_in_any_other(agent: str, question: str) -> None:
    curve = Capability("r1", agent, None, (point(2, 9, 10),), 0.2, 2, False, None, None, {"order": 1})
    screen = shown(
        paper_view(
            Replication(
                question,  # type: ignore[arg-type]
                capabilities=(curve,),
                dissections=(Dissection("r1", "r2", agent, None, "pdoctor", (), {}),),
                breakdowns=(Breakdown("r1", "topic", ()),),
                topics={agent: 1},
            )
        ),
        400,
    )
    assert screen.count(agent.replace("\x1b", "\\u001b")) >= 4
