"""The items of a report: cases, tools and tasks with their issues and source locations."""

import ast
import os
import shlex
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from misstep.core.outcome import Judgement, Outcome
from misstep.core.results.finding import Finding
from misstep.core.results.report import Issue, ReportItem, SourceLocation
from misstep.core.settings import StoreSettings
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.rendering.words import written
from misstep.schemas.source import parse_module
from misstep.store.runs import Run, Store
from misstep.store.trust import is_trusted

LARGEST = 2 << 20  # bytes of a file that is read


class ReportSource(msgspec.Struct, frozen=True):
    """Where items come from: the run, and the part of a command that names the store."""

    run: Run
    place: str

    def replay(self, part: str) -> str:
        return replay(self.run.id, part, self.place)

    @property
    def show(self) -> str:
        return f"misstep show {self.run.id}{self.place}"

    def spot_of_finding(self, finding: Finding) -> SourceLocation | None:
        """The innermost frame of the tool's own code in the traceback; else where the tool is defined."""
        seen = os.path.isfile if is_trusted(self.run) else _is_below
        own = [frame for frame in finding.frames if frame.own and seen(frame.file)]
        line = finding.where.partition(" in ")[0].rpartition(":")[2]  # as in `file.py:12 in f`
        told = [frame for frame in own if str(frame.line) == line]
        if own:
            place = (told or own)[-1]
            return SourceLocation(os.path.abspath(place.file), max(1, place.line))
        return self.spot_of_name([finding.spec], finding.tool)

    def spot_of_name(self, specs: list[str], name: str) -> SourceLocation | None:
        """Where something named by one of the specs is defined, `file.py:name` or `package.module:name`.

        Unknown for a run from elsewhere, whose files are not read.
        """
        found = [(path, own) for path, own in map(_file_of, specs) if path] if is_trusted(self.run) else []
        for path, _ in found:
            if line := _definitions(path).get(name):
                return SourceLocation(path, line)
        if len(found) != 1:
            return None
        path, own = found[0]
        return SourceLocation(path, _definitions(path).get(own, 1))


def replay(run: str, part: str, place: str) -> str:
    return f"misstep replay {shlex.quote(plain(f'{run}/{part}'))}{place}"


def _is_below(path: str) -> bool:
    """Whether a path is below the current folder; the file system is not accessed."""
    return os.path.abspath(path).startswith(os.path.join(os.getcwd(), ""))


def _file_of(spec: str) -> tuple[str, str]:
    """The file that a spec names, as an absolute path, and the name in it."""
    place, _, name = spec.rpartition(":")
    for path in (place, f"{place.replace('.', os.sep)}.py"):
        if path.endswith(".py") and os.path.isfile(path):
            return os.path.abspath(path), name
    return "", ""


@lru_cache(maxsize=64)
def _definitions(path: str) -> dict[str, int]:
    try:
        if os.path.getsize(path) > LARGEST:
            return {}
        with open(path, "rb") as file:
            tree = parse_module(file.read())
    except (OSError, MemoryError):
        return {}
    found = dict[str, int]()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.setdefault(node.name, node.lineno)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, node.lineno)
    return found


REQUEST = 4_000  # characters
TEXT = 2_000


def cases(settings: StoreSettings, home: ReportSource, verdict: Judgement | None) -> Iterator[ReportItem]:
    """The cases of a run, a few in memory at a time."""
    spot = spot_of_agent(home)
    with Store(settings.store) as store:
        for outcome in store.outcomes(home.run.id, verdict):
            yield entry_of(outcome, home, spot)


def spot_of_agent(home: ReportSource) -> SourceLocation | None:
    return home.spot_of_name([home.run.settings.agent], "")


def entry_of(outcome: Outcome, home: ReportSource, spot: SourceLocation | None) -> ReportItem:
    case, verdict = outcome.case, outcome.verdict
    failed = verdict.verdict == "failed"
    return ReportItem(
        id=case.id,
        name=f"{plain(case.id, 100)} ({counted(len(case.actions), 'action')})",
        group=plain(case.topic, 100),
        verdict=verdict.verdict,
        seconds=outcome.seconds,
        reason="" if failed or verdict.verdict == "passed" else plain(verdict.explanation, TEXT),
        flaws=(_issue_of_outcome(outcome, home, spot),) if failed else (),
    )


def _issue_of_outcome(outcome: Outcome, home: ReportSource, spot: SourceLocation | None) -> Issue:
    case, verdict = outcome.case, outcome.verdict
    kind = verdict.error or "failed"
    step = f" at step {verdict.step}" if verdict.step else ""
    calls, misstep = outcome.transcript.calls, ""
    if verdict.step and verdict.step <= len(calls):
        call = calls[verdict.step - 1]
        misstep = f"step {verdict.step}, {written(call.tool, call.arguments)}"
    tools = {action.id: plain(action.tool, 100) for action in case.actions}
    nearest = " → ".join(tools[action] for action in verdict.nearest)
    details = {"nearest correct plan": nearest, "request": case.query[:REQUEST]}
    return Issue(
        id=case.id,
        rule=f"plan/{kind}",
        title=f"{kind}{step}",
        text=plain(verdict.explanation, TEXT),
        identity="\0".join((case.id, kind)),
        subject=plain(home.run.settings.agent, 200),
        misstep=misstep,
        details={name: text for name, text in details.items() if text},
        replay=home.replay(case.id),
        spot=spot,
    )


NAME = 200


def tool_item(
    name: str, verdict: Judgement, seconds: float, flaws: list[Issue], reason: str = ""
) -> ReportItem:
    """A tool, or something counted like one, with its issues; a reason if it could not be judged."""
    unclear = verdict in ("inconclusive", "errored")
    return ReportItem(
        id=name,
        name=plain(name, NAME),
        group="tools",
        verdict=verdict,
        seconds=seconds,
        reason=plain(reason, TEXT) if unclear else "",
        flaws=tuple(flaws),
    )
