"""What pages have of the code is what the code has now; `python -m tests.reference` writes it anew."""

import pytest

import misstep
from tests.documents.pages import PAGES, text_of
from tests.reference.commands import commands
from tests.reference.filling import PARTS, filled, named

FILLED = [page for page in PAGES if named(text_of(page))]


@pytest.mark.parametrize("page", FILLED)
def test_generated_parts_are_up_to_date(page: str) -> None:
    assert filled(text_of(page)) == text_of(page)


def test_every_part_is_somewhere_once() -> None:
    assert sorted(name for page in PAGES for name in named(text_of(page))) == sorted(PARTS)


def test_every_public_name_is_there() -> None:
    page = text_of("docs/reference/python.md")
    assert [name for name in misstep.__all__ if f"| `{name}" not in page] == []


def test_every_command_is_there() -> None:
    from misstep.cli import cli

    page = text_of("docs/reference/commands.md")
    found = [name for name, _ in commands(cli, "misstep")]
    assert len(found) > 20
    assert [name for name in found if f"### {name}\n" not in page] == []
