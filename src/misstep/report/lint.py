"""Remarks on the documentation of tools as rich renderables."""

from msgspec import structs
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from misstep.core.remark import LintedTool, LintReport, Remark
from misstep.report.layout import Trimmed, section
from misstep.report.terminal import counted
from misstep.report.text import plain

LONGEST = 500  # characters of what tools and schemas say
STYLES = {"under": "yellow", "over": "cyan", "ill": "red"}
CLASSES = {"under": "underspecified", "over": "overspecified", "ill": "ill-specified"}


def lint_view(report: LintReport) -> RenderableType:
    """Each tool that there is something to say about, with all of that; what was fine is counted."""
    parts: list[RenderableType] = [_tool_view(tool) for tool in report.tools if tool.remarks]
    quiet = sum(not tool.remarks for tool in report.tools)
    closing = f"{counted(len(report.tools), 'tool')}, {counted(len(report.remarks), 'remark')}"
    if quiet and report.remarks:
        closing += f", {quiet} without"
    return Trimmed(Group(*parts, Text(f"\n{closing}", style="bold" if report.remarks else "green")))


def _tool_view(tool: LintedTool) -> RenderableType:
    """What is to be said about several parameters alike is said once."""
    alike = dict[Remark, list[str]]()
    for remark in tool.remarks:
        alike.setdefault(structs.replace(remark, where=""), []).append(remark.where)
    views = [_remark_view(remark, ", ".join(where)) for remark, where in alike.items()]
    return section(plain(tool.name, 100), Group(*views))


def _remark_view(remark: Remark, where: str) -> RenderableType:
    head = Text(CLASSES[remark.fault], style=STYLES[remark.fault])
    head.append(f"  {plain(where, LONGEST)}", style="bold")
    lines = [Text(plain(remark.message, LONGEST))]
    if remark.evidence:
        lines.append(Text(plain(remark.evidence, LONGEST), style="dim"))
    lines.append(Text(f"→ {plain(remark.advice, LONGEST)}", style="dim"))
    return Group(head, Padding(Group(*lines), (0, 0, 0, 2)))


def lint_as_json(report: LintReport) -> dict[str, object]:
    """What `--json` prints."""
    tools = [
        {"name": tool.name, "remarks": [_remark_as_json(remark) for remark in tool.remarks]}
        for tool in report.tools
    ]
    return {"tools": tools, "notes": list(report.notes)}


def _remark_as_json(remark: Remark) -> dict[str, str]:
    return {
        "rule": remark.rule,
        "class": remark.fault,
        "where": remark.where,
        "message": remark.message,
        "evidence": remark.evidence,
        "advice": remark.advice,
    }
