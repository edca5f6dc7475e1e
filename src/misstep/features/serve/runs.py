"""Pages for the runs of a store, one run and its parts, the comparison of two runs, and deletion."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec
from markupsafe import Markup as Safe
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from misstep.core.outcome import JUDGEMENTS
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.comparison import TaskComparison
from misstep.core.results.summary import RunView
from misstep.core.settings import ViewSettings
from misstep.errors import NoStoreYet, UsageError
from misstep.features.label.run import can_be_labelled
from misstep.features.serve.trend import command_of, runs_like, trend_parts
from misstep.rendering.html.cases import served_at
from misstep.rendering.html.page import run_parts, title_of
from misstep.rendering.html.sections import SHOWN, ComparedRun, comparison_parts
from misstep.rendering.terminal import percent, subject_lines
from misstep.rendering.text import plain
from misstep.rendering.words import subject_name
from misstep.runs.compare import compare
from misstep.runs.lookup import feature_of, find_removable, find_run, list_runs, look_over, view_run
from misstep.runs.reporting.case_bundles import case_detail, case_index, place_case
from misstep.runs.reporting.statement import page_of
from misstep.store.location import shown, way_to
from misstep.store.runs import DamagedRun, Run, Store
from misstep.web.pages import (
    NavigationLink,
    Secret,
    case_path,
    complain,
    part_path,
    read_form,
    run_path,
    see_other,
    show,
)

AT_ONCE = 50  # runs on one page
LONGEST_SEARCH = 200  # characters
MOST = 500  # runs to choose from
CHOICE = 70  # characters
NAMED = 10  # runs or cases that are suggested if the requested one does not exist


class StopButton(msgspec.Struct, frozen=True):
    """A form that stops a run: its address, and the secret that it carries."""

    path: str
    token: str


StopButtons: TypeAlias = Callable[[str], StopButton | None]


class RunPages:
    def __init__(self, settings: ViewSettings, stop_button: StopButtons) -> None:
        self._settings, self._stop_button = settings, stop_button
        self._secret = Secret()

    def overview(self, request: Request) -> Response:
        page, search = page_number(request), request.query_params.get("q", "")[:LONGEST_SEARCH]
        try:
            found, total = look_over(self._settings, AT_ONCE * (page - 1), AT_ONCE, search)
        except NoStoreYet:
            found, total = [], 0
        views = [each for each in found if isinstance(each, RunView)]
        repeated = Counter(command_of(each.run) for each in views)
        return show(
            request,
            "runs.html",
            rows=[_row(each, repeated[command_of(each.run)] > 1) for each in views],
            damaged=[each for each in found if isinstance(each, DamagedRun)],
            total=total,
            page=page,
            pages=max(1, -(-total // AT_ONCE)),
            place=shown(self._settings.store),
            search=search,
        )

    def run(self, request: Request) -> Response:
        """The page of `misstep report`, updated while the run continues."""
        run = self._find(request)
        if isinstance(run, Response):
            return run
        base = run_path(run.id)
        findings = page_of(self._settings, run.id, served_at(f"{base}/data", self._show(run.id)))
        held = findings.cases.held() if findings.cases and not findings.cases.base else None
        return show(
            request,
            "run.html",
            title=title_of(findings),
            parts=[Safe(part.source) for part in run_parts(findings)],
            held=Safe(held.source) if held else None,
            run=run,
            base=base,
            finished=run.summary is not None,
            resume=f"misstep {run.purpose.command} --resume {run.id}{way_to(self._settings.store)}",
            unit=run.purpose.kind.units,
            stop=None if run.summary else self._stop_button(run.id),
            can_be_labelled=can_be_labelled(self._settings, run),
            has_trend=run.purpose.kind.has_rate,
        )

    def case(self, request: Request) -> Response:
        run = self._find(request)
        if isinstance(run, Response):
            return run
        wanted = request.path_params["case"]
        try:
            placed = place_case(self._settings, run.id, wanted)
        except UsageError as error:
            return self._no_case(request, run, error)
        case = placed.outcome.case.id
        if case != wanted:
            return RedirectResponse(case_path(run.id, case))
        beside = (placed.before, placed.behind)
        before, behind = (None if each is None else case_path(run.id, each) for each in beside)
        return show(
            request,
            "case.html",
            run=run,
            case=case,
            data=f"{run_path(run.id)}/data/cases/{quote(case, safe='')}.json",
            back=run_path(run.id),
            before=before,
            behind=behind,
            again=self._show(run.id, case),
        )

    def part(self, request: Request) -> Response:
        run = self._find(request)
        if isinstance(run, Response):
            return run
        feature, wanted = feature_of(run.purpose), request.path_params["name"]
        if request.path_params["parts"] != feature.parts:
            raise HTTPException(404)
        back = run_path(run.id)
        base = f"{back}/{feature.parts}"
        try:
            page = feature.part_page(self._settings, run, wanted)
        except UsageError as error:
            return complain(request, 404, error.message, links=[NavigationLink(f"run {run.id}", back)])
        if page.id != wanted:
            return RedirectResponse(part_path(base, page.id))
        beside = (page.before, page.behind)
        before, behind = (None if each is None else part_path(base, each) for each in beside)
        return show(
            request,
            "part.html",
            run=run,
            title=page.title,
            parts=[Safe(part.source) for part in page.parts],
            back=back,
            before=before,
            behind=behind,
        )

    def compare(self, request: Request) -> Response:
        """The differences between the two runs in the address, and a form to choose others."""
        selected = request.query_params.getlist("run")  # in the list of runs, newest first
        picked = [request.query_params.get(name, "") for name in ("first", "second")]
        if len(selected) == 2:
            picked = selected[::-1]
        title, parts = "Compare two runs", list[Safe]()
        wrong = "select two runs" if any(picked + selected) else ""
        if all(picked):
            try:
                (title, parts), wrong = self._differences(*picked), ""
            except UsageError as error:
                wrong = " ".join((f"{error.message}:", *error.hints[:1]))
        return show(
            request,
            "compare.html",
            400 if wrong else 200,
            title=title,
            parts=parts,
            wrong=wrong,
            choices=self._choices(),
            picked=picked,
        )

    def _differences(self, first: str, second: str) -> tuple[str, list[Safe]]:
        """The title of the page, and what is below it."""
        comparison = compare(self._settings, first, second)
        with Store(self._settings.store) as store:
            runs = [store.find_run(name) for name in (comparison.first, comparison.second)]
            requests = _requests(store, runs[0], (*comparison.lost[:SHOWN], *comparison.won[:SHOWN]))
        names = [run.name or subject_name(run.settings, run.purpose) for run in runs]
        if names[0] == names[1]:
            names = [f"{name} ({run.id})" for name, run in zip(names, runs, strict=True)]
        named = zip(runs, names, strict=True)
        one, other = (ComparedRun(run.id, name, run_path(run.id)) for run, name in named)
        parts = "tasks" if isinstance(comparison, TaskComparison) else "cases"
        made = comparison_parts(
            comparison, (one, other), requests, lambda run, name: part_path(f"{run_path(run)}/{parts}", name)
        )
        return f"{other.name} compared with {one.name}", [Safe(part.source) for part in made]

    def trend(self, request: Request) -> Response:
        run = self._find(request)
        if isinstance(run, Response):
            return run
        views = runs_like(self._settings, run.id)
        return show(
            request,
            "trend.html",
            title=" · ".join(command_of(run)),
            parts=[Safe(part.source) for part in trend_parts(views)],
        )

    def ask_to_delete(self, request: Request) -> Response:
        """What would be deleted, with a button that does it."""
        return self._confirm(request, request.query_params.getlist("run"))

    async def delete(self, request: Request) -> Response:
        form = await read_form(request)
        self._secret.check(form)
        return await run_in_threadpool(self._delete, request, form.get("runs", "").split())

    def _delete(self, request: Request, names: list[str]) -> Response:
        try:
            with Store(self._settings.store) as store:
                store.remove_runs([run.id for run in find_removable(store, names)])
        except UsageError as error:
            return self._confirm(request, names, error)
        return see_other("/")

    def _confirm(self, request: Request, names: list[str], error: UsageError | None = None) -> Response:
        try:
            with Store(self._settings.store) as store:
                runs = find_removable(store, names)
        except UsageError as problem:
            runs, error = [], problem
        wrong = "" if error is None else "; ".join((error.message, *error.hints[:1]))
        return show(
            request,
            "delete.html",
            400 if wrong and request.method == "POST" else 200,
            runs=runs,
            links=[_link(run) for run in runs],
            wrong=wrong,
            token=self._secret.token,
        )

    def _choices(self) -> list[NavigationLink]:
        try:
            found, _ = list_runs(self._settings, MOST)
        except NoStoreYet:
            return []
        choices = list[NavigationLink]()
        for run in (each.run for each in found):
            told = filter(None, (run.id, run.name, *subject_lines(run.settings, run.purpose)))
            choices.append(NavigationLink(plain(" · ".join(told), CHOICE), run.id))
        return choices

    def index(self, request: Request) -> Response:
        return self._data(lambda run: case_index(self._settings, run), request)

    def detail(self, request: Request) -> Response:
        case = request.path_params["case"]
        return self._data(lambda run: case_detail(self._settings, run, case), request)

    def _data(self, make: Callable[[str], dict[str, Any]], request: Request) -> Response:
        """A JSON response; the script handles what does not exist."""
        try:
            made, status = make(request.path_params["run"]), 200
        except UsageError as error:
            made, status = {"error": str(error)}, 404
        return Response(msgspec.json.encode(made), status, media_type="application/json")

    def _find(self, request: Request) -> Run | Response:
        """The run in the address, or a response that leads to one."""
        name = request.path_params["run"]
        try:
            run = find_run(self._settings, name)
        except (UsageError, NoStoreYet) as error:
            return complain(request, 404, error.message, links=self._links())
        if run.id == name:
            return run
        below = request.scope["path"].split("/", 3)[3:]  # for example ["cases/CASE"], with no escapes
        return RedirectResponse("/".join((run_path(run.id), *map(quote, below))))

    def _links(self) -> list[NavigationLink]:
        try:
            found, _ = look_over(self._settings, 0, NAMED)
        except NoStoreYet:
            return []
        return [_link(each.run) for each in found if isinstance(each, RunView)]

    def _no_case(self, request: Request, run: Run, error: UsageError) -> Response:
        failures = view_run(self._settings, run.id, NAMED).failures
        links = [NavigationLink(f"case {each.case.id}", case_path(run.id, each.case.id)) for each in failures]
        whole = NavigationLink(f"run {run.id}, with all its cases", run_path(run.id))
        return complain(request, 404, error.message, links=[whole, *links])

    def _show(self, *names: str) -> str:
        return f"misstep show {' '.join(names)}{way_to(self._settings.store)}"


def page_number(request: Request) -> int:
    given = request.query_params.get("page", "")
    return max(1, int(given)) if given.isascii() and given.isdigit() and len(given) < 8 else 1


def _link(run: Run) -> NavigationLink:
    told = (run.name, *subject_lines(run.settings, run.purpose))
    return NavigationLink(f"run {run.id}: {', '.join(filter(None, told))}", run_path(run.id))


def _requests(store: Store, run: Run, names: Iterable[str]) -> dict[str, str]:
    if run.purpose.kind.has_cases:
        return {name: " ".join(store.find_outcome(run.id, name).case.sentences) for name in names}
    return {task.name: task.request for task in store.tool_documents(run.id, TaskReport)}


def _row(each: RunView, is_repeated: bool) -> dict[str, Any]:
    run, summary = each.run, each.summary
    name, *more = subject_lines(run.settings, run.purpose)
    started = datetime.fromtimestamp(run.started).astimezone()
    sizes = "cases from a file" if run.settings.cases else f"{run.settings.actions} actions"
    low, high = summary.interval
    judged = summary.passed + summary.failed if run.purpose.kind.has_rate else 0
    planned = run.purpose.kind.has_cases
    counts = {verdict: getattr(summary, verdict) for verdict in JUDGEMENTS}
    return {
        "id": run.id,
        "path": run_path(run.id),
        "name": plain(name),
        "title": run.name,
        "tags": run.tags,
        "more": more if run.purpose.verb != "test" else [run.purpose.command, *more, sizes],
        "started": started,
        "done": summary.cases,
        "total": run.total,
        "unit": run.purpose.kind.units,
        "state": "" if run.summary else "running" if each.live else "unfinished",
        "counts": {verdict: count for verdict, count in counts.items() if count},
        "rate": percent(summary.success) if judged else "–",
        "interval": f"{percent(low)} to {percent(high)}" if judged else "",
        "chance": percent(summary.chance) if judged and planned and summary.chance is not None else "",
        "trend": f"{run_path(run.id)}/trend" if is_repeated and run.purpose.kind.has_rate else "",
    }
