"""Tools with one fault in their documentation each, with their repaired twins, and tools without any."""

import datetime
import json
from typing import Literal

RATES = {"euro": 1.0} | {"dollar": 1.1}  # no table that can be read
UNITS = {"meter": 1.0, "mile": 1609.344}


def convert_faulty(length: float, unit: str) -> float:
    """Convert a length.

    Args:
        length: How long it is.
        unit: What it is measured in.
    """
    return length * UNITS[unit]


def convert_repaired(length: float, unit: Literal["meter", "mile"]) -> float:
    """Turn a length into meters.

    Args:
        length: How long it is.
        unit: What it is measured in.
    """
    return length * UNITS[unit]


def rank_faulty(entries: list[int], order: str) -> list[int]:
    """Rank some entries.

    Args:
        entries: What to rank.
        order: In which order.
    """
    if order == "up":
        backwards = False
    elif order == "down":
        backwards = True
    else:
        raise ValueError("no such order")
    return sorted(entries, reverse=backwards)


def rank_repaired(entries: list[int], order: str) -> list[int]:
    """Put entries into an order.

    Args:
        entries: What to rank.
        order: Either up or down.
    """
    if order == "up":
        backwards = False
    elif order == "down":
        backwards = True
    else:
        raise ValueError("no such order")
    return sorted(entries, reverse=backwards)


def paint_faulty(colour: Literal["red", "green"]) -> str:
    """Paint the wall in some colour."""
    match colour:
        case "red" | "blue":
            return "warm or cold"
        case _:
            return "fresh"


def paint_repaired(colour: Literal["red", "green", "blue"]) -> str:
    """Put a colour on the wall."""
    match colour:
        case "red" | "blue":
            return "warm or cold"
        case _:
            return "fresh"


def ship_faulty(speed: Literal["slow", "fast", "instant"]) -> str:
    """Ship the order at this speed."""
    if speed not in ("slow", "fast"):
        raise ValueError("that is not possible")
    return speed


def ship_repaired(speed: Literal["slow", "fast"]) -> str:
    """Send the order off at this speed."""
    if speed not in ("slow", "fast"):
        raise ValueError("that is not possible")
    return speed


def book_faulty(start: int, end: int) -> int:
    """Book a room from the hour of start to that of end."""
    if end <= start:
        raise ValueError("end must come after start")
    return end - start


def book_repaired(start: int, end: int) -> int:
    """Reserve a room for some hours. The end must come after the start."""
    if end <= start:
        raise ValueError("end must come after start")
    return end - start


def tip_faulty(bill: int, people: int) -> float:
    """Tell the tip that each of the people adds to the bill."""
    return bill / people / 10


def tip_repaired(bill: int, people: int) -> float:
    """Tell how much to add to the bill. There has to be at least one of the people."""
    return bill / people / 10


def week_faulty(day: str) -> int:
    """Tell the week that a day is in."""
    return datetime.date.fromisoformat(day).isocalendar()[1]


def week_repaired(day: str) -> int:
    """Tell the number of the week that a day is in, as in 2026-01-31 (YYYY-MM-DD)."""
    return datetime.date.fromisoformat(day).isocalendar()[1]


def count_faulty(record: str) -> int:
    """Count what is in a record."""
    return len(str(json.loads(record)))


def count_repaired(record: str) -> int:
    """Count what is in a record, which is JSON."""
    return len(str(json.loads(record)))


def fetch_faulty(page: int) -> str:
    """Fetch one page of the list."""
    if not 0 <= page <= 40:
        raise ValueError("page must be between 0 and 40")
    return f"page {page}"


def fetch_repaired(page: int) -> str:
    """Get a page of the list, from 0 to 40."""
    if not 0 <= page <= 40:
        raise ValueError("page must be between 0 and 40")
    return f"page {page}"


def price_faulty(currency: Literal["euro", "dollar", "yen"]) -> float:
    """Tell the price in this currency."""
    return RATES[currency]


def price_repaired(currency: Literal["euro", "dollar"]) -> float:
    """Say what it costs in this currency."""
    return RATES[currency]


def pair_faulty(pair: str) -> str:
    """Swap both halves of a pair."""
    left, right = pair.split("=")
    return f"{right}={left}"


def pair_repaired(pair: str) -> str:
    """Swap both halves of a pair, which has one equals sign, for example a=b."""
    left, right = pair.split("=")
    return f"{right}={left}"


def size_faulty(box: dict[str, int]) -> int:
    """Tell the size of a box."""
    return box["width"]


def size_repaired(box: dict[str, int]) -> int:
    """Tell how large a box is, which has a width."""
    return box["width"]


def open_note(title: str) -> str:
    """Open the note with this title."""
    raise LookupError(f"there must be a note '{title}', but it was not found")


def measure_width(text: str) -> str:
    """Measure how wide a text is."""
    if "\0" in text:
        raise ValueError("text must not hold a zero byte")
    return str(len(text))


def split_line(line: str, mark: str = ",") -> list[str]:
    """Split a line at each mark, which can't be empty."""
    if not mark:
        raise ValueError("mark can't be empty")
    return line.split(mark)


FAULTY = {
    "convert_faulty": ("choices", "under", "parameters.unit"),
    "rank_faulty": ("choices", "under", "parameters.order"),
    "paint_faulty": ("choices", "under", "parameters.colour"),
    "ship_faulty": ("choices", "ill", "parameters.speed"),
    "book_faulty": ("constraint", "under", "parameters"),
    "tip_faulty": ("constraint", "under", "parameters.people"),
    "week_faulty": ("constraint", "under", "parameters.day"),
    "count_faulty": ("constraint", "under", "parameters.record"),
    "price_faulty": ("choices", "ill", "parameters.currency"),
    "pair_faulty": ("constraint", "under", "parameters.pair"),
    "size_faulty": ("constraint", "under", "parameters.box"),
    "fetch_faulty": ("constraint", "under", "parameters.page"),
}
tools = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and not name.startswith("_")
]
