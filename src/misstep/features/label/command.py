"""`misstep label`: people say which discoveries of a run are correct."""

import getpass
import sys
from collections.abc import Callable

import click
from rich.console import Console
from rich.text import Text

from misstep.cli.help import command
from misstep.cli.options import PORT, WholeNumber, run_argument, settings_options
from misstep.cli.output import hint, print_json, quoted
from misstep.core.results.label import PER_TOOL
from misstep.core.settings import RunSettings, StoreSettings
from misstep.errors import MissingExtra, UsageError
from misstep.features.label.run import Labelling, open_labelling, view_labels
from misstep.features.label.view import QUESTION, is_cut, item_view, label_in_words, labels_view
from misstep.rendering.layout import Trimmed
from misstep.rendering.terminal import counted
from misstep.store.location import way_to

LABELS = {"e": True, "c": False}
KEYS = "e erroneous   c correct   s skip   b back   q quit"
MORE = "   a all of it"


@command("label", "misstep label last", "misstep label last --web --labeller ada")
@run_argument("run")
@click.option("--labeller", help="Name of the labeller (default: your login name).")
@click.option(
    "--per-tool",
    type=WholeNumber(1, 10**6),
    default=PER_TOOL,
    show_default=True,
    help="Discoveries per tool.",
)
@click.option("--again", is_flag=True, help="Start over from the first item, keeping labels.")
@click.option("--web", is_flag=True, help="Label in a browser, on a page only this machine can open.")
@click.option("--port", type=PORT, help="Port for --web (default: a free one).")
@settings_options("store", "json")
def label(
    settings: RunSettings,
    run: str,
    labeller: str | None,
    per_tool: int,
    again: bool,
    web: bool,
    port: int | None,
) -> int:
    """Label the findings of a run without seeing its verdicts.

    You see requests, the tool's input and output, and the agent's answer. Discoveries of each tool are
    sampled with the run's seed and mixed with half as many passed items, so that you can't tell which is
    which. Each label is stored at once; the command resumes where you stopped. At the end it shows the false
    discovery rate, what was missed, and the agreement between labellers. --json prints these results so far.
    """
    if settings.json and (again or web):
        raise UsageError("--json only prints the labels so far", "omit the other options")
    if web and again:
        raise UsageError("--again can't be combined with --web", "use Back on the page instead")
    if port is not None and not web:
        raise UsageError("--port is for --web", "add --web, or omit it")
    if settings.json:
        print_json(view_labels(settings, run, per_tool))
        return 0
    with open_labelling(settings, run, labeller or _login_name(), per_tool) as labelling:
        if web:
            _serve(labelling, port or 0)
        else:
            go_through(labelling, Console(), _read_key, again)
        _close(labelling, Console(), _command(settings, labelling.run, labeller, per_tool))
    return 0


def go_through(
    labelling: Labelling, console: Console, read_key: Callable[[], str], again: bool = False
) -> None:
    """Show items and read labels, until none is left or the user quits."""
    place = 0 if again else labelling.find_open()
    if place is not None:
        console.print(Trimmed(Text(QUESTION, style="dim")))
    while place is not None and place < len(labelling.items):
        _show(labelling, console, place)
        key = _ask(labelling, console, place, read_key)
        if key == "q":
            return
        if key in LABELS:
            labelling.keep(place, LABELS[key])
        following = place + 1 if again else labelling.find_open(place)
        place = max(0, place - 1) if key == "b" else following


def _ask(labelling: Labelling, console: Console, place: int, read_key: Callable[[], str]) -> str:
    more = is_cut(labelling.items[place])
    keys = KEYS + (MORE if more else "")
    hint(console, keys)
    while True:
        key = read_key()
        if key in ("s", "b", "q", *LABELS):
            return key
        if key == "a" and more:
            _show(labelling, console, place, whole=True)
        hint(console, keys, gap=False)


def _show(labelling: Labelling, console: Console, place: int, whole: bool = False) -> None:
    item = labelling.items[place]
    console.print()
    console.print(item_view(item, place + 1, len(labelling.items), whole), highlight=False)
    said = labelling.answers().get(item.id)
    if said is not None:
        hint(console, f"you said: {label_in_words(said)}")


def _read_key() -> str:
    """A key if there is a keyboard, otherwise the first letter of a line; end of input is `q`."""
    try:
        if sys.stdin and sys.stdin.isatty():
            return click.getchar().lower()
        line = sys.stdin.readline() if sys.stdin else ""
    except EOFError:
        return "q"
    except UnicodeDecodeError as error:
        raise UsageError("an answer is not valid text", "expected one letter on each line") from error
    return line.strip()[:1].lower() if line else "q"


def _close(labelling: Labelling, console: Console, command: str) -> None:
    """Show the result once nothing is left: earlier, it would reveal the verdicts of the run."""
    left = len(labelling.items) - len(labelling.answers())
    console.print()
    if left:
        hint(console, f"{counted(left, 'item')} left; resume with: {command}", gap=False)
    else:
        console.print(labels_view(labelling.report()))
        hint(console, f"to change labels: {command} --again")


def _command(settings: StoreSettings, run: str, labeller: str | None, per_tool: int) -> str:
    who = f" --labeller {quoted(labeller)}" if labeller else ""
    many = f" --per-tool {per_tool}" if per_tool != PER_TOOL else ""
    return f"misstep label {run}{who}{many}{way_to(settings.store)}"


def _serve(labelling: Labelling, port: int) -> None:
    try:
        from misstep.features.label.pages import serve_labelling
    except ImportError as error:
        raise MissingExtra("the page to label on", "web", "omit --web to label on this terminal") from error
    serve_labelling(
        labelling, port, lambda place: print(f"{place.shown}\nCtrl-C ends it", file=sys.stderr, flush=True)
    )


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError) as error:
        raise UsageError("you have no login name here", "name the labeller with --labeller") from error
