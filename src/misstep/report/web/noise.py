"""Tools that were set off by requests for others, in a page."""

from collections.abc import Iterator

from misstep.core.crosstalk import CrosstalkReport
from misstep.core.trial import Trial
from misstep.report.crosstalk import (
    GROUP_HEADINGS,
    TOOL_HEADINGS,
    group_cells,
    matrix_cells,
    outcome_in_words,
    remarks,
    tool_cells,
)
from misstep.report.trial import trial_in_words
from misstep.report.web.markup import Markup, element, lines, text
from misstep.report.web.sections import section
from misstep.report.web.tables import Row, grid

MOST = 4_000  # characters of a text
MOST_REQUESTS = 500


def noise(report: CrosstalkReport) -> Iterator[Markup]:
    """The groups, which of them set off which, the tools that were called, the requests that led there."""
    groups = [
        Row((text(group.name, 100), *group_cells(group)), "bad" if group.activating else "")
        for group in report.groups
    ]
    said = element("p", text(f"{outcome_in_words(report)}."))
    notes = [element("p", text(each), class_="caption") for each in remarks(report)]
    yield section("Groups", said, grid(("group", *GROUP_HEADINGS), groups), *notes)
    called = [tool for tool in report.tools if tool.requests]
    if not called:
        return
    names, rows = matrix_cells(report)
    yield section("Which group led to which", grid(("meant for", *names), map(Row, rows)))
    tools = [Row(tool_cells(tool)) for tool in called]
    yield section("Tools that were not meant", grid(("tool", *TOOL_HEADINGS, "meant for"), tools))
    led = [(group.name, trial) for group in report.groups for trial in group.activating]
    more = [element("p", f"… and {len(led) - MOST_REQUESTS:,} more.", class_="dim")]
    shown = [_request(name, trial) for name, trial in led[:MOST_REQUESTS]]
    yield section("Requests that led there", *shown, *(more if len(led) > MOST_REQUESTS else []))


def _request(group: str, trial: Trial) -> Markup:
    tools = ", ".join(dict.fromkeys(use.tool for use in trial.uses))
    head = element("summary", element("b", text(tools, 200), class_="bad"), " · ", lines(trial.request, MOST))
    did = [element("li", lines(line, MOST)) for line in trial_in_words(trial)]
    return element("details", head, element("p", "meant for ", text(group, 100)), element("ol", *did))
