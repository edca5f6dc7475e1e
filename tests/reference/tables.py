"""Tables as Markdown has them."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(cell(each) for each in line)} |".replace("|  |", "| |") for line in lines
    )


def cell(text: str) -> str:
    return (
        " ".join(text.replace("|", "/").split())
        if "`" not in text
        else " ".join(text.replace("|", "\\|").split())
    )


def first_line(documented: object) -> str:
    """The first line of a docstring."""
    return (documented.__doc__ or "").strip().partition("\n")[0]
