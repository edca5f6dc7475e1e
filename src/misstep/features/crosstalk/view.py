"""Shows which tools were called for requests meant for others, on the terminal and in the HTML page."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from misstep.core.results.crosstalk import Activated, CrosstalkReport, GroupReport
from misstep.core.stats import wilson
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, text
from misstep.rendering.html.sections import page_section
from misstep.rendering.layout import Trimmed, indented, numbers_table, section
from misstep.rendering.terminal import counted, percent
from misstep.rendering.text import plain
from misstep.rendering.trial import deeds_as_json, picked, tokens_as_json, trial_in_words

NARROWEST = 8  # columns of a name
LONGEST_NAME = 100  # characters
LONGEST_REQUEST = 500
LONGEST_REASON = 300
MOST_COLUMNS = 8  # groups of a matrix that fit on a terminal
MOST_REQUESTS = 20  # of each group
GROUP_HEADINGS = ("tools", "offered", "requests", "activating", "unclear")
TOOL_HEADINGS = ("calls", "requests", "of", "rate", "95 % interval")


def crosstalk_view(report: CrosstalkReport, most: int = MOST_REQUESTS) -> RenderableType:
    """The groups, which caused calls to which, the tools that were called, and the requests."""
    if not report.groups:
        return Text("there are no groups yet", style="dim")
    groups = numbers_table("group", GROUP_HEADINGS, NARROWEST)
    for group in report.groups:
        tools, offered, tried, activating, unclear = group_cells(group)
        style = "red" if group.activating else "green"
        groups.add_row(Text(_name(group.name)), tools, offered, tried, Text(activating, style=style), unclear)
    style = "yellow" if not report.judged else "red" if report.activating else "green"
    parts: list[RenderableType] = [groups, Text(), Text(outcome_in_words(report), style=style)]
    called = [tool for tool in report.tools if tool.requests]
    if called:
        names, rows = matrix_cells(report)
        matrix = numbers_table("meant for", (), NARROWEST)
        for name in names:
            matrix.add_column(Text(name), justify="right", overflow="fold")
        for group_name, *cells in rows:
            matrix.add_row(Text(group_name), *cells)
        parts.append(section("requests of each group that led to tools of other groups", matrix))
        activations = numbers_table("tool", TOOL_HEADINGS, NARROWEST)
        activations.add_column("meant for", overflow="fold")
        for name, *numbers, meant in map(tool_cells, called):
            activations.add_row(Text(name), *numbers, Text(meant))
        parts.append(section("unplanned activations", activations))
        parts += [_requests(group, most) for group in report.groups if group.activating]
    sandboxes = sorted({group.sandbox for group in report.groups if group.sandbox})
    shelters = [f"sandbox: {plain(words)}" for words in sandboxes]
    parts += [Text(line, style="dim") for line in ("", *remarks(report), *shelters)]
    return Trimmed(Group(*parts))


def crosstalk_as_json(report: CrosstalkReport) -> dict[str, object]:
    return {
        "run": report.run,
        "specs": list(report.specs),
        "seconds": round(report.seconds, 3),
        **picked(report, "judged", "activating"),
        **_rate_as_json(report.activating, report.judged),
        "groups": [_group_as_json(group) for group in report.groups],
        "tools": [
            {
                "name": tool.tool,
                **picked(tool, "calls", "requests", "judged"),
                **_rate_as_json(tool.requests, tool.judged),
                "by_group": tool.by_group,
            }
            for tool in report.tools
        ],
        "matrix": report.matrix,
        "tokens": tokens_as_json(report.usage),
    }


def _group_as_json(group: GroupReport) -> dict[str, object]:
    judged, activating = len(group.judged), len(group.activating)
    return {
        **picked(group, "name", "tools", "offered", "verdict", "ended", "why"),
        "judged": judged,
        "activating": activating,
        "inconclusive": len(group.trials) - judged,
        **_rate_as_json(activating, judged),
        "requests": [
            {
                "request": trial.request,
                "verdict": "inconclusive" if not trial.is_usable else "failed" if trial.uses else "passed",
                **deeds_as_json(trial),
            }
            for trial in group.trials
        ],
        "tokens": tokens_as_json(group.usage),
        **picked(group, "seconds", "notes", "sandbox"),
    }


def _rate_as_json(count: int, total: int) -> dict[str, object]:
    return {"rate": count / total if total else None, "interval": list(wilson(count, total))}


def group_cells(group: GroupReport) -> tuple[str, ...]:
    """The numbers of a group, for `GROUP_HEADINGS`."""
    tried, judged = len(group.trials), len(group.judged)
    counts = len(group.tools), len(group.offered), tried, len(group.activating), tried - judged
    return tuple(map(str, counts))


def outcome_in_words(report: CrosstalkReport) -> str:
    if not report.judged:
        return "no request could be judged"
    low, high = wilson(report.activating, report.judged)
    said = f"{report.activating} of {counted(report.judged, 'request')} led to tools of other groups"
    share = f"{percent(report.activating / report.judged)}, 95 % interval {percent(low)} to {percent(high)}"
    return f"{said}: {share}"


def matrix_cells(report: CrosstalkReport) -> tuple[list[str], list[list[str]]]:
    """The groups called most often, and how often each group led to each of them."""
    counts = report.matrix
    totals = {name: sum(row[name] for row in counts.values()) for name in counts}
    shown = sorted((name for name in totals if totals[name]), key=lambda name: -totals[name])[:MOST_COLUMNS]
    rows = [
        [_name(group.name), *[str(counts[group.name][name] or "·") for name in shown]]
        for group in report.groups
    ]
    return [_name(name) for name in shown], rows


def tool_cells(tool: Activated) -> tuple[str, ...]:
    """A tool, its numbers for `TOOL_HEADINGS`, and the groups that the requests were meant for."""
    low, high = tool.interval
    rate, ends = percent(tool.requests / tool.judged), f"{percent(low)} to {percent(high)}"
    meant = ", ".join(f"{_name(group)} {count}" for group, count in tool.by_group.items())
    return _name(tool.tool), str(tool.calls), str(tool.requests), str(tool.judged), rate, ends, meant


def _requests(group: GroupReport, most: int) -> RenderableType:
    lines = list[RenderableType]()
    for trial in group.activating[:most]:
        lines.append(Text(plain(trial.request, LONGEST_REQUEST)))
        for use in trial.uses:
            call = f"{_name(use.tool)}({plain(use.arguments, LONGEST_REQUEST)})"
            lines.append(indented(call, "bold"))
    if (hidden := len(group.activating) - most) > 0:
        lines.append(Text(f"… and {hidden} more", style="dim"))
    return section(f"meant for {_name(group.name)}", Group(*lines))


def remarks(report: CrosstalkReport) -> list[str]:
    told = list[str]()
    for group in report.groups:
        reasons = [group.why] if group.why else []
        reasons += [trial.error or trial.ended for trial in group.trials if not trial.is_usable]
        reasons += group.notes
        reasons += ["stopped early"] if group.ended == "stopped" else []
        if reasons:
            said = "; ".join(plain(reason, LONGEST_REASON) for reason in dict.fromkeys(reasons))
            told.append(f"{_name(group.name)}: {said}")
    return told


def _name(name: str) -> str:
    return plain(name, LONGEST_NAME)


MOST = 4_000  # characters of a text
MOST_ON_PAGE = 500


def noise(report: CrosstalkReport) -> Iterator[Markup]:
    groups = [
        Row((text(group.name, 100), *group_cells(group)), "bad" if group.activating else "")
        for group in report.groups
    ]
    said = element("p", text(f"{outcome_in_words(report)}."))
    notes = [element("p", text(each), class_="caption") for each in remarks(report)]
    yield page_section("Groups", said, grid(("group", *GROUP_HEADINGS), groups), *notes)
    called = [tool for tool in report.tools if tool.requests]
    if not called:
        return
    names, rows = matrix_cells(report)
    yield page_section("Calls between groups", grid(("meant for", *names), map(Row, rows)))
    tools = [Row(tool_cells(tool)) for tool in called]
    yield page_section("Tools called by mistake", grid(("tool", *TOOL_HEADINGS, "meant for"), tools))
    led = [(group.name, trial) for group in report.groups for trial in group.activating]
    more = [element("p", f"… and {len(led) - MOST_ON_PAGE:,} more.", class_="dim")]
    shown = list[Markup]()
    for name, trial in led[:MOST_ON_PAGE]:
        tools_called = ", ".join(dict.fromkeys(use.tool for use in trial.uses))
        bad = element("b", text(tools_called, 200), class_="bad")
        head = element("summary", bad, " · ", lines(trial.request, MOST))
        did = [element("li", lines(line, MOST)) for line in trial_in_words(trial)]
        meant = element("p", "meant for ", text(name, 100))
        shown.append(element("details", head, meant, element("ol", *did)))
    yield page_section("Requests", *shown, *(more if len(led) > MOST_ON_PAGE else []))
