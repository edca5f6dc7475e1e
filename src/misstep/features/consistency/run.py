"""Tests through an agent whether tools answer paraphrases alike, stores the results, and replays sets."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

from msgspec import structs

from misstep.core.event import Event, Listener, SetJudged, ToolChecked
from misstep.core.results.consistency import ConsistencyReport, ConsistencyRun, Means, PromptSet, set_id
from misstep.core.results.descriptions import read_text
from misstep.core.run import RunSpec
from misstep.core.settings import (
    AgentRunSettings,
    ConsistencySettings,
    RequestSettings,
    StoreSettings,
    ToolSettings,
)
from misstep.core.settings.reading import check_settings
from misstep.core.spending import Budget, RateLimiters, Spent
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.fuzzing.agent_tests.parties import AgentTrials, Models
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.fuzzing.consistency.buckets import normaliser
from misstep.fuzzing.consistency.inquiry import ask_for_wrong_answers, examine_request, examine_set
from misstep.fuzzing.consistency.making import Approach, SetDraft, make_sets
from misstep.runs.budget import RunBudget
from misstep.runs.cases import absolute_places, stored_specs
from misstep.runs.execution import masked
from misstep.runs.lookup import resolve_prefix
from misstep.runs.setup.agent_session import (
    MARK,
    AgentSession,
    Over,
    UsageMeter,
    refuse_missing,
    refuse_unreachable,
    unless,
)
from misstep.runs.setup.models import Tell, refuse_blind_budget, refuse_secrets
from misstep.runs.setup.roles import LateTolerantModels
from misstep.runs.setup.workbenches import Target, Workbenches, find_targets
from misstep.runs.setup.workers import Workers, stopping
from misstep.runs.summary import summarise_sets
from misstep.runs.tool_session import ToolRunSession
from misstep.runs.trust import run_to_resume, with_agent
from misstep.store.runs import Run, Store
from misstep.tool_host.host import ToolHost

SETS = 5  # for each tool by default
MOST_CONTEXT = 20_000  # characters
LOST = "could not be tested further"

Ended: TypeAlias = Literal["done", "time", "stopped"]
News: TypeAlias = ConsistencyReport | tuple[str, PromptSet]  # a set comes with the name of its tool


def means_of(settings: RequestSettings) -> Means:
    return "sets" if settings.tool_method == "toolfuzz" else settings.tool_method


def approach_of(settings: ConsistencySettings) -> Approach:
    """How these settings want sets to be made and judged; reads the context file."""
    normalise = normaliser(date.today()) if settings.normalise else None
    context, path = "", settings.context
    if path:
        try:
            with open(path, encoding="utf-8") as file:
                context = cut(file.read().strip(), MOST_CONTEXT)
        except (OSError, ValueError) as error:
            raise UsageError("can't be read as text", str(error), where=f"--context {path}") from error
    return Approach(settings.checks, settings.variants, context, normalise)


@dataclass
class Questioner:
    """Tests tools and reports the results; several threads may call it at a time.

    `lost` are specs whose tools can't be loaded any more, and why; their remaining work is not done.
    """

    benches: Workbenches
    settings: ConsistencySettings
    prompts: Prompts
    run_budget: RunBudget
    tell: Tell

    def __post_init__(self) -> None:
        self._agent_session = AgentSession(self.settings, self.prompts, self.run_budget, self.tell)
        self._approach = approach_of(self.settings)
        self._lock = threading.Lock()
        self.lost = dict[str, str]()

    def examine(self, target: Target, before: ConsistencyReport | None, tell: Callable[[News], None]) -> None:
        """Test a tool until done, starting from where it was stopped `before`."""
        means, checks = means_of(self.settings), self.settings.checks
        report = before or ConsistencyReport(target.name, means=means, checks=checks, place=target.place)
        progress = _Progress(report, UsageMeter(self.run_budget), self._agent_session)
        if target.spec not in self.lost:
            try:
                with self.benches.lend(target.spec) as bench:
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
        until = time.monotonic() + self.settings.tool_seconds - progress.before.seconds
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
                    if target.name != target.tools[0]:  # a tool of another spec has the same name
                        unique = set_id(target.name, found.requests or (found.template,))
                        found = structs.replace(found, id=unique)
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
        means, before, ideas = means_of(self.settings), list(progress.sets), progress.ideas
        count = (self.settings.count or SETS) - len(before)
        if means == "sets":
            async with aclosing(make_sets(tool, models, self._approach, count, before, ideas)) as drafts:
                async for draft in drafts:
                    yield await examine_set(draft, tool, models, trials, self._approach)
            return
        asked = ask_for_wrong_answers(means, tool, models, trials, count, before, ideas)
        async with aclosing(asked) as found:
            async for each in found:
                yield each


class _Progress:
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


def check_consistency(
    settings: ConsistencySettings,
    specs: Sequence[str],
    *listeners: Listener,
    rate_limiters: RateLimiters | None = None,
) -> ConsistencyRun:
    """Run the agent on requests for each tool of the specs, and store the results.

    Runs that share `rate_limiters` share the rate limits of models.
    """
    settings = absolute_places(check_settings(settings))
    prompts = _refuse_early(settings)
    own = stored_specs(specs)
    with Workbenches(settings) as benches:
        targets = find_tools(benches, own, settings)
        with Store(settings.store, create=True) as store:
            purpose = RunSpec("consistency", tools=own, descriptions=read_text(settings.descriptions))
            run = store.add_run(settings, len(targets), time.time(), purpose=purpose)
            return _hold(store, run, listeners, targets, benches, prompts, rate_limiters)


def resume_consistency(settings: AgentRunSettings, *listeners: Listener) -> ConsistencyRun:
    """Resume a stopped run under the settings it was started with, except for budgets."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = run_to_resume(store, settings, "consistency")
        if run.summary:
            return _view(store, run)
        prompts = _refuse_early(run.settings)
        with Workbenches(run.settings) as benches:
            targets = find_tools(benches, run.purpose.tools, run.settings)
            return _hold(store, run, listeners, targets, benches, prompts)


def view_consistency(settings: StoreSettings, name: str) -> ConsistencyRun:
    with Store(settings.store) as store:
        return _view(store, store.find_run(name))


def find_set(settings: StoreSettings, name: str, wanted: str) -> tuple[Run, ConsistencyReport, PromptSet]:
    """The set of a run with this id, or the only one whose id starts with it, and its tool's report."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        known = {each.id: (tool, each) for tool in _view(store, run).tools for each in tool.sets}
        return run, *resolve_prefix(wanted, known, "set", run, store)


def find_tools(benches: Workbenches, specs: Sequence[str], settings: ToolSettings) -> list[Target]:
    found = find_targets(benches.all_tools(specs), settings.only)
    return [target for target in found if len(target.tools) == 1]


def _refuse_early(settings: ConsistencySettings) -> Prompts:
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    refuse_missing(settings)
    approach_of(settings)
    return Prompts(settings.prompts)


def _view(store: Store, run: Run) -> ConsistencyRun:
    reports = sorted(store.tool_documents(run.id, ConsistencyReport), key=lambda report: report.place)
    return ConsistencyRun(run.id, run.purpose.tools, tuple(reports), store.spent(run.id).seconds)


def _hold(
    store: Store,
    run: Run,
    listeners: Sequence[Listener],
    targets: Sequence[Target],
    benches: Workbenches,
    prompts: Prompts,
    rate_limiters: RateLimiters | None = None,
) -> ConsistencyRun:
    session = ToolRunSession(store, run, listeners, ConsistencyReport, summarise_sets, rate_limiters)

    def work() -> Generator[ConsistencyReport | Event]:
        settings, run_budget = run.settings, session.run_budget
        done = {report.name for report in session.done}
        left = [(target, session.kept.get(target.name)) for target in targets if target.name not in done]
        questioner = Questioner(benches, settings, prompts, run_budget, session.notice)
        session.lost = questioner.lost

        def examine(left: tuple[Target, ConsistencyReport | None], tell: Callable[[News], None]) -> None:
            session.start(left[0].name)
            questioner.examine(*left, tell)

        workers = Workers[tuple[Target, ConsistencyReport | None], News](examine, run_budget, settings.jobs)
        with stopping(run_budget), closing(workers.work(left)) as found:
            for news in found:
                yield SetJudged(run.id, *news) if isinstance(news, tuple) else news

    session.hold(work, lambda report: ToolChecked(run.id, report))
    return _view(store, run)


def replay_set(
    settings: AgentRunSettings, run: str, name: str, tell: Tell = lambda _: None
) -> tuple[PromptSet, PromptSet]:
    """A stored set, and the result of running and judging its requests again."""
    stored, report, before = find_set(settings, run, name)
    if not before.requests:
        raise UsageError(f"set {before.id} has no requests", before.why)
    own = with_agent(settings, stored).settings
    with Workbenches(own) as benches:
        for target in find_tools(benches, stored.purpose.tools, own):
            if target.name == report.name:
                with benches.lend(target.spec) as bench:
                    again = _replay(bench, target.among(bench.tools)[0], before, own, tell)
                    return before, masked(asyncio.run(again))
    raise UsageError(f"there is no tool '{report.name}' now", where=", ".join(stored.purpose.tools))


async def _replay(
    bench: ToolHost, tool: Described, before: PromptSet, settings: ConsistencySettings, tell: Tell
) -> PromptSet:
    run_budget = RunBudget(Budget(), Spent())
    agent_session = AgentSession(settings, Prompts(settings.prompts), run_budget, tell)
    async with agent_session.gathered(bench, UsageMeter(run_budget)) as (models, trials):
        if settings.tool_method != "toolfuzz":
            return await examine_request(before.requests[0], tool, models, trials)
        draft = SetDraft(before.template, before.infills, before.requests)
        return await examine_set(draft, tool, models, trials, approach_of(settings))
