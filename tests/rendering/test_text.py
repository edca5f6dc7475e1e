"""Text from outside, made safe to show."""

from misstep.rendering.text import few_lines, plain_lines


def test_the_note_on_what_is_cut_is_true_and_whole() -> None:
    assert plain_lines("x" * 3_100, 600) == "x" * 600 + "… (2,500 more characters)"


def test_lines_that_are_too_many_are_counted() -> None:
    assert few_lines("a\nb\x1b\nc", 100, 3) == "a\nb\\u001b\nc"
    assert few_lines("a\nb\nc", 100, 2) == "a\nb\n… (1 more line)"
    assert few_lines("a\nb\nc", 100, 1) == "a\n… (2 more lines)"
