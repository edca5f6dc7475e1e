"""What is labelled, as people see it."""

import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from misstep.core.label import Item
from misstep.core.trial import Trial, Use
from misstep.report.call import written
from misstep.report.layout import Trimmed
from misstep.report.text import few_lines
from misstep.report.trial import read_arguments

SHORT = 600  # characters of a text, unless all of it is asked for
SHORT_LINES = 12
WHOLE = 200_000
NOTHING = "(nothing)"
QUESTION = (
    "Erroneous is what does not do right by the person who asks: a wrong or missing answer, a tool that was "
    "given something else than was meant, a result that is no result. One such request is enough."
)


class Shown(msgspec.Struct, frozen=True):
    """A trial as whoever labels it sees it: nothing but the request, calls with their results, the answer.

    All of it is harmless text.
    """

    request: str
    calls: tuple[tuple[str, str], ...]
    answer: str


def shown(trial: Trial, most: int = WHOLE, lines: int = WHOLE) -> Shown:
    """A trial with each of its texts cut to so many characters and lines."""
    calls = tuple((_call(use, most), _text(use.result, most, lines)) for use in trial.uses)
    return Shown(_text(trial.request, most, lines), calls, _text(trial.answer, most, lines))


def is_cut(item: Item) -> bool:
    """Whether there is more to an item than is shown at first."""
    return any(shown(trial, SHORT, SHORT_LINES) != shown(trial) for trial in item.trials)


def item_view(item: Item, place: int, of: int, whole: bool = False) -> RenderableType:
    """One item, the `place`th of so many."""
    limits = (WHOLE, WHOLE) if whole else (SHORT, SHORT_LINES)
    parts: list[RenderableType] = [Text(f"{place} of {of}", style="bold reverse")]
    several = len(item.trials) > 1
    for number, trial in enumerate(item.trials, 1):
        parts += _trial_view(shown(trial, *limits), f" {number}" if several else "")
    return Trimmed(Group(*parts))


def _trial_view(trial: Shown, number: str) -> list[RenderableType]:
    parts = _part(f"request{number}", trial.request, "bold")
    for call, result in trial.calls:
        parts += [*_part("tool", call, "cyan"), _indented(result)]
    if not trial.calls:
        parts += _part("tool", "(not called)", "dim")
    return parts + _part("answer", trial.answer)


def _part(heading: str, text: str, style: str = "") -> list[RenderableType]:
    return [Text(f"\n{heading}", style="dim"), _indented(text, style)]


def _indented(text: str, style: str = "") -> RenderableType:
    return Padding(Text(text, style=style), (0, 0, 0, 2))


def _call(use: Use, most: int) -> str:
    return written(use.tool, read_arguments(use.arguments), most)


def _text(text: str, most: int, lines: int) -> str:
    return few_lines(text.strip("\n") or NOTHING, most, lines)
