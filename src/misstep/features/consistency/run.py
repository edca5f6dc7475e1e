"""Runs consistency tests and stores the results, and replays single sets."""

import asyncio
import time
from collections.abc import Generator, Sequence
from contextlib import closing

from misstep.core.event import Event, Listener, SetJudged, ToolChecked
from misstep.core.results.consistency import ConsistencyReport, ConsistencyRun, PromptSet
from misstep.core.results.fixing import read_text
from misstep.core.run import RunSpec
from misstep.core.settings import Settings, check_settings
from misstep.core.spending import Budget, RateLimiters, Spent
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.features.consistency.questions import News, Questioner, approach_of
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.fuzzing.consistency.baseline import examine_request
from misstep.fuzzing.consistency.inquiry import examine_set
from misstep.fuzzing.consistency.making import SetDraft
from misstep.runs.budget import RunBudget
from misstep.runs.cases import absolute_places, stored_specs
from misstep.runs.execution import masked
from misstep.runs.lookup import resolve_prefix
from misstep.runs.setup.agent_session import AgentSession, UsageMeter, refuse_missing
from misstep.runs.setup.models import Tell, refuse_blind_budget, refuse_secrets
from misstep.runs.setup.workbenches import Target, Workbenches, find_targets
from misstep.runs.setup.workers import Workers, stopping
from misstep.runs.summary import summarise_sets
from misstep.runs.tool_session import ToolRunSession
from misstep.runs.trust import take_up, with_agent
from misstep.store.runs import Run, Store
from misstep.tool_host.host import ToolHost


def check_consistency(
    settings: Settings, specs: Sequence[str], *listeners: Listener, rate_limiters: RateLimiters | None = None
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
            session = ToolRunSession(store, run, listeners, ConsistencyReport, summarise_sets, rate_limiters)
            return _hold(store, session, targets, benches, prompts)


def resume_consistency(settings: Settings, *listeners: Listener) -> ConsistencyRun:
    """Resume a stopped run under the settings it was started with, except for budgets."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = take_up(store, settings, "consistency")
        if run.summary:
            return _view(store, run)
        prompts = _refuse_early(run.settings)
        with Workbenches(run.settings) as benches:
            targets = find_tools(benches, run.purpose.tools, run.settings)
            session = ToolRunSession(store, run, listeners, ConsistencyReport, summarise_sets)
            return _hold(store, session, targets, benches, prompts)


def view_consistency(settings: Settings, name: str) -> ConsistencyRun:
    """The results of a stored run so far."""
    with Store(settings.store) as store:
        return _view(store, store.find_run(name))


def find_set(settings: Settings, name: str, wanted: str) -> tuple[Run, ConsistencyReport, PromptSet]:
    """The set of a run with this id, or the only one whose id starts with it, and its tool's report."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        known = {each.id: (tool, each) for tool in _view(store, run).tools for each in tool.sets}
        return run, *resolve_prefix(wanted, known, "set", run, store)


def find_tools(benches: Workbenches, specs: Sequence[str], settings: Settings) -> list[Target]:
    """The tools that the specs name, each as its own target."""
    found = find_targets(benches.all_tools(specs), settings.only)
    return [target for target in found if len(target.tools) == 1]


def _refuse_early(settings: Settings) -> Prompts:
    """Report problems that would stop the run later, before it starts; returns the prompts."""
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
    session: ToolRunSession[ConsistencyReport],
    targets: Sequence[Target],
    benches: Workbenches,
    prompts: Prompts,
) -> ConsistencyRun:
    run = session.run
    session.hold(
        lambda: _work(session, targets, benches, prompts), lambda report: ToolChecked(run.id, report)
    )
    return _view(store, run)


def _work(
    session: ToolRunSession[ConsistencyReport],
    targets: Sequence[Target],
    benches: Workbenches,
    prompts: Prompts,
) -> Generator[ConsistencyReport | Event]:
    """Test what is not done, and continue what was started before."""
    settings, run_budget = session.run.settings, session.run_budget
    done = {report.name for report in session.done}
    left = [(target, session.kept.get(target.name)) for target in targets if target.name not in done]
    questioner = Questioner(benches, settings, prompts, run_budget, session.notice)
    session.lost = questioner.lost
    workers = Workers[tuple[Target, ConsistencyReport | None], News](
        lambda each, tell: questioner.examine(*each, tell), run_budget, settings.jobs
    )
    with stopping(run_budget), closing(workers.work(left)) as work:
        for news in work:
            yield SetJudged(session.run.id, *news) if isinstance(news, tuple) else news


def replay_set(
    settings: Settings, run: str, name: str, tell: Tell = lambda _: None
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
    bench: ToolHost, tool: Described, before: PromptSet, settings: Settings, tell: Tell
) -> PromptSet:
    run_budget = RunBudget(Budget(), Spent())
    agent_session = AgentSession(settings, Prompts(settings.prompts), run_budget, tell)
    async with agent_session.gathered(bench, UsageMeter(run_budget)) as (models, trials):
        if settings.tool_method != "toolfuzz":
            return await examine_request(before.requests[0], tool, models, trials)
        draft = SetDraft(before.template, before.infills, before.requests)
        return await examine_set(draft, tool, models, trials, approach_of(settings))
