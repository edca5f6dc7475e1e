"""Natural requests that an earlier run has made for tools."""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from misstep.core.consistency import ConsistencyReport
from misstep.core.dice import Dice, derive_seed
from misstep.core.run_spec import RunKind
from misstep.errors import UsageError
from misstep.store.runs import Run, Store

MAKERS: tuple[RunKind, ...] = ("consistency", "fuzz")


class Asked(msgspec.Struct, frozen=True):
    """A request, and the tools that it was made for."""

    request: str
    tools: frozenset[str]


def find_maker(store: Store, name: str) -> Run:
    """The run with this name, if it is one that may have made requests; a `UsageError` if not."""
    run = store.find_run(name)
    if run.purpose.verb not in MAKERS:
        message = f"run {run.id} is from {run.purpose.command}, which makes no requests for tools"
        hint = "name a run of misstep tool consistency, or of misstep tool fuzz --agent"
        raise UsageError(message, hint, where=f"--from {name}")
    return run


def find_requests(store: Store, run: Run) -> list[Asked]:
    """All requests of a run, each once: one that was made for several tools needs all of them."""
    found = _of_sets(store, run.id) if run.purpose.verb == "consistency" else _of_passages(store, run.id)
    tools = dict[str, frozenset[str]]()
    for asked in found:
        tools[asked.request] = tools.get(asked.request, frozenset()) | asked.tools
    return [Asked(request, those) for request, those in tools.items()]


def draw_requests(asked: Sequence[Asked], tools: Collection[str], count: int, seed: int) -> tuple[str, ...]:
    """Up to so many of the requests that need nothing but these tools."""
    own = sorted(each.request for each in asked if each.tools <= {*tools})
    return tuple(Dice(derive_seed(seed, "crosstalk", *sorted(tools))).sample(own, min(count, len(own))))


def _of_sets(store: Store, run: str) -> Iterator[Asked]:
    for report in store.tool_documents(run, ConsistencyReport):
        for one in report.sets:
            yield from (Asked(request, frozenset({_bare(report.name)})) for request in one.requests)


def _of_passages(store: Store, run: str) -> Iterator[Asked]:
    for report in store.tool_reports(run):
        made_for = {each.id: frozenset(call.tool for call in each.calls) for each in report.findings}
        for passage in report.journey.passages if report.journey else ():
            tools = made_for.get(passage.finding, frozenset({_bare(report.name)}))
            yield from (Asked(request, tools) for request in passage.requests)


def _bare(name: str) -> str:
    """The name of a tool without the spec, which reports add where others have the same name."""
    return name.partition(" of ")[0]
