"""Two runs of a store held against each other."""

from markupsafe import Markup as Safe
from starlette.requests import Request
from starlette.responses import Response

from misstep.api.comparison import compare
from misstep.api.runs import find_run, list_runs
from misstep.core.settings import Settings
from misstep.errors import NoStoreYet, UsageError
from misstep.report.naming import subject_name
from misstep.report.terminal import subject_lines
from misstep.report.text import plain
from misstep.report.web.comparison import comparison_parts
from misstep.web.pages import Link, show
from misstep.web.runs import case_path, run_path

MOST = 500  # runs to choose from
CHOICE = 70  # characters


class ComparisonPages:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def compare(self, request: Request) -> Response:
        """What the two runs differ in that the address names; a form to pick them in any case."""
        picked = [request.query_params.get(name, "") for name in ("first", "second")]
        try:
            parts, wrong = (self._parts(*picked), "") if all(picked) else ([], _missing(picked))
        except UsageError as error:
            parts, wrong = [], " ".join((f"{error.message}:", *error.hints[:1]))
        choices = self._choices()
        return show(
            request,
            "compare.html",
            400 if wrong else 200,
            parts=parts,
            wrong=wrong,
            choices=choices,
            picked=picked,
        )

    def _parts(self, first: str, second: str) -> list[Safe]:
        comparison = compare(self._settings, first, second)
        runs = [find_run(self._settings, name) for name in (comparison.first, comparison.second)]
        names = [subject_name(run.settings, run.purpose) for run in runs]
        links = [run_path(run.id) for run in runs]
        made = comparison_parts(comparison, names, links, case_path)
        return [Safe(part.source) for part in made]

    def _choices(self) -> list[Link]:
        """Runs to choose from: their ids, and what they are called."""
        try:
            found, _ = list_runs(self._settings, MOST)
        except NoStoreYet:
            return []
        return [
            Link(plain(f"{run.id} · {', '.join(subject_lines(run.settings, run.purpose))}", CHOICE), run.id)
            for run in (each.run for each in found)
        ]


def _missing(picked: list[str]) -> str:
    return "pick two runs" if any(picked) else ""
