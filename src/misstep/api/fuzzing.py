"""Fuzzing: the inputs that break tools, kept as a run of the store."""

import os
import time
from collections.abc import Sequence
from contextlib import closing, suppress

import msgspec

from misstep.api.agents import check_agent
from misstep.api.allowance import Allowance
from misstep.api.budgets import FLAGS, pricing, spent_of
from misstep.api.examiner import Examiner
from misstep.api.examining import Examiners
from misstep.api.interview import Interviewer, agent_settings
from misstep.api.keepsakes import find_keeper, find_keepsakes
from misstep.api.models import refuse_blind_budget, refuse_secrets
from misstep.api.resumption import find_resumable, new_means
from misstep.api.summaries import summarise_tools
from misstep.api.targets import Target, find_targets
from misstep.api.workbenches import Workbenches
from misstep.core.event import (
    Event,
    FindingMade,
    Listener,
    Notice,
    RunFinished,
    RunStarted,
    RunStopped,
    ToolFinished,
)
from misstep.core.finding import Finding, FuzzReport, ToolReport
from misstep.core.purpose import Purpose
from misstep.core.settings import Settings, check_settings, store_flag
from misstep.core.verdict import JUDGEMENTS, Judgement
from misstep.errors import BudgetExceeded, Interrupted, MisstepError, UsageError
from misstep.store.runs import Run, Seat, Store
from misstep.workshop.sandbox.places import anchored


def fuzz_tools(settings: Settings, specs: Sequence[str], *listeners: Listener) -> FuzzReport:
    """Fuzz the tools that the specs mean, each within its limits, and keep what comes of it."""
    settings = _lasting(check_settings(settings))
    if settings.agent:
        refuse_blind_budget(settings)
        refuse_secrets(settings)
        check_agent(agent_settings(settings))
    if settings.from_run:
        with Store(settings.store) as store:
            settings = settings.overlay({"from_run": find_keeper(store, settings.from_run).id})
    own = tuple(dict.fromkeys(anchored(spec) for spec in specs))
    with Workbenches(settings) as benches:
        targets = find_targets({spec: benches.tools_of(spec) for spec in own}, settings.only)
        with Store(settings.store, create=True) as store:
            run = store.add_run(settings, len(targets), time.time(), purpose=Purpose("fuzz", tools=own))
            return _Sitting(store, run, listeners).hold(targets, benches)


def resume_fuzzing(settings: Settings, *listeners: Listener) -> FuzzReport:
    """Go on with a stopped run under the settings it was started with, budgets excepted."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = find_resumable(store, settings.resume, "fuzz")
        run = msgspec.structs.replace(run, settings=run.settings.overlay(new_means(settings)))
        with Workbenches(run.settings) as benches:
            tools = {spec: benches.tools_of(spec) for spec in run.purpose.tools}
            return _Sitting(store, run, listeners).hold(find_targets(tools, run.settings.only), benches)


def view_fuzzing(settings: Settings, name: str) -> FuzzReport:
    """What a stored run has found so far."""
    with Store(settings.store) as store:
        return _report(store, store.find_run(name))


def find_finding(settings: Settings, name: str, finding: str) -> tuple[Run, Finding]:
    """The finding of a run with this id, or whose id begins so."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        known = _report(store, run).findings
        found = [each for each in known if each.id.startswith(finding)] if finding else []
        if len(found) != 1:
            problem = "could be any of several findings" if found else "is no finding"
            hint = f"misstep show {run.id} lists them"
            raise UsageError(f"'{finding}' {problem} of run {run.id}", hint, where=store.location)
        return run, found[0]


def _lasting(settings: Settings) -> Settings:
    """Settings that mean the same in any folder."""
    workspace = settings.workspace
    if workspace and not os.path.isdir(workspace):
        raise UsageError(
            "is not a folder", "name one of which the tools get a copy", where=f"--workspace {workspace}"
        )
    return settings.overlay({"workspace": os.path.abspath(workspace) if workspace else ""})


def _report(store: Store, run: Run) -> FuzzReport:
    reports = sorted(store.tool_reports(run.id), key=lambda report: report.place)
    return FuzzReport(run.id, run.purpose.tools, tuple(reports), store.spent(run.id).seconds)


class _Sitting:
    """One stretch of a run on tools, from its start or resumption to its end or interruption."""

    def __init__(self, store: Store, run: Run, listeners: Sequence[Listener]) -> None:
        self._store = store
        self._run = run
        self._listeners = listeners
        self._allowance = Allowance(run.settings.budget, store.spent(run.id), pricing(run.settings))
        self._kept = {report.name: report for report in store.tool_reports(run.id)}
        self._keepsakes = find_keepsakes(store, run.settings.from_run)
        self._lost = dict[str, str]()

    def hold(self, targets: Sequence[Target], benches: Workbenches) -> FuzzReport:
        run = self._run
        with self._store.sit(run.id, time.time()) as seat:
            self._store.change_run(run.id, run.settings)  # a larger budget is the run's own from now on
            before = summarise_tools(run.id, run.purpose.tools, self._done())
            verdicts: dict[Judgement, int] = {name: getattr(before, name) for name in JUDGEMENTS}
            self._emit(RunStarted(run.id, len(targets), verdicts, unit="tool"))
            try:
                self._work(targets, benches, seat)
                return self._finish()
            except Exception as error:
                with suppress(MisstepError):  # of a listener, perhaps the very one that ended the run
                    reason = error.message if isinstance(error, MisstepError) else type(error).__name__
                    self._emit(RunStopped(run.id, reason))
                raise

    def _done(self) -> list[ToolReport]:
        return [report for report in self._kept.values() if report.ended != "stopped"]

    def _work(self, targets: Sequence[Target], benches: Workbenches, seat: Seat) -> None:
        """Fuzz what is not done; what had begun before goes on."""
        done = {report.name for report in self._done()}
        left = [(target, self._kept.get(target.name)) for target in targets if target.name not in done]
        known = [finding for report in self._done() for finding in report.findings]
        settings, allowance = self._run.settings, self._allowance
        interviewer = Interviewer(settings, allowance, self._notice) if settings.agent else None
        examiner = Examiner(benches, settings, allowance, known, self._keepsakes, interviewer)
        self._lost = examiner.lost
        with closing(Examiners(examiner, allowance, settings.jobs).work(left)) as work:
            for news in work:
                self._hear(news, seat)

    def _hear(self, news: Finding | ToolReport, seat: Seat) -> None:
        if isinstance(news, Finding):
            self._emit(FindingMade(self._run.id, news))
            return
        self._kept[news.name] = news
        seat.keep_report(news, self._allowance.spent)
        if news.ended != "stopped":
            self._emit(ToolFinished(self._run.id, news))

    def _finish(self) -> FuzzReport:
        run = self._run
        if len(self._done()) < run.total:
            raise self._stopped()
        report = _report(self._store, run)
        summary = summarise_tools(run.id, run.purpose.tools, report.tools)
        self._store.finish_run(run.id, summary)
        self._emit(RunFinished(run.id, summary))
        return report

    def _stopped(self) -> MisstepError:
        run, lacking = self._run, self._allowance.lacking
        place = store_flag(self._store.location)
        show = f"see what was found with: misstep show {run.id}{place}"
        way_on = f"go on with: misstep tool fuzz --resume {run.id}{place}"
        for spec, why in {} if lacking else self._lost.items():
            return UsageError(f"{why}; what was found is kept", show, way_on, where=spec)
        if not lacking:
            return Interrupted(f"run {run.id} was stopped; what was found is kept", show, way_on)
        spent = self._store.spent(run.id)
        used = spent_of(lacking, run.settings, spent)
        return BudgetExceeded(f"the budget is used up: {used}", show, f"{way_on} {FLAGS[lacking]} MORE")

    def _notice(self, text: str) -> None:
        self._emit(Notice(text))

    def _emit(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)
