"""Inputs that an earlier run on tools has kept, to start a later one from."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from misstep.core.finding import ToolReport
from misstep.core.run_spec import RunSpec
from misstep.core.tool import Invocation
from misstep.errors import StoreError, UsageError
from misstep.store.runs import Run, Store


class SeedCorpus:
    """The smallest calls of an earlier run's findings, then the calls of its corpora."""

    def __init__(self, reports: Iterable[ToolReport] = ()) -> None:
        told = sorted(reports, key=lambda report: report.place)
        shown = [
            _written(finding.calls) for report in told for finding in (*report.findings, *report.unconfirmed)
        ]
        kept = [text for report in told for text in report.corpus]
        self._calls = {text: _tools_of(text) for text in (*shown, *kept)}

    def for_tools(self, tools: Sequence[str]) -> list[str]:
        """The calls of one tool; of several, those in which more than one of them has a part."""
        least = min(len(tools), 2)
        return [text for text, called in self._calls.items() if called <= {*tools} and len(called) >= least]


def find_keeper(store: Store, name: str) -> Run:
    """The run with this name, if it is one on tools; a `UsageError` if not."""
    run = store.find_run(name)
    if run.purpose.verb != "fuzz":
        ours = RunSpec("fuzz").command
        message = f"run {run.id} is not from {ours}, but from {run.purpose.command}"
        raise UsageError(message, f"name a run of misstep {ours}", where=f"--from {name}")
    return run


def find_seed_corpus(store: Store, name: str) -> SeedCorpus:
    """What the run with this name has left; nothing without a name."""
    if not name:
        return SeedCorpus()
    run = find_keeper(store, name).id
    try:
        return SeedCorpus(store.tool_reports(run))
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"run {run} is damaged", f"calls that it kept: {error}", where=store.location
        ) from error


def _written(calls: Sequence[Invocation]) -> str:
    """The calls as a corpus has them."""
    return json.dumps([{"tool": call.tool, "arguments": json.loads(call.arguments)} for call in calls])


class _Kept(msgspec.Struct):
    """A call of a corpus."""

    tool: str
    arguments: dict[str, Any]


def _tools_of(text: str) -> set[str]:
    return {call.tool for call in msgspec.json.decode(text, type=list[_Kept])}
