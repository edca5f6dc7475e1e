"""Writes a run as JUnit XML, which Jenkins, GitLab and GitHub actions read."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from misstep.core.results.report import Issue, ReportItem, RunReport
from misstep.core.text import cut
from misstep.rendering.comparison import baseline_sentence
from misstep.rendering.terminal import BASELINES
from misstep.rendering.text import plain, plain_lines

MESSAGE = 300  # characters
BODY = 20_000
_NOT_XML = re.compile("[\ufffe\uffff]")


def junit(statement: RunReport) -> Iterator[str]:
    """The document in pieces, holding only one entry at a time in memory."""
    counts = dict(statement.counts)
    extra = int(bool(statement.unfinished))
    tests = statement.total + extra
    tally = {
        "tests": str(tests),
        "failures": str(counts["failed"]),
        "errors": str(counts["errored"] + extra),
        "time": _time(statement.seconds),
    }
    name = f"misstep {statement.command} {statement.subject}".strip()
    stamp = datetime.fromtimestamp(statement.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{_attributes(name=name, **tally)}>\n"
    suite = _attributes(name=name, **tally, skipped=str(counts["inconclusive"]), timestamp=stamp)
    yield f"<testsuite{suite}>\n"
    yield f"<properties>\n{''.join(_properties(statement))}</properties>\n"
    prefix = f"misstep.{statement.command.replace(' ', '.')}"
    if statement.unfinished:
        error = _element("error", "unfinished", statement.unfinished, "")
        yield _case(prefix, "the run as a whole", 0.0, error)
    for entry in statement.entries(None):
        # Readers take the part after the last dot as a class name and the part before as a package.
        group = f"{prefix}.{entry.group.replace('.', '·')}" if entry.group else prefix
        told = escape(_safe("\n".join(each.words for each in entry.unconfirmed)))
        more = f"<system-out>{told}</system-out>" if told else ""
        yield _case(group, entry.name, entry.seconds, _ending(entry) + more)
    yield "</testsuite>\n</testsuites>\n"


def _case(group: str, name: str, seconds: float, inside: str) -> str:
    head = f"<testcase{_attributes(name=name, classname=group, time=_time(seconds))}"
    return f"{head}>{inside}</testcase>\n" if inside else f"{head}/>\n"


def _ending(entry: ReportItem) -> str:
    match entry.verdict:
        case "passed":
            return ""
        case "failed":
            kinds = ", ".join(dict.fromkeys(flaw.rule for flaw in entry.flaws))
            message = "; ".join(flaw.title for flaw in entry.flaws)
            return _element("failure", kinds, message, "\n\n".join(map(_told, entry.flaws)))
        case "inconclusive":
            return _element("skipped", "inconclusive", entry.reason or "it could not be judged", "")
        case "errored":
            return _element("error", "errored", entry.reason or "it could not be run", entry.reason)


def _told(flaw: Issue) -> str:
    lines = [flaw.title, flaw.text]
    if flaw.misstep:
        lines.append(f"misstep: {flaw.misstep}")
    lines += [f"call: {call}" for call in flaw.calls]
    lines += [f"{name}: {text}" for name, text in flaw.details.items()]
    if flaw.spot:
        lines.append(f"in: {flaw.spot.file}:{flaw.spot.line}")
    told = cut("\n".join(filter(None, lines)), BODY)
    return f"{told}\nReplay: {flaw.replay}" if flaw.replay else told


def _element(name: str, kind: str, message: str, body: str) -> str:
    return f"<{name}{_attributes(message=plain(message, MESSAGE), type=kind)}>{escape(_safe(body))}</{name}>"


def _properties(statement: RunReport) -> Iterator[str]:
    summary = statement.summary
    told = {
        "run": statement.run,
        "model": statement.model,
        "success": "" if summary is None or summary.success is None else f"{summary.success:.4f}",
        "interval": f"{summary.interval[0]:.4f} to {summary.interval[1]:.4f}" if summary else "",
        "chance": "" if summary is None or summary.chance is None else f"{summary.chance:.4f}",
        **{
            field: f"{getattr(summary.baselines, field):.4f}"
            for field in BASELINES
            if summary and summary.baselines
        },
        "baseline": baseline_sentence(statement.held) if statement.held else "",
    }
    for name, value in told.items():
        if value:
            yield f"<property{_attributes(name=name, value=value)}/>\n"


def _attributes(**given: str) -> str:
    return "".join(f" {name}={quoteattr(_safe(value))}" for name, value in given.items())


def _safe(text: str) -> str:
    """The text with characters escaped that XML forbids."""
    return _NOT_XML.sub("\ufffd", plain_lines(text, 2 * BODY))


def _time(seconds: float) -> str:
    return f"{max(0.0, seconds):.3f}"
