"""The page with the results of one command over time."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from misstep.core.results.summary import RunView
from misstep.core.settings import StoreSettings
from misstep.errors import UsageError
from misstep.rendering.html.markup import Cell, Markup, Row, element, grid, text, together
from misstep.rendering.terminal import counted, percent, subject_lines
from misstep.rendering.text import plain
from misstep.rendering.words import interval, method_in_words
from misstep.runs.lookup import is_live, summary_of
from misstep.store.runs import Run, Store
from misstep.web.pages import run_path

MOST = 60  # runs, the newest
WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 60, 712, 16, 190
LEVELS = (0, 0.25, 0.5, 0.75, 1)


def command_of(run: Run) -> tuple[str, ...]:
    """What runs have in common that repeat a command: what was tested and how, but not the seed."""
    settings, purpose = run.settings, run.purpose
    sizes = f"{settings.actions} actions" if not settings.cases else f"cases of {plain(settings.cases, 100)}"
    problems = (sizes, ", ".join(settings.family)) if purpose.kind.has_cases else ()
    command = f"misstep {purpose.command}{method_in_words(settings, purpose)}"
    subject = subject_lines(settings, purpose)
    return command, *(subject if purpose.verb == "test" else subject[:-1]), *problems


def runs_like(settings: StoreSettings, name: str) -> list[RunView]:
    """The run and all others of the same command, oldest first."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        if not run.purpose.kind.has_rate:
            raise UsageError(f"misstep {run.purpose.command} has no success rate that could be followed")
        command = command_of(run)
        same = [each for each in store.list_runs() if command_of(each) == command][:MOST]
        return [RunView(each, is_live(store, each), summary_of(store, each)) for each in reversed(same)]


def trend_parts(views: Sequence[RunView]) -> Iterator[Markup]:
    """A chart of the success rates, and a row for each run, newest first."""
    judged = [view for view in views if view.summary.success is not None]
    unit = views[0].run.purpose.kind.unit
    yield element("p", f"Share of {unit}s that passed, with 95 % interval, in {counted(len(views), 'run')}.")
    if judged:
        yield _chart(judged)
    rows = [_row(view, before) for view, before in zip(views, (None, *views), strict=False)]
    yield grid(("run", "started", "success", "95 % interval", f"{unit}s", ""), rows[::-1], names=2)


def _chart(views: Sequence[RunView]) -> Markup:
    step = (RIGHT - LEFT) / len(views)
    spots = [(LEFT + step * (place + 0.5), view) for place, view in enumerate(views)]
    way = " ".join(f"{x:.1f},{_y(view.summary.success or 0):.1f}" for x, view in spots)
    return element(
        "svg",
        *[_level(level) for level in LEVELS],
        element("polyline", points=way, class_="way"),
        *[_spot(x, view) for x, view in spots],
        element("text", _day(views[0]), x=LEFT, y=BOTTOM + 22),
        element("text", _day(views[-1]), x=RIGHT, y=BOTTOM + 22, text_anchor="end"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="figure trend",
        role="img",
        aria_label="Success rates over time; the table below has the numbers",
    )


def _level(share: float) -> Markup:
    y = _y(share)
    return together(
        element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="grid"),
        element("text", f"{share:.0%}".replace("%", " %"), x=LEFT - 6, y=y + 4, text_anchor="end"),
    )


def _spot(x: float, view: RunView) -> Markup:
    summary = view.summary
    low, high = summary.interval
    told = f"{view.run.name or view.run.id}: {percent(summary.success)}"
    return element(
        "a",
        element("title", text(told)),
        element("line", x1=x, x2=x, y1=_y(high), y2=_y(low), class_="range"),
        element("circle", cx=x, cy=_y(summary.success or 0), r=5),
        href=run_path(view.run.id),
    )


def _y(share: float) -> float:
    return BOTTOM - share * (BOTTOM - TOP)


def _day(view: RunView) -> str:
    return datetime.fromtimestamp(view.run.started).astimezone().strftime("%Y-%m-%d")


def _row(view: RunView, before: RunView | None) -> Row:
    run, summary = view.run, view.summary
    started = datetime.fromtimestamp(run.started).astimezone().strftime("%Y-%m-%d %H:%M")
    told = "".join(f" {word}" for word in (run.name, *(f"#{tag}" for tag in run.tags)) if word)
    judged = summary.success is not None
    link: Cell = ""
    if before and run.purpose.kind.group != "tool":
        link = element("a", "compare", href=f"/compare?first={before.run.id}&second={run.id}")
    return Row(
        (
            together(element("a", element("code", run.id), href=run_path(run.id)), text(told, 200)),
            started,
            percent(summary.success) if judged else "–",
            interval(summary.interval) if judged else "–",
            f"{summary.cases:,}",
            link,
        )
    )
