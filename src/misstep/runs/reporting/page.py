"""The HTML page of a stored run."""

from msgspec.structs import replace

from misstep.core.settings import Settings
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import RunPage
from misstep.rendering.terminal import RunRow
from misstep.runs.kinds import feature_of
from misstep.runs.lookup import view_run


def page_of(settings: Settings, name: str, cases: CaseBundle | None = None) -> RunPage:
    """A run with its cases; if all are listed, `cases` may be those that a server sends."""
    view = view_run(settings, name, 0)
    run = view.run
    page = feature_of(run.purpose).page(settings, run, view.summary, cases)
    row = RunRow(run.id, run.started, run.total, run.done, run.settings, view.live, run.summary, run.purpose)
    return replace(page, run=row)
