"""Starts, resumes and estimates runs in the store."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TypeAlias, TypeVar

import msgspec

from misstep.core.agent import Agent
from misstep.core.case import Case
from misstep.core.event import Estimate, Listener, Notice
from misstep.core.outcome import Outcome, Usage
from misstep.core.results.summary import Summary
from misstep.core.run import TESTING, Campaign, RunSpec
from misstep.core.settings import AgentRunSettings, LimitSettings, PlanTestSettings, Settings, setting_names
from misstep.core.settings.reading import check_settings
from misstep.core.spending import Spent
from misstep.errors import MisstepError, NoStoreYet, UsageError
from misstep.planning.world.mock import MockWorld
from misstep.runs.budget import is_theirs, left_of
from misstep.runs.cases import absolute_path, absolute_tools
from misstep.runs.executor import make_executor
from misstep.runs.session import RunSession
from misstep.runs.setup.agents import check_agent
from misstep.runs.setup.models import name_model, price_role, refuse_blind_budget, refuse_secrets
from misstep.runs.summary import summarise
from misstep.runs.trust import OF_AGENTS, find_resumable, new_means, refuse_unfit
from misstep.store.runs import Run, Store

SAMPLE = 20
CHARACTERS = 4  # per token, roughly, in English and JSON
PROMPT = 60  # tokens around a request: roles, instructions
WRAPPING = 45  # tokens around a tool: its schema, as servers write it
EXCHANGE = 60  # tokens that a call and its result add to a conversation
WORDS = 25  # tokens that a model writes in a turn
HOSTED_TURN = 1.5  # seconds that a hosted model takes for a turn
LOCAL_TURN = 1.0
SIMULATED_CASE = 0.001

_ALIKE = setting_names(
    "agent agent_args model model_base_url actions family timed tools cases prompt python parallel"
)


class PerCase(msgspec.Struct, frozen=True):
    """The average cost of a case; `seconds` is by how much it prolongs the run."""

    calls: float
    input: float
    output: float
    cached: float
    seconds: float
    basis: str
    known: bool = True


def estimate_run(
    settings: AgentRunSettings,
    total: int,
    cases: Iterable[Case],
    earlier: Iterable[Run],
    purpose: RunSpec = TESTING,
) -> Estimate:
    """Estimate `total` cases from the newest earlier run of the same kind, or from the cases themselves."""

    def is_alike(run: Run) -> bool:
        same = all([getattr(run.settings, name) == getattr(settings, name) for name in _ALIKE])
        return same and run.purpose.verb == purpose.verb

    like = next((run.summary for run in earlier if run.summary and is_alike(run)), None)
    each = _from_summary(settings, like, f"run {like.run}") if like else _from_looks(settings, cases)
    return _multiply(settings, total, each, Spent())


def _from_summary(settings: LimitSettings, summary: Summary, basis: str) -> PerCase:
    many, tokens = max(1, summary.cases), summary.tokens
    return PerCase(
        summary.calls / many,
        tokens.input / many,
        tokens.output / many,
        tokens.cached / many,
        # Concurrent cases have waited for each other while their time was measured.
        summary.seconds / many / max(1, min(settings.jobs, many)),
        basis,
    )


def _from_looks(settings: AgentRunSettings, cases: Iterable[Case]) -> PerCase:
    """A rule of thumb: a turn for each action and one to answer, each with the whole conversation so far."""
    sample = list(islice(cases, SAMPLE))
    actions = sum(len(case.solution or case.actions) for case in sample) / max(1, len(sample))
    theirs = is_theirs(settings)
    basis = "no earlier run of this agent" if theirs else "a rule of thumb"
    if settings.agent.startswith("sim:"):
        return PerCase(actions, 0, 0, 0, SIMULATED_CASE, basis)
    turns = actions + 1
    said = sum(map(_first_words, sample)) / max(1, len(sample))
    read = turns * (PROMPT + said) + EXCHANGE * actions * turns / 2
    model = name_model(settings)
    if model and model.provider == "local":
        seconds = turns * LOCAL_TURN
    else:
        seconds = turns * HOSTED_TURN / min(settings.jobs, settings.requests)
    return PerCase(actions, read, turns * WORDS, 0, seconds, basis, known=not theirs)


def _first_words(case: Case) -> float:
    tools = MockWorld(case).tools
    return len(case.query) / CHARACTERS + sum(
        WRAPPING + (len(tool.name) + len(tool.description)) / CHARACTERS for tool in tools
    )


def _multiply(settings: AgentRunSettings, total: int, each: PerCase, spent: Spent) -> Estimate:
    tokens = Usage(round(total * each.input), round(total * each.output), round(total * each.cached))
    price = price_role(settings)
    usd = None if price is None else round(price.of(tokens), 6)
    seconds = total * each.seconds
    calls = round(total * each.calls)
    needed = {"usd": usd, "tokens": tokens.input + tokens.output, "seconds": seconds, "calls": calls}
    left = left_of(settings, spent)
    shares = [max(0.0, left[kind]) / amount for kind, amount in needed.items() if amount and kind in left]
    affordable = int(min([1.0, *shares]) * total)
    return Estimate(total, calls, tokens, usd, round(seconds, 1), each.basis, affordable, each.known)


Known: TypeAlias = Callable[[Case], Outcome | None]


class RunWork(msgspec.Struct, frozen=True):
    """The work of a run.

    `total` is the number of cases, or 0 if it is not known in advance; then `most` is the maximum. `sample`
    returns typical cases. `campaign` makes the campaign, given what has been stored.
    """

    campaign: Callable[[Known], Campaign]
    sample: Callable[[], Iterable[Case]]
    total: int = 0
    most: int = 0
    digest: bytes = b""
    purpose: RunSpec = TESTING


def start(
    settings: AgentRunSettings, work: RunWork, listeners: Sequence[Listener], agent: Agent | None
) -> Summary:
    """Open a run under checked settings with absolute paths, and run its first session."""
    refuse_running_loop()
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    campaign = work.campaign(lambda _: None)  # nothing is stored yet
    executor = make_executor(settings, agent, _teller(listeners))
    settings = settings if agent is None else check_settings(settings.overlay({"agent": agent.name}))
    with Store(settings.store, create=True) as store:
        expected = estimate_run(
            settings, work.total or work.most, work.sample(), store.list_runs(), work.purpose
        )

        async def sit() -> Summary:
            async with executor as execute:
                # The run is opened once the agent is known to work.
                run = store.add_run(settings, work.total, time.time(), work.digest, work.purpose)
                return await RunSession(store, run, expected, listeners).hold(campaign, execute)

        return asyncio.run(sit())


def resume(
    settings: AgentRunSettings,
    verb: str,
    plan: Callable[[Store, Run], RunWork],
    listeners: Sequence[Listener],
    agent: Agent | None,
) -> Summary:
    """Resume a stopped run under its own settings, except for budgets and place; `plan` returns the rest."""
    refuse_running_loop()
    with Store(settings.store) as store:
        run = find_resumable(store, settings.resume, verb)
        if run.summary:
            return run.summary
        refuse_unfit(settings, run, OF_AGENTS if agent else ())
        began_on = run.settings.on
        run = msgspec.structs.replace(run, settings=run.settings.overlay(new_means(settings)))
        refuse_blind_budget(run.settings)
        work = plan(store, run)
        tell = _teller(listeners)
        executor = make_executor(_guarded(store, run, tell) if agent is None else run.settings, agent, tell)
        if began_on != run.settings.on:
            tell(f"the run started on {began_on} and continues on {run.settings.on}")
        expected = _estimate_rest(store, run, work)

        async def sit() -> Summary:
            async with executor as execute:
                campaign = work.campaign(partial(store.find_kept, run.id))
                return await RunSession(store, run, expected, listeners).hold(campaign, execute)

        return asyncio.run(sit())


def estimate(settings: AgentRunSettings, work: RunWork) -> Estimate:
    refuse_blind_budget(settings)
    check_agent(settings)
    earlier = list[Run]()
    with suppress(NoStoreYet), Store(settings.store) as store:
        earlier = store.list_runs()
    return estimate_run(settings, work.total or work.most, work.sample(), earlier, work.purpose)


PlanGroup = TypeVar("PlanGroup", bound=PlanTestSettings)


def lasting(settings: PlanGroup) -> PlanGroup:
    files = {name: absolute_path(getattr(settings, name)) for name in ("cases", "prices", "prompt")}
    return settings.overlay({**files, "tools": absolute_tools(settings.tools)})


def _estimate_rest(store: Store, run: Run, work: RunWork) -> Estimate:
    """From the cost of its own cases, or else like that of a new run."""
    rest, spent = max(0, (run.total or work.most) - run.done), store.spent(run.id)
    if run.done:
        so_far = summarise(store.tally(run.id), run)
        each = _from_summary(run.settings, so_far, f"its first {so_far.cases} cases")
        return _multiply(run.settings, rest, each, spent)
    return estimate_run(run.settings, rest, work.sample(), store.list_runs(), work.purpose)


def _guarded(store: Store, run: Run, tell: Callable[[str], None]) -> Settings:
    """The settings of a run; if the user's agent may have killed it, that is isolated from now on."""
    settings = run.settings
    own = ":" in settings.agent and settings.agent.partition(":")[0] not in ("sim", "mcp")
    if not own or settings.python or settings.on != "local" or not store.died(run.id):
        return settings
    tell("the run was interrupted before: the agent now runs in a separate process, in case it caused that")
    return settings.overlay({"python": sys.executable})


def _teller(listeners: Sequence[Listener]) -> Callable[[str], None]:
    def tell(text: str) -> None:
        for listener in listeners:
            with suppress(MisstepError):  # a listener that fails says so at the next event
                listener(Notice(text))

    return tell


def refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("a run can't be started inside a running event loop", "start it in a separate thread")
