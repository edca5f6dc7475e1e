"""Cross-talk: requests for some tools that set off others, kept as a run of the store."""

import time
import tomllib
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing

import msgspec

from misstep.api.agent_session import agent_settings, refuse_missing
from misstep.api.agents import check_agent
from misstep.api.crossing import COUNT, Crossing
from misstep.api.earlier import Asked, draw_requests, find_maker, find_requests
from misstep.api.models import refuse_blind_budget, refuse_secrets
from misstep.api.places import lasting_places, lasting_specs
from misstep.api.resumption import take_up
from misstep.api.summaries import summarise_sets
from misstep.api.tool_run_session import ToolRunSession
from misstep.api.trust import refuse_foreign_calls
from misstep.api.workbenches import Workbenches
from misstep.api.workers import Workers, stopping
from misstep.core.crosstalk import CrosstalkReport, Group, GroupReport, offered_beside
from misstep.core.descriptions import read_text
from misstep.core.event import Event, GroupFinished, Listener, Notice
from misstep.core.model import Unusable
from misstep.core.run_spec import RunSpec
from misstep.core.settings import Settings, check_settings
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.store.runs import Run, Store
from misstep.tooling.asking.grouping import FEWEST, wrong_with_groups
from misstep.tooling.asking.prompts import Prompts


def find_crosstalk(settings: Settings, specs: Sequence[str], *listeners: Listener) -> CrosstalkReport:
    """Put requests for each group of tools to an agent that has only the others, and keep what it does."""
    settings = lasting_places(check_settings(settings))
    prompts = _refuse_early(settings)
    if settings.from_run:
        with Store(settings.store) as store:
            maker = find_maker(store, settings.from_run)
            refuse_foreign_calls(settings, maker)
            settings = settings.overlay({"from_run": maker.id})
    own = lasting_specs(specs)
    with Workbenches(settings) as benches:
        tools = _Tools(benches, own)
        groups = read_groups(settings.groups, tools.described) if settings.groups else ()
        with Store(settings.store, create=True) as store:
            purpose = RunSpec("crosstalk", tools=own, descriptions=read_text(settings.descriptions))
            run = store.add_run(settings, len(groups), time.time(), purpose=purpose)
            return _Sitting(store, run, listeners).hold(tools, benches, prompts)


def resume_crosstalk(settings: Settings, *listeners: Listener) -> CrosstalkReport:
    """Go on with a stopped run under the settings it was started with, budgets excepted."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = take_up(store, settings, "crosstalk")
        if run.summary:
            return _report(store, run)
        prompts = _refuse_early(run.settings)
        with Workbenches(run.settings) as benches:
            return _Sitting(store, run, listeners).hold(_Tools(benches, run.purpose.tools), benches, prompts)


def view_crosstalk(settings: Settings, name: str) -> CrosstalkReport:
    """What a stored run has found so far."""
    with Store(settings.store) as store:
        return _report(store, store.find_run(name))


def read_groups(path: str, known: Mapping[str, Described]) -> tuple[Group, ...]:
    """The groups in a file; a `UsageError` says what is wrong with them."""
    try:
        with open(path, "rb") as file:
            form = msgspec.convert(tomllib.load(file), _GroupsFile)
    except (OSError, ValueError) as error:  # what is no TOML, and what has not the form, are ValueErrors
        hint = 'expected a table such as [groups] with lines such as files = ["read_file", "list_folder"]'
        raise UsageError("can't be read as groups of tools", str(error), hint, where=path) from error
    groups = tuple(Group(name, tuple(dict.fromkeys(tools))) for name, tools in form.groups.items())
    if wrong := wrong_with_groups(groups, known):
        raise UsageError(wrong[0], *wrong[1:5], f"there are the tools {_listed(known)}", where=path)
    return groups


class _GroupsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    groups: dict[str, tuple[str, ...]]


class _Tools:
    """The tools of all specs by their names, and the specs that they are of."""

    def __init__(self, benches: Workbenches, specs: Sequence[str]) -> None:
        found = [(spec, tool) for spec, tools in benches.all_tools(specs).items() for tool in tools]
        names = Counter(tool.name for _, tool in found)
        for spec, tool in found:
            if names[tool.name] > 1:
                hint = "an agent could not tell them apart: leave one of them out"
                raise UsageError(f"there is more than one tool '{tool.name}'", hint, where=spec)
        if len(found) < FEWEST:
            raise UsageError("there is only one tool", "cross-talk takes two groups of tools", where=specs[0])
        self.described = {tool.name: tool for _, tool in found}
        self.specs = {tool.name: spec for spec, tool in found}

    def refuse_missing(self, groups: Sequence[GroupReport]) -> None:
        """What a run has begun with has to be there when it goes on."""
        for group in groups:
            for name in (*group.tools, *group.offered):
                if name not in self.described:
                    raise UsageError(f"there is no tool '{name}' any more", "the run was begun with it")


class _Sitting:
    """One stretch of a run."""

    def __init__(self, store: Store, run: Run, listeners: Sequence[Listener]) -> None:
        self._store = store
        self._run = run
        self._sitting = ToolRunSession(store, run, listeners, GroupReport, summarise_sets)

    def hold(self, tools: _Tools, benches: Workbenches, prompts: Prompts) -> CrosstalkReport:
        run = self._run.id
        self._sitting.hold(
            lambda: self._work(tools, benches, prompts),
            lambda report: GroupFinished(run, report.name, report.verdict),
            "group",
        )
        return _report(self._store, self._run)

    def _work(self, tools: _Tools, benches: Workbenches, prompts: Prompts) -> Generator[GroupReport | Event]:
        """Try what is not done; what had begun before goes on."""
        settings, allowance = self._run.settings, self._sitting.allowance
        crossing = Crossing(benches, settings, prompts, allowance, tools.described, tools.specs, self._notice)
        self._sitting.lost = crossing.lost
        with stopping(allowance):
            if not self._sitting.kept:
                yield from self._lay_out(tools, crossing)
            left = [report for report in self._sitting.kept.values() if report.ended == "stopped"]
            tools.refuse_missing(left)
            workers = Workers[GroupReport, GroupReport](crossing.cross, allowance, settings.jobs)
            with closing(workers.work(left)) as work:
                yield from work

    def _lay_out(self, tools: _Tools, crossing: Crossing) -> list[GroupReport]:
        """What there is to do, so that a run that goes on has the same groups and the same requests."""
        settings = self._run.settings
        groups = read_groups(settings.groups, tools.described) if settings.groups else _proposed(crossing)
        blank = [
            GroupReport(group.name, group.tools, offered_beside(group, groups), place=place, ended="stopped")
            for place, group in enumerate(groups)
        ]
        if not settings.from_run:
            return blank
        source = find_maker(self._store, settings.from_run)
        asked = find_requests(self._store, source)
        return _with_requests(blank, asked, settings, source.id)

    def _notice(self, text: str) -> None:
        self._sitting.emit(Notice(text))


def _proposed(crossing: Crossing) -> tuple[Group, ...]:
    try:
        return crossing.propose()
    except Unusable as error:
        hint = "say which tools belong together in a file, in a new run: --groups FILE"
        raise Unusable(f"the tools could not be grouped: {error.message}", *error.hints, hint) from error


def _with_requests(
    blank: Sequence[GroupReport], asked: Sequence[Asked], settings: Settings, source: str
) -> list[GroupReport]:
    """The groups with requests of an earlier run; a `UsageError` if it has none for any of them."""
    made = list[GroupReport]()
    for group in blank:
        drawn = draw_requests(asked, group.tools, settings.count or COUNT, settings.seed)
        why = "" if drawn else f"run {source} has no requests for its tools"
        made.append(msgspec.structs.replace(group, requests=drawn, why=why))
    if not any([group.requests for group in made]):
        hint = "misstep tool consistency makes some, and so does misstep tool fuzz --agent"
        raise UsageError("has no requests for any of these tools", hint, where=f"--from {source}")
    return made


def _refuse_early(settings: Settings) -> Prompts:
    """Tell what would keep the run from its end before it begins, which its prompts might as well."""
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    prompts = Prompts(settings.prompts)
    if settings.groups and settings.from_run:
        check_agent(agent_settings(settings))  # which is all that it takes
    else:
        refuse_missing(settings)
    return prompts


def _report(store: Store, run: Run) -> CrosstalkReport:
    groups = sorted(store.tool_documents(run.id, GroupReport), key=lambda group: group.place)
    spent = store.spent(run.id)
    return CrosstalkReport(run.id, run.purpose.tools, tuple(groups), dict(spent.usage), spent.seconds)


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(list(names)[:10]) + (", …" if len(names) > 10 else "")
