"""Tests through an agent whether tools answer paraphrases alike."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import date
from typing import Literal, TypeAlias

from msgspec import structs

from misstep.core.results.consistency import ConsistencyReport, Means, PromptSet, set_id
from misstep.core.settings import Settings
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.fuzzing.agent_tests.parties import AgentTrials, Models
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.fuzzing.consistency.buckets import normaliser
from misstep.fuzzing.consistency.inquiry import ask_for_wrong_answers, examine_set
from misstep.fuzzing.consistency.making import Approach, make_sets
from misstep.runs.budget import RunBudget
from misstep.runs.setup.agent_session import MARK, AgentSession, Over, UsageMeter, refuse_unreachable, unless
from misstep.runs.setup.models import Tell
from misstep.runs.setup.roles import LateTolerantModels
from misstep.runs.setup.workbenches import Target, Workbenches
from misstep.tool_host.host import ToolHost

SETS = 5  # for each tool by default
MOST_CONTEXT = 20_000  # characters
LOST = "could not be tested any further"

Ended: TypeAlias = Literal["done", "time", "stopped"]
News: TypeAlias = ConsistencyReport | tuple[str, PromptSet]  # a set comes with the name of its tool


def means_of(settings: Settings) -> Means:
    return "sets" if settings.tool_method == "toolfuzz" else settings.tool_method


def approach_of(settings: Settings) -> Approach:
    """How these settings want sets to be made and judged; reads the context file."""
    normalise = normaliser(date.today()) if settings.normalise else None
    return Approach(settings.checks, settings.variants, _read_context(settings.context), normalise)


class Questioner:
    """Tests tools and reports the results; several threads may call it at a time.

    `lost` are specs whose tools can't be loaded any more, and why; their remaining work is not done.
    """

    def __init__(
        self, benches: Workbenches, settings: Settings, prompts: Prompts, run_budget: RunBudget, tell: Tell
    ) -> None:
        self._benches = benches
        self._settings = settings
        self._run_budget = run_budget
        self._agent_session = AgentSession(settings, prompts, run_budget, tell)
        self._approach = approach_of(settings)
        self._lock = threading.Lock()
        self.lost = dict[str, str]()

    def examine(self, target: Target, before: ConsistencyReport | None, tell: Callable[[News], None]) -> None:
        """Test a tool until done, starting from where it was stopped `before`."""
        report = _begun(target, before, self._settings)
        progress = _Progress(report, UsageMeter(self._run_budget), self._agent_session)
        if target.spec not in self.lost:
            try:
                with self._benches.lend(target.spec) as bench:
                    asyncio.run(self._examine(bench, target, progress, tell))
                return
            except UsageError as error:  # its tools are missing or have changed
                with self._lock:
                    self.lost.setdefault(target.spec, f"{LOST}: {error.message}")
        report = progress.report("stopped")
        tell(structs.replace(report, notes=(*report.notes, self.lost[target.spec])))

    async def _examine(
        self, bench: ToolHost, target: Target, progress: "_Progress", tell: Callable[[News], None]
    ) -> None:
        tool = target.among(bench.tools)[0]
        progress.sandbox = bench.sandbox.words
        until = time.monotonic() + self._settings.time_per_tool - progress.before.seconds
        bench.heed(lambda: self._agent_session.is_over() or time.monotonic() >= until)
        ended: Ended = "stopped"
        try:
            async with (
                self._agent_session.gathered(bench, progress.usage_meter) as (models, trier),
                aclosing(self._sets(tool, LateTolerantModels(models), trier, progress)) as sets,
            ):
                progress.oddities = trier.notes
                while found := await unless(self._agent_session.is_over, anext(sets, None), until):
                    refuse_unreachable(found.trials)
                    found = _titled(found, target)
                    progress.sets.append(found)
                    tell(progress.report("stopped"))
                    tell((target.name, found))
            ended = "done"
        except Over:
            pass
        except TimeoutError:
            ended = "time"
        finally:
            tell(progress.report(ended))

    async def _sets(
        self, tool: Described, models: Models, trials: AgentTrials, progress: "_Progress"
    ) -> AsyncGenerator[PromptSet]:
        means, before, ideas = means_of(self._settings), list(progress.sets), progress.ideas
        count = (self._settings.count or SETS) - len(before)
        if means == "sets":
            made = make_sets(tool, models, self._approach, count, before, ideas)
            async with aclosing(made) as drafts:
                async for draft in drafts:
                    yield await examine_set(draft, tool, models, trials, self._approach)
            return
        asked = ask_for_wrong_answers(means, tool, models, trials, count, before, ideas)
        async with aclosing(asked) as found:
            async for each in found:
                yield each


class _Progress:
    """The progress of the tests of one tool."""

    def __init__(
        self, before: ConsistencyReport, usage_meter: UsageMeter, agent_session: AgentSession
    ) -> None:
        self.before = before
        self.usage_meter = usage_meter
        self.sets = list(before.sets)
        self.ideas = list(before.ideas)
        self.sandbox = before.sandbox
        self.oddities = list[str]()
        self._agent_session = agent_session
        self._began = time.monotonic()

    def report(self, ended: Ended) -> ConsistencyReport:
        usage = self.usage_meter.added_to(self.before.usage)
        kept = sum(each.calls for each in self.sets[len(self.before.sets) :])
        notes = [note for note in self.before.notes if MARK not in note and not note.startswith(LOST)]
        return structs.replace(
            self.before,
            sets=tuple(self.sets),
            ended=ended,
            usage=usage,
            seconds=round(self.before.seconds + time.monotonic() - self._began, 3),
            notes=tuple(dict.fromkeys((*notes, *self._agent_session.marks_passed(usage), *self.oddities))),
            sandbox=self.sandbox,
            ideas=tuple(self.ideas),
            spare_calls=self.before.spare_calls + max(0, self.usage_meter.calls - kept),
        )


def _begun(target: Target, before: ConsistencyReport | None, settings: Settings) -> ConsistencyReport:
    return before or ConsistencyReport(
        target.name, means=means_of(settings), checks=settings.checks, place=target.place
    )


def _titled(found: PromptSet, target: Target) -> PromptSet:
    """The set with an id that is unique even if a tool of another spec has the same name."""
    if target.name == target.tools[0]:
        return found
    return structs.replace(found, id=set_id(target.name, found.requests or (found.template,)))


def _read_context(path: str) -> str:
    if not path:
        return ""
    try:
        with open(path, encoding="utf-8") as file:
            return cut(file.read().strip(), MOST_CONTEXT)
    except (OSError, ValueError) as error:
        raise UsageError("can't be read as text", str(error), where=f"--context {path}") from error
