"""How things stand on a terminal."""

from rich.text import Text

from misstep.rendering.layout import Parts, bare_table, indented, section
from tests.rendering.screens import shown


def test_a_section_stands_below_its_title() -> None:
    assert shown(section("why", Text("because\nof that"))) == "\nwhy\n  because\n  of that"


def test_every_line_of_an_indented_text_is_indented() -> None:
    assert shown(indented("one two three\nfour"), 10) == "  one two\n  three\n  four"
    assert shown(indented("one two", by=4), 8) == "    one\n    two"


def test_a_table_has_space_for_lines() -> None:
    for headed, heading in ((True, "a   b\n"), (False, "")):
        table = bare_table(headed)
        for name in ("a", "b"):
            table.add_column(name)
        table.add_row("10", "2")
        assert shown(table) == f"{heading}10  2"


def test_parts_are_wrapped_only_between_them() -> None:
    told = shown(
        Parts([Text("25.0 % or so"), Text("a b"), Text("c d e f g"), Text("long and longer")], ", "), 16
    )
    assert told.splitlines() == ["25.0 % or so,", "a b, c d e f g,", "long and longer"]
