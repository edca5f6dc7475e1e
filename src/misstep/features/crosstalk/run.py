"""Runs requests for one group of tools on an agent that has only the others, and stores its calls."""

import asyncio
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from math import inf
from typing import Literal

import msgspec
from msgspec import structs

from misstep.core.event import Event, GroupFinished, Listener
from misstep.core.model import Unusable
from misstep.core.results.crosstalk import CrosstalkReport, GroupReport, ToolGroup, offered_beside
from misstep.core.results.descriptions import read_text
from misstep.core.run import RunSpec
from misstep.core.settings import AgentRunSettings, CrosstalkSettings, StoreSettings
from misstep.core.settings.reading import check_settings
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.fuzzing.agent_tests.requests import FEWEST, make_requests, propose_groups, wrong_with_groups
from misstep.runs.budget import RunBudget
from misstep.runs.cases import absolute_places, stored_specs
from misstep.runs.lookup import draw_requests, find_maker, find_requests
from misstep.runs.setup.agent_session import (
    AgentSession,
    Over,
    UsageMeter,
    agent_settings,
    refuse_missing,
    unless,
)
from misstep.runs.setup.agents import check_agent
from misstep.runs.setup.models import Tell, refuse_blind_budget, refuse_secrets
from misstep.runs.setup.roles import LateTolerantModels
from misstep.runs.setup.workbenches import Workbenches
from misstep.runs.setup.workers import Workers, stopping
from misstep.runs.summary import summarise_sets
from misstep.runs.tool_session import ToolRunSession
from misstep.runs.trust import refuse_foreign_calls, run_to_resume
from misstep.store.runs import Run, Store
from misstep.tool_host.host import ToolHost
from misstep.tool_host.live import JoinedBench

COUNT = 5  # requests for each group
LOST = "could not be restarted"


@dataclass
class CrosstalkTests:
    """Tests groups; several threads may call it at a time. `specs` maps each tool to its spec.

    `lost` are specs whose tools could not be loaded again, and why; what needs them is not done.
    """

    benches: Workbenches
    settings: CrosstalkSettings
    prompts: Prompts
    run_budget: RunBudget
    tools: Mapping[str, Described]
    specs: Mapping[str, str]
    tell: Tell

    def __post_init__(self) -> None:
        self._agent_session = AgentSession(self.settings, self.prompts, self.run_budget, self.tell)
        self.lost = dict[str, str]()

    def propose(self) -> tuple[ToolGroup, ...]:
        """The groups that the model proposes for all tools; none if the budget is spent."""

        async def propose() -> tuple[ToolGroup, ...]:
            async with self._agent_session.advised(UsageMeter(self.run_budget)) as role_models:
                return await propose_groups(list(self.tools.values()), LateTolerantModels(role_models))

        try:
            return asyncio.run(unless(self._agent_session.is_over, propose(), inf))
        except Over:
            return ()
        except Unusable as error:
            hint = "start a new run with --groups FILE to group the tools yourself"
            message = f"the tools could not be grouped: {error.message}"
            raise Unusable(message, *error.hints, hint) from error

    def cross(self, report: GroupReport, tell: Callable[[GroupReport], None]) -> None:
        """Test what is left of a group; `tell` gets the progress after each request."""
        with ExitStack() as stack:
            benches = list[ToolHost]()
            for spec in dict.fromkeys(self.specs[tool] for tool in report.offered):
                try:
                    benches.append(stack.enter_context(self.benches.lend(spec)))
                except UsageError as error:
                    self.lost.setdefault(spec, f"{LOST}: {error.message}")
                    return
                benches[-1].heed(self.run_budget.is_over)
            asyncio.run(self._cross(benches, report, tell))

    async def _cross(
        self, benches: Sequence[ToolHost], report: GroupReport, tell: Callable[[GroupReport], None]
    ) -> None:
        usage_meter, began = UsageMeter(self.run_budget), time.monotonic()
        shelters = "; ".join(sorted({bench.sandbox.words for bench in benches}))
        now = structs.replace(report, sandbox=shelters)

        def keep(ended: Literal["done", "stopped"]) -> None:
            seconds = round(report.seconds + time.monotonic() - began, 3)
            tell(structs.replace(now, ended=ended, usage=usage_meter.added_to(report.usage), seconds=seconds))

        try:
            bench = JoinedBench(benches)
            async with self._agent_session.gathered(bench, usage_meter) as (role_models, trier):
                if not now.requests and not now.why:
                    meant = [self.tools[name] for name in report.tools]
                    work = make_requests(meant, LateTolerantModels(role_models), self.settings.count or COUNT)
                    requests, why = await unless(self.run_budget.is_over, work, inf)
                    now = structs.replace(now, requests=requests, why=why)
                    keep("stopped")
                for request in now.requests[len(now.trials) :]:
                    trial = await unless(self.run_budget.is_over, trier.run(request, now.offered), inf)
                    notes = tuple(dict.fromkeys((*now.notes, *trier.notes)))
                    now = structs.replace(now, trials=(*now.trials, trial), notes=notes)
                    keep("stopped")
        except Over:
            keep("stopped")
            return
        keep("done")


def find_crosstalk(
    settings: CrosstalkSettings, specs: Sequence[str], *listeners: Listener
) -> CrosstalkReport:
    """Run requests for each group of tools on an agent that has only the others, and store its calls."""
    settings = absolute_places(check_settings(settings))
    prompts = _refuse_early(settings)
    if settings.from_run:
        with Store(settings.store) as store:
            maker = find_maker(store, settings.from_run)
            refuse_foreign_calls(settings, maker)
            settings = settings.overlay({"from_run": maker.id})
    own = stored_specs(specs)
    with Workbenches(settings) as benches:
        tools = _Tools(benches, own)
        groups = read_groups(settings.groups, tools.described) if settings.groups else ()
        with Store(settings.store, create=True) as store:
            purpose = RunSpec("crosstalk", tools=own, descriptions=read_text(settings.descriptions))
            run = store.add_run(settings, len(groups), time.time(), purpose=purpose)
            return _hold(store, run, listeners, tools, benches, prompts)


def resume_crosstalk(settings: AgentRunSettings, *listeners: Listener) -> CrosstalkReport:
    """Resume a stopped run under the settings it was started with, except for budgets."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = run_to_resume(store, settings, "crosstalk")
        if run.summary:
            return _report(store, run)
        prompts = _refuse_early(run.settings)
        with Workbenches(run.settings) as benches:
            return _hold(store, run, listeners, _Tools(benches, run.purpose.tools), benches, prompts)


def view_crosstalk(settings: StoreSettings, name: str) -> CrosstalkReport:
    with Store(settings.store) as store:
        return _report(store, store.find_run(name))


def read_groups(path: str, known: Mapping[str, Described]) -> tuple[ToolGroup, ...]:
    """Read groups from a file; a `UsageError` says what is wrong with them."""
    try:
        with open(path, "rb") as file:
            form = msgspec.convert(tomllib.load(file), _GroupsFile)
    except (OSError, ValueError) as error:  # invalid TOML and a wrong structure are ValueErrors
        hint = 'expected a table such as [groups] with lines such as files = ["read_file", "list_folder"]'
        raise UsageError("can't be read as groups of tools", str(error), hint, where=path) from error
    groups = tuple(ToolGroup(name, tuple(dict.fromkeys(tools))) for name, tools in form.groups.items())
    if wrong := wrong_with_groups(groups, known):
        names = ", ".join(list(known)[:10]) + (", …" if len(known) > 10 else "")
        raise UsageError(wrong[0], *wrong[1:5], f"there are the tools {names}", where=path)
    return groups


class _GroupsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    groups: dict[str, tuple[str, ...]]


class _Tools:
    """The tools of all specs by name, with their specs."""

    def __init__(self, benches: Workbenches, specs: Sequence[str]) -> None:
        found = [(spec, tool) for spec, tools in benches.all_tools(specs).items() for tool in tools]
        names = Counter(tool.name for _, tool in found)
        for spec, tool in found:
            if names[tool.name] > 1:
                hint = "an agent can't tell them apart: omit one of them"
                raise UsageError(f"there is more than one tool '{tool.name}'", hint, where=spec)
        if len(found) < FEWEST:
            hint = "crosstalk needs at least two groups of tools"
            raise UsageError("there is only one tool", hint, where=specs[0])
        self.described = {tool.name: tool for _, tool in found}
        self.specs = {tool.name: spec for spec, tool in found}


def _hold(
    store: Store,
    run: Run,
    listeners: Sequence[Listener],
    tools: _Tools,
    benches: Workbenches,
    prompts: Prompts,
) -> CrosstalkReport:
    session = ToolRunSession(store, run, listeners, GroupReport, summarise_sets)

    def work() -> Generator[GroupReport | Event]:
        settings, run_budget = run.settings, session.run_budget
        tests = CrosstalkTests(
            benches, settings, prompts, run_budget, tools.described, tools.specs, session.notice
        )
        session.lost = tests.lost
        with stopping(run_budget):
            if not session.kept:
                yield from _lay_out(store, settings, tools, tests)
            left = [report for report in session.kept.values() if report.ended == "stopped"]
            for name in (name for group in left for name in (*group.tools, *group.offered)):
                if name not in tools.described:
                    raise UsageError(f"the tool '{name}' no longer exists", "the run started with it")

            def cross(group: GroupReport, tell: Callable[[GroupReport], None]) -> None:
                session.start(group.name)
                tests.cross(group, tell)

            workers = Workers[GroupReport, GroupReport](cross, run_budget, settings.jobs)
            with closing(workers.work(left)) as found:
                yield from found

    session.hold(work, lambda report: GroupFinished(run.id, report.name, report.verdict), "group")
    return _report(store, run)


def _lay_out(
    store: Store, settings: CrosstalkSettings, tools: _Tools, tests: CrosstalkTests
) -> list[GroupReport]:
    groups = read_groups(settings.groups, tools.described) if settings.groups else tests.propose()
    blank = [
        GroupReport(group.name, group.tools, offered_beside(group, groups), place=place, ended="stopped")
        for place, group in enumerate(groups)
    ]
    if not settings.from_run:
        return blank
    source = find_maker(store, settings.from_run)
    asked, made = find_requests(store, source), list[GroupReport]()
    for group in blank:
        drawn = draw_requests(asked, group.tools, settings.count or COUNT, settings.seed)
        why = "" if drawn else f"run {source.id} has no requests for its tools"
        made.append(structs.replace(group, requests=drawn, why=why))
    if not any([group.requests for group in made]):
        hint = "run misstep tool consistency or misstep tool fuzz --agent first"
        raise UsageError("has no requests for any of these tools", hint, where=f"--from {source.id}")
    return made


def _refuse_early(settings: CrosstalkSettings) -> Prompts:
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    prompts = Prompts(settings.prompts)
    if settings.groups and settings.from_run:
        check_agent(agent_settings(settings))  # no other model is needed
    else:
        refuse_missing(settings)
    return prompts


def _report(store: Store, run: Run) -> CrosstalkReport:
    groups = sorted(store.tool_documents(run.id, GroupReport), key=lambda group: group.place)
    spent = store.spent(run.id)
    return CrosstalkReport(run.id, run.purpose.tools, tuple(groups), dict(spent.usage), spent.seconds)
