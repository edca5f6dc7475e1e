"""Shows tools, and remarks on their documentation."""

import json
import os
import time
from collections.abc import Sequence
from typing import Any

from msgspec import structs
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from misstep.core.results.report import Issue, ReportItem, RunReport, SourceLocation
from misstep.core.tool import Described
from misstep.fuzzing.lint.subject import LintedTool, LintReport, Remark
from misstep.rendering.layout import Trimmed, bare_table, section
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.rendering.trial import picked
from misstep.rendering.words import specs_in_short
from misstep.runs.execution import masked
from misstep.runs.reporting.items import NAME, TEXT, tool_item
from misstep.runs.reporting.statement import count_verdicts, items_of

LONGEST = 500  # characters of text from tools and schemas
STYLES = {"under": "yellow", "over": "cyan", "ill": "red"}
CLASSES = {"under": "underspecified", "over": "overspecified", "ill": "ill-specified"}


def lint_view(report: LintReport) -> RenderableType:
    """Each tool with remarks, and all of them; tools without remarks are counted."""
    parts: list[RenderableType] = [_tool_view(tool) for tool in report.tools if tool.remarks]
    quiet = sum(not tool.remarks for tool in report.tools)
    closing = f"{counted(len(report.tools), 'tool')}, {counted(len(report.remarks), 'remark')}"
    if quiet and report.remarks:
        closing += f", {quiet} without"
    return Trimmed(Group(*parts, Text(f"\n{closing}", style="bold" if report.remarks else "green")))


def _tool_view(tool: LintedTool) -> RenderableType:
    """A remark that applies to several parameters is shown once."""
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
    tools = [
        {"name": tool.name, "remarks": [_remark_as_json(remark) for remark in tool.remarks]}
        for tool in report.tools
    ]
    return {"tools": tools, "notes": list(report.notes)}


def _remark_as_json(remark: Remark) -> dict[str, str]:
    said = picked(remark, "where", "message", "evidence", "advice")
    return {"rule": remark.rule, "class": remark.fault, **said}


LONGEST_TYPE = 200  # characters of a description or of a type
MOST_CHOICES = 4  # values of an enum that are shown


def tools_view(tools: Sequence[Described]) -> RenderableType:
    return Group(Text(counted(len(tools), "tool"), style="bold"), *(_view(tool) for tool in tools))


def _view(tool: Described) -> RenderableType:
    lines = [Text(plain(_first_line(tool.tool.description), LONGEST_TYPE))] if tool.tool.description else []
    table = bare_table(headed=False)
    required = tool.tool.parameters.get("required", ())
    for name, schema in tool.tool.parameters["properties"].items():
        mark = Text("*" if name in required else "", style="bold")
        kind = Text(plain(type_in_short(schema), LONGEST_TYPE), style="cyan")
        said = schema.get("description") if isinstance(schema, dict) else None
        said = plain(_first_line(said), LONGEST_TYPE) if isinstance(said, str) else ""
        table.add_row(mark, Text(plain(name, LONGEST_TYPE)), kind, Text(said, style="dim"))
    facts = Text(" · ".join(_facts(tool)), style="dim")
    return section(plain(tool.name, LONGEST_TYPE), Group(*lines, table, facts))


def _facts(tool: Described) -> list[str]:
    facts: list[str] = [tool.kind, "async" if tool.is_async else ""]
    facts.append("output schema" if tool.output else "")
    promises = {
        "read-only": tool.promises.read_only,
        "destructive": tool.promises.destructive,
        "idempotent": tool.promises.idempotent,
        "open world": tool.promises.open_world,
    }
    facts += [word for word, promised in promises.items() if promised]
    facts.append(counted(len(tool.examples), "example") if tool.examples else "")
    if tool.source:
        near = os.path.relpath(tool.source.file)
        path = plain(tool.source.file if near.startswith("..") else near)
        facts.append(f"{path}:{tool.source.line}")
    else:
        facts.append(plain(tool.where))
    return [fact for fact in facts if fact]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def type_in_short(schema: Any, deep: int = 0) -> str:
    if not isinstance(schema, dict) or deep > 3:
        return "any"
    if isinstance(reference := schema.get("$ref"), str):
        return reference.rpartition("/")[2] or "object"
    if "const" in schema:
        return json.dumps(schema["const"])
    if isinstance(choices := schema.get("enum"), list):
        shown = [json.dumps(each) for each in choices[:MOST_CHOICES]]
        return " | ".join([*shown, "…"] if len(choices) > MOST_CHOICES else shown)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return " | ".join(dict.fromkeys(type_in_short(each, deep + 1) for each in schema[key]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(map(str, kind))
    if kind == "array":
        return f"array of {type_in_short(schema.get('items'), deep + 1)}"
    return str(kind) if kind else "any"


def state_lint(report: LintReport, specs: Sequence[str], passed: bool, seconds: float) -> RunReport:
    """A report on lint results, which are not stored."""
    entries = [masked(linted(tool)) for tool in report.tools]
    return RunReport(
        run="",
        command="tool lint",
        subject=specs_in_short(specs),
        model="",
        unit="tool",
        started=time.time() - seconds,
        seconds=seconds,
        counts=count_verdicts(entries),
        entries=items_of(entries),
        families=("lint",),
        passed=passed,
    )


def linted(tool: LintedTool) -> ReportItem:
    spot = SourceLocation(tool.file, tool.line) if tool.file else None
    flaws = list[Issue]()
    for remark in tool.remarks:
        told = {"evidence": plain(remark.evidence, TEXT), "what to do": plain(remark.advice, TEXT)}
        flaws.append(
            Issue(
                id=remark.where,
                rule=f"lint/{remark.rule}",
                title=f"{CLASSES[remark.fault]} {plain(remark.where, NAME)}",
                text=plain(remark.message, TEXT),
                identity="\0".join((tool.name, remark.rule, remark.where, remark.message)),
                subject=plain(tool.name, NAME),
                details={name: text for name, text in told.items() if text},
                spot=spot,
            )
        )
    return tool_item(tool.name, "failed" if flaws else "passed", 0.0, flaws)
