"""Shows defects of tools on the terminal and as JSON."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from misstep.core.results.finding import Cause, Finding, ranked
from misstep.core.results.fuzzing import BY_REQUEST, FuzzReport, ReachAttempt, Refusal, ToolReport
from misstep.core.results.trial import Judged
from misstep.core.tool import Frame, Invocation
from misstep.features.tool_fuzz import reach_view as reach
from misstep.features.tool_fuzz.verify import TriedVersion, Verified
from misstep.rendering.layout import Trimmed, beneath, indented, section
from misstep.rendering.terminal import counted, percent
from misstep.rendering.text import plain
from misstep.rendering.trial import picked, read_arguments, richness_as_json, unanswered, written_call

WIDE = 78  # columns of a terminal
NARROW = 3  # columns of the table on a narrower terminal
MOST_PLACES = 20  # of one cause
LONGEST_REFUSAL = 200  # characters
MOST_NAMED = 10  # tools that were not tested
FEW_CAUSES = 4  # are seen at a glance without a list of them
MOST_MISSED = 6  # places in the code that were never reached
Column: TypeAlias = Callable[[ToolReport], Text | str]

MINOR = "minor: takes values that hardly anybody sends, or passes on what the system or a library refuses"
UNCONFIRMED = "not confirmed: seen while fuzzing, but there was no time to replay it"

STYLES = {
    **dict.fromkeys(("crash", "hang", "blow-up", "security"), "red"),
    **dict.fromkeys(("protocol", "contract"), "magenta"),
}
ENDINGS = {"exhausted": "nothing more to try", "stopped": "stopped early"}


def fuzz_view(report: FuzzReport, again: str, place: str = "") -> RenderableType:
    """`again` and `place` come before and after a finding in the command that replays it."""
    unclear = any(tool.journey and tool.journey.unclear for tool in report.tools)
    doubtful = unclear or report.unconfirmed or report.untested
    style = "bold" if report.findings else "yellow" if doubtful else "green"
    causes = report.causes
    parts: list[RenderableType] = [Text(headline(report), style=style)]
    leading = [cause for cause in causes if not cause.findings[0].is_minor]
    if len(leading) > FEW_CAUSES:
        parts += [Text(in_one_line(cause), no_wrap=True, overflow="ellipsis") for cause in leading]
    for cause in leading:
        first = cause.findings[0]
        parts += [Text(), finding_view(first)]
        parts += [indented(line) for line in other_places(cause)]
        parts.append(indented(f"Replay: {again}/{first.id}{place}", "dim"))
    if minor := [Text(in_one_line(cause)) for cause in causes if cause.findings[0].is_minor]:
        parts.append(section(MINOR, Group(*minor, Text(f"Replay one: {again}/ID{place}", style="dim"))))
    if report.unconfirmed:
        waiting = [
            Group(finding_view(each), indented(f"Replay: {again}/{each.id}{place}", "dim"))
            for each in report.unconfirmed
        ]
        parts.append(section(UNCONFIRMED, Group(*waiting)))
    if any(tool.journey for tool in report.tools):
        parts.append(reach.journeys_view(report.tools))
    parts += _refusals_view(report)
    parts.append(Text(f"\n{validation_in_words(report)}\n", style="yellow" if report.untested else ""))
    parts.append(ToolsTable(report.tools))
    parts += beneath([(tool.name, tool.sandbox, remarks(tool)) for tool in report.tools])
    return Trimmed(Group(*parts))


def headline(report: FuzzReport) -> str:
    found, waiting = len(report.findings), len(report.unconfirmed)
    unclear = sum(tool.journey.unclear for tool in report.tools if tool.journey)
    tools = len({each.tool for each in report.findings})
    defects = f"{counted(len(report.causes), 'defect')} in {counted(tools, 'tool')}"
    told = [defects if found else "no defects found"]
    told += [f"{waiting} not confirmed"] if waiting else []
    told += [f"{unclear} could not be judged"] if unclear and not found else []
    told += [f"{counted(len(report.untested), 'tool')} not tested"] if report.untested and not found else []
    return "; ".join(told)


def in_one_line(cause: Cause) -> str:
    """A cause as an item of a list, with the id of its first finding."""
    first, others = cause.findings[0], len(cause.findings) - 1
    more = f" and {counted(others, 'more place')}" if others else ""
    said = plain(first.message, 100) if first.message else plain(first.why, 100)
    return f"{first.id}  {first.kind}  {plain(first.error, 60)} in {plain(first.tool, 60)}{more}: {said}"


def other_places(cause: Cause) -> list[str]:
    """The places of a cause except the first, each with the tool and the id of the finding."""
    others = [f"{plain(each.tool, 100)} ({each.id})" for each in cause.findings[1:]]
    if not others:
        return []
    more = f", and {len(others) - MOST_PLACES} more" if len(others) > MOST_PLACES else ""
    return [f"same cause at {counted(len(others), 'more place')}: {', '.join(others[:MOST_PLACES])}{more}"]


def validation_in_words(report: FuzzReport) -> str:
    """How many calls passed validation, in which tools fewer than half did, and which were not tested."""
    accepted = sum(tool.accepted for tool in report.tools)
    calls = sum(tool.calls for tool in report.tools)
    told = [f"{accepted:,} of {calls:,} calls got past validation"]
    if few := [tool.name for tool in report.tools if is_mostly_refused(tool)]:
        told.append(f"fewer than half in {len(few)}: {_listed(few)}")
    if report.untested:
        told.append(f"{len(report.untested)} not tested: {_listed([tool.name for tool in report.untested])}")
    return "; ".join(told)


def is_mostly_refused(tool: ToolReport) -> bool:
    """Whether fewer than half of a tool's calls got past validation."""
    return tool.is_tested and 2 * tool.accepted < tool.calls


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(plain(name, 100) for name in names[:MOST_NAMED])}{more}"


def not_tested(tool: ToolReport) -> str:
    if not tool.calls:
        return "not tested: no call was made"
    if not tool.refused:
        return f"not tested: all {tool.calls:,} calls failed because of the environment"
    rest = " or failed because something is missing in the environment" if tool.environment else ""
    return f"not tested: all {tool.calls:,} calls were refused{rest}"


def refusals_in_words(tool: ToolReport) -> list[tuple[str, str]]:
    """The most frequent refusals of valid calls: how many, the message, and an example call."""
    told = list[tuple[str, str]]()
    for each in tool.frequent_refusals:
        share = counted(each.seen, "call")
        if tool.valid:
            share = f"{percent(each.seen / tool.valid)} of valid calls"
        said = f"{each.error}: {each.message}" if each.error else each.message
        call = written_call(Invocation(each.tool, each.arguments))
        told.append((f"{share}: {plain(said, LONGEST_REFUSAL)}", call))
    return told


def accepted_in_words(tool: ToolReport) -> str:
    return f"{plain(tool.name, 100)}: {tool.accepted:,} of {counted(tool.calls, 'call')} got past validation"


def _refusals_view(report: FuzzReport) -> list[RenderableType]:
    lines = list[RenderableType]()
    for tool in report.tools:
        if refused := refusals_in_words(tool):
            lines.append(Text(accepted_in_words(tool), style="yellow" if is_mostly_refused(tool) else ""))
        for words, call in refused:
            lines += [indented(words), indented(call, "dim", 4)]
    return [section("most frequent refusals", Group(*lines))] if lines else []


def finding_view(finding: Finding) -> RenderableType:
    head = Text(finding.kind, style=STYLES.get(finding.kind, "yellow"))
    head.append(f"  {plain(finding.error, 100)}", style="bold")
    head.append(f"  {plain(finding.where, 200) or f'in {plain(finding.tool, 100)}'}")
    lines = [Text(written_call(call), style="bold") for call in finding.calls]
    if finding.message:
        lines.append(Text(plain(finding.message, 500)))
    if finding.request:
        lines.append(Text(f"asked for with: {plain(finding.request, 500)}", style="cyan"))
    lines += [Text(plain(finding.why, 500), style="dim"), Text(history(finding), style="dim")]
    return Trimmed(Group(head, Padding(Group(*lines), (0, 0, 0, 2))))


def judged_view(judged: Judged) -> RenderableType:
    style = STYLES.get(judged.ruling, "green" if judged.ruling in ("fine", "refused") else "yellow")
    head = Text("now: ").append(judged.ruling, style=style)
    if judged.error:
        where = f" at {plain(judged.where, 200)}" if judged.where else ""
        head.append(f"  {plain(judged.error, 100)}{where}")
    said = [indented(plain(text, 500), "dim") for text in (judged.message, judged.why) if text]
    return Trimmed(Group(head, *said))


OUTCOMES = {"still there": "red", "gone": "green"}


def verified_view(verified: Verified, against: str) -> RenderableType:
    head = Text(verified.outcome, style=OUTCOMES.get(verified.outcome, "yellow"))
    head.append(f" in {plain(against, 200)}: {plain(verified.why, 500)}")
    tried = [
        indented(tried_in_words(name, each), "dim")
        for name, each in (("original", verified.original), (against, verified.other))
        if each.judged
    ]
    return Trimmed(Group(finding_view(verified.finding), Text(), head, *tried))


def tried_in_words(name: str, tried: TriedVersion) -> str:
    rulings = Counter(each.ruling for each in tried.judged)
    told = ", ".join(f"{ruling} {counted(count, 'time')}" for ruling, count in rulings.items())
    servers = f" ({plain(', '.join(tried.servers), 300)})" if tried.servers else ""
    return f"{plain(name, 200)}{servers}: {told}"


def verified_as_json(verified: Verified, against: str) -> dict[str, object]:
    return {
        "finding": finding_as_json(verified.finding),
        "against": against,
        **picked(verified, "outcome", "why"),
        "original": _tried_as_json(verified.original, verified.finding),
        "other": _tried_as_json(verified.other, verified.finding),
    }


def _tried_as_json(tried: TriedVersion, finding: Finding) -> dict[str, object]:
    judged = [picked(each, "ruling", "error", "where", "message", "why") for each in tried.judged]
    return {**picked(tried, "servers", "problem"), "shown": tried.shown(finding), "tries": judged}


def finding_detail(finding: Finding, passage: ReachAttempt | None) -> RenderableType:
    """The same with the calls that first showed it, the traceback, and the result through the agent."""
    parts: list[RenderableType] = [finding_view(finding)]
    if finding.original != finding.calls:
        first = Group(*[Text(written_call(call)) for call in finding.original])
        parts.append(section("first seen with", first))
    if finding.frames:
        parts.append(section("traceback", Group(*map(_frame_view, finding.frames))))
    if passage is not None:
        parts.append(reach.passage_view(passage))
    return Trimmed(Group(*parts))


def _frame_view(frame: Frame) -> RenderableType:
    place = Text(plain(f"{frame.file}:{frame.line} in {frame.function}"), style="" if frame.own else "dim")
    return Group(place, Padding(Text(plain(frame.text, 200)), (0, 0, 0, 2))) if frame.text else place


class ToolsTable:
    """A line for each tool; on a narrow terminal, the last columns are left out."""

    def __init__(self, tools: Sequence[ToolReport]) -> None:
        self._tools = tools

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = COLUMNS if options.max_width >= WIDE else COLUMNS[:NARROW]
        rows = [(tool.name, [cell(tool) for _, cell in columns]) for tool in self._tools]
        yield reach.tools_table([heading for heading, _ in columns], rows)


def found(tool: ToolReport) -> Text:
    if not tool.is_tested and not tool.findings:
        return Text("untested", style="yellow")
    return Text(str(tool.unique_errors), style="red" if tool.findings else "green")


def in_all(tool: ToolReport) -> str:
    return reach.estimate(tool.in_all)


def calls_each(tool: ToolReport) -> str:
    return "–" if tool.calls_per_error is None else f"{tool.calls_per_error:,.0f}"


def lines_run(tool: ToolReport) -> str:
    return f"{tool.reach.lines}/{tool.reach.total}" if tool.reach and tool.reach.total else "–"


def remarks(tool: ToolReport) -> list[str]:
    """What prevented tests, and code that was never reached."""
    told = [] if tool.is_tested else [not_tested(tool)]
    told += [*tool.notes, *filter(None, [ENDINGS.get(tool.ended)])]
    told += unanswered([trial for journey in reach.journeys_of([tool]) for trial in journey.attempts])
    if tool.reach and (missed := tool.reach.missed):
        more = f", and {len(missed) - MOST_MISSED} more" if len(missed) > MOST_MISSED else ""
        told.append(f"never reached: {', '.join(missed[:MOST_MISSED])}{more}")
    return told


def history(finding: Finding) -> str:
    after = f"after {counted(finding.found_after, 'call')}"
    how = f"by {BY_REQUEST}" if finding.origin == BY_REQUEST else after
    often = f"seen {counted(finding.seen, 'time')}" if finding.seen > 1 else "seen once"
    replays = f"{finding.reproduced} of {counted(finding.replayed, 'time')}"
    doubt = f", but only {replays} from a fresh start" if finding.replayed != finding.reproduced else ""
    return f"found {how}, {often}{doubt if finding.replayed else ', not confirmed yet'}"


def as_json(report: FuzzReport) -> dict[str, object]:
    causes = report.causes
    ids = cause_ids(causes)
    return {
        "run": report.run,
        "calls": sum(tool.calls for tool in report.tools),
        "accepted": sum(tool.accepted for tool in report.tools),
        "mostly_refused": [tool.name for tool in report.tools if is_mostly_refused(tool)],
        "untested": [tool.name for tool in report.untested],
        "specs": list(report.specs),
        "seconds": round(report.seconds, 3),
        "unique_errors": len(report.findings),
        "unconfirmed": len(report.unconfirmed),
        "causes": [_cause_as_json(cause) for cause in causes],
        "tools": [_tool_as_json(tool, ids) for tool in report.tools],
    }


def _cause_as_json(cause: Cause) -> dict[str, object]:
    first = cause.findings[0]
    return {
        "id": cause.id,
        **picked(first, "kind", "error", "where", "message"),
        "minor": first.is_minor,
        "places": [{"tool": each.tool, "finding": each.id} for each in cause.findings],
    }


def cause_ids(causes: Iterable[Cause]) -> dict[str, str]:
    """The ids of causes by those of their findings."""
    return {finding.id: cause.id for cause in causes for finding in cause.findings}


def _tool_as_json(tool: ToolReport, causes: Mapping[str, str]) -> dict[str, object]:
    def told(findings: Iterable[Finding]) -> list[dict[str, object]]:
        return [finding_as_json(each, causes.get(each.id, "")) for each in ranked(findings)]

    return {
        **picked(tool, "name", "calls", "accepted", "valid"),
        "tested": tool.is_tested,
        **picked(tool, "unique_errors", "calls_per_error"),
        "chao1": richness_as_json(tool.in_all),
        "findings": told(tool.findings),
        "unconfirmed": told(tool.unconfirmed),
        "refused": tool.refused,
        "refusals": [_refusal_as_json(refusal, tool) for refusal in tool.frequent_refusals],
        **picked(tool, "environment", "triage_calls"),
        "seconds": round(tool.seconds, 3),
        "reach": tool.reach and picked(tool.reach, "lines", "total", "missed"),
        "corpus": len(tool.corpus),
        **picked(tool, "ended", "notes", "sandbox"),
        **({"through_agent": reach.journey_as_json(tool.journey)} if tool.journey else {}),
    }


def _refusal_as_json(refusal: Refusal, tool: ToolReport) -> dict[str, object]:
    """`share` is relative to the calls with arguments that fit the schema."""
    return {
        **picked(refusal, "tool", "error", "message", "where"),
        "arguments": read_arguments(refusal.arguments),
        "seen": refusal.seen,
        "share": refusal.seen / tool.valid if tool.valid else None,
    }


def finding_as_json(finding: Finding, cause: str = "") -> dict[str, object]:
    """`arguments` are those of the call that shows the defect, `calls` all that are needed."""
    calls = [
        {"tool": call.tool, "arguments": read_arguments(call.arguments)}
        | ({} if call.sent == "in turn" else {"sent": call.sent})
        for call in finding.calls
    ]
    return {
        **picked(finding, "id", "tool", "kind", "error", "where", "message", "why"),
        "arguments": calls[-1]["arguments"] if calls else {},
        "calls": calls,
        **picked(finding, "found_after", "seen", "replayed", "reproduced", "origin", "request"),
        "cause": cause or finding.cause,
        "confirmed": finding.reproduced > 0,
    }


# The most informative first.
COLUMNS: Sequence[tuple[str, Column]] = (
    ("calls", lambda tool: f"{tool.calls:,}"),
    ("found", found),
    ("refused", lambda tool: f"{tool.refused:,}"),
    ("calls each", calls_each),
    ("est. total", in_all),
    ("env.", lambda tool: f"{tool.environment:,}"),
    ("lines run", lines_run),
)
