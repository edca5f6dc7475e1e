"""Toolkits whose bugs show themselves only after several calls."""

from collections.abc import Callable
from typing import Any


def notes() -> tuple[Callable[..., Any], ...]:
    """What was deleted is half there still."""
    kept = dict[str, str]()
    gone = set[str]()

    def create_note(title: str, text: str) -> str:
        if not title:
            raise ValueError("no title")
        gone.discard(title)
        kept[title] = text
        return f'created "{title}"'

    def read_note(title: str) -> str:
        if title in gone:
            raise KeyError("BUG read after delete")
        return kept.get(title, "no such note")

    def delete_note(title: str) -> str:
        if title in gone:
            raise KeyError("BUG delete twice")
        if title not in kept:
            return "no such note"
        del kept[title]
        gone.add(title)
        return "deleted"

    return create_note, read_note, delete_note


def orders() -> tuple[Callable[..., Any], ...]:
    """Identifiers come out of results only."""
    items = dict[int, str]()

    def add_order(product: str) -> dict:
        number = 7001 + 13 * len(items)
        items[number] = product
        return f'{{"order_id": {number}, "product": "x"}}'

    def show_order(order_id: int) -> str:
        return items.get(order_id, "unknown order")

    def cancel_order(order_id: int, reason: str = "") -> str:
        if order_id not in items:
            return "unknown order"
        if not items[order_id]:
            raise RuntimeError("BUG cancelled again")
        items[order_id] = ""
        return "cancelled"

    return add_order, show_order, cancel_order


def counter() -> tuple[Callable[..., Any], ...]:
    """One tool that wears out."""
    values = list[int]()

    def push(value: int) -> str:
        values.append(value)
        if len(values) > 3 and values[-1] == values[-2] == values[-3]:
            raise OverflowError("BUG worn out")
        return f"{len(values)} values"

    return (push,)
