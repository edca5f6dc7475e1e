"""What people see of items and of labels."""

import io

from rich.console import Console

from misstep.core.results.label import Item, Label, report_on
from misstep.core.results.trial import Judged, Trial, Use
from misstep.features.label.view import SHORT_LINES, is_cut, item_view, labels_view, shown

HOSTILE = "\x1b[2J\x07[red]boo[/red]\u202eevil\x00"


def test_hostile_text_is_made_plain() -> None:
    use = Use(HOSTILE, '{"a": "\\u001b[2J\\u202e"}', HOSTILE, Judged("fine"))
    broken = Use("t", "{" * 100_000, "\n" * 50, Judged("fine"))
    item = Item("x", "t", (Trial(HOSTILE, (use, broken), HOSTILE),), True)
    console = Console(file=io.StringIO(), width=80)
    console.print(item_view(item, 1, 1, whole=True))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert not set(text) & {"\x1b", "\x07", "\x00", "\u202e"}
    assert "[red]boo[/red]" in text
    assert is_cut(item)


def test_long_texts_are_cut_at_first() -> None:
    lines = "\n".join(f"line {number}" for number in range(SHORT_LINES + 3))
    short = shown(Trial(lines), lines=SHORT_LINES)
    assert short.request.endswith(f"line {SHORT_LINES - 1}\n… (3 more lines)")
    assert is_cut(Item("x", "t", (Trial(lines),), True))
    assert not is_cut(Item("x", "t", (Trial("short", answer=""),), True))


def test_nothing_said_is_told_as_nothing() -> None:
    assert shown(Trial("a", answer="\n")).answer == "(nothing)"


def test_names_from_outside_are_plain_in_the_report() -> None:
    item = Item("x", HOSTILE, (), True)
    report = report_on("r", [item], [Label("x", "ann", True), Label("x", "bob[b]", False)])
    console = Console(file=io.StringIO(), width=200)
    console.print(labels_view(report))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert not set(text) & {"\x1b", "\x07", "\x00", "\u202e"}
    assert "[red]boo[/red]" in text
    assert "bob[b]: 1 labelled" in text
    assert "1 of 1: 100.0 %" in text  # a false discovery, if bob is right
