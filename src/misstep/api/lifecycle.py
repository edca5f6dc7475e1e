"""Starts, resumes and estimates runs in the store."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import msgspec

from misstep.api.agents import check_agent
from misstep.api.estimates import estimate_rest, estimate_run, past_runs
from misstep.api.executor import make_executor
from misstep.api.models import refuse_blind_budget, refuse_secrets
from misstep.api.places import lasting_path, lasting_tools
from misstep.api.resumption import find_resumable, new_means, refuse_unfit
from misstep.api.run_session import RunSession
from misstep.api.summaries import summarise
from misstep.api.trust import OF_AGENTS
from misstep.core.agent import Agent
from misstep.core.campaign import Campaign
from misstep.core.case import Case
from misstep.core.estimate import Estimate
from misstep.core.event import Listener, Notice
from misstep.core.outcome import Outcome
from misstep.core.run_spec import TESTING, RunKind, RunSpec
from misstep.core.settings import Settings, check_settings
from misstep.core.summary import Summary
from misstep.errors import MisstepError, UsageError
from misstep.store.runs import Run, Store

Known: TypeAlias = Callable[[Case], Outcome | None]


class Work(msgspec.Struct, frozen=True):
    """What there is to do in a run.

    `total` is how many cases there are, 0 where that is found out on the way; then `most` is how many there
    can be. `sample` gives cases like those to come. `campaign` makes the campaign, from a look into what has
    been kept.
    """

    campaign: Callable[[Known], Campaign]
    sample: Callable[[], Iterable[Case]]
    total: int = 0
    most: int = 0
    digest: bytes = b""
    purpose: RunSpec = TESTING


def start(settings: Settings, work: Work, listeners: Sequence[Listener], agent: Agent | None) -> Summary:
    """Open a run under settings that have been checked and last, and hold its first sitting."""
    refuse_running_loop()
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    campaign = work.campaign(_nothing)
    crew = make_executor(settings, agent, _teller(listeners))
    settings = settings if agent is None else check_settings(settings.overlay({"agent": agent.name}))
    with Store(settings.store, create=True) as store:
        expected = estimate_run(
            settings, work.total or work.most, work.sample(), store.list_runs(), work.purpose
        )

        async def sit() -> Summary:
            async with crew as execute:
                # The run is opened once the agent is known to work.
                run = store.add_run(settings, work.total, time.time(), work.digest, work.purpose)
                return await RunSession(store, run, expected, listeners).hold(campaign, execute)

        return asyncio.run(sit())


def resume(
    settings: Settings,
    verb: RunKind,
    plan: Callable[[Store, Run], Work],
    listeners: Sequence[Listener],
    agent: Agent | None,
) -> Summary:
    """Hold another sitting of the run to be resumed, under its own settings, budgets and place excepted.

    `plan` says what is left to do in it.
    """
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
        crew = make_executor(_guarded(store, run, tell) if agent is None else run.settings, agent, tell)
        if began_on != run.settings.on:
            tell(f"the run was begun on {began_on}; it goes on {run.settings.on}")
        expected = _estimate_rest(store, run, work)

        async def sit() -> Summary:
            async with crew as execute:
                campaign = work.campaign(partial(store.find_kept, run.id))
                return await RunSession(store, run, expected, listeners).hold(campaign, execute)

        return asyncio.run(sit())


def estimate(settings: Settings, work: Work) -> Estimate:
    """What a run would come to; nothing is started, and nothing is kept."""
    refuse_blind_budget(settings)
    check_agent(settings)
    return estimate_run(settings, work.total or work.most, work.sample(), past_runs(settings), work.purpose)


def _nothing(_: Case) -> None:
    """What a run has kept before it has begun."""


def lasting(settings: Settings) -> Settings:
    """Settings that mean the same in any folder."""
    files = {name: lasting_path(getattr(settings, name)) for name in ("cases", "prices", "prompt")}
    return settings.overlay({**files, "tools": lasting_tools(settings.tools)})


def _estimate_rest(store: Store, run: Run, work: Work) -> Estimate:
    """By what its own cases have come to, or else like that of a new run."""
    rest, spent = max(0, (run.total or work.most) - run.done), store.spent(run.id)
    if run.done:
        so_far = summarise(store.tally(run.id), run.id, run.settings)
        return estimate_rest(run.settings, rest, so_far, spent)
    return estimate_run(run.settings, rest, work.sample(), store.list_runs(), work.purpose)


def _guarded(store: Store, run: Run, tell: Callable[[str], None]) -> Settings:
    """The settings of a run; if it may have died of the user's own agent, that is kept apart from now on."""
    settings = run.settings
    own = ":" in settings.agent and settings.agent.partition(":")[0] not in ("sim", "mcp")
    if not own or settings.python or settings.on != "local" or not store.died(run.id):
        return settings
    tell("the run was cut off before: the agent works in a process of its own now, in case it was the agent")
    return settings.overlay({"python": sys.executable})


def _teller(listeners: Sequence[Listener]) -> Callable[[str], None]:
    def tell(text: str) -> None:
        for listener in listeners:
            with suppress(MisstepError):  # one that can't listen will say so when there is more to hear
                listener(Notice(text))

    return tell


def refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("a run can't be started inside a running event loop", "start it in a thread of its own")
