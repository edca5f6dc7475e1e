"""Tools with values that only calls can show, with their repaired twins, and tools that look like them."""

import datetime
import decimal
import functools
from collections.abc import Callable
from typing import Any, Literal

from tests.features.lint.planted_constants import SEASONS, Mill

FACTORS = dict(zip(["minute", "hour"], (60, 3600), strict=True))
COLOURS = tuple(colour for colour in ("crimson", "azure"))
LETTERS: dict[str, str] = {}
ROOMS = dict(zip(["k1", "q1"], (1, 2), strict=True))
NEAR = tuple(day for day in ("today", "tomorrow"))
DAYS = tuple("MTWTFSS")
RETIRED = dict.fromkeys(["ell"], "meter")


def counted(tool: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(tool)
    def call(*args: Any, **kwargs: Any) -> Any:
        return tool(*args, **kwargs)

    return call


def wait_faulty(count: int, unit: str) -> int:
    """Tell how long to wait.

    Args:
        count: How many units.
        unit: What is counted.
    """
    return count * FACTORS[unit]


def wait_repaired(count: int, unit: Literal["minute", "hour"]) -> int:
    """Tell how many seconds to wait.

    Args:
        count: How many units.
        unit: What is counted.
    """
    return count * FACTORS[unit]


def sow_faulty(season: str) -> str:
    """Sow something in a season of the year."""
    if season not in SEASONS:
        raise ValueError(f"unknown season {season}")
    return "sown"


def sow_repaired(season: str) -> str:
    """Plant something in spring or autumn, which is the season."""
    if season not in SEASONS:
        raise ValueError(f"unknown season {season}")
    return "sown"


def grind_faulty(grade: str) -> str:
    """Grind coffee to some grade."""
    return Mill.grades(grade).name


def grind_repaired(grade: str) -> str:
    """Make powder of coffee, of a grade that is fine or coarse."""
    return Mill.grades(grade).name


def mix_faulty(season: Literal["spring"]) -> str:
    """Mix the seeds of a season."""
    if season not in SEASONS:
        raise ValueError("that is not possible")
    return "mixed"


def mix_repaired(season: Literal["spring", "autumn"]) -> str:
    """Blend the seeds of a season."""
    if season not in SEASONS:
        raise ValueError("that is not possible")
    return "mixed"


@counted
def tint_faulty(colour: str) -> str:
    """Tint the glass in some colour."""
    if colour.lower() not in COLOURS:
        raise ValueError("that is not possible")
    return "tinted"


@counted
def tint_repaired(colour: str) -> str:
    """Give the glass some colour, which is crimson or azure."""
    if colour.lower() not in COLOURS:
        raise ValueError("that is not possible")
    return "tinted"


def keep_letter(text: Literal["dear", "sir"]) -> str:
    """Keep a letter with this text, each of which is kept once."""
    if text in LETTERS:
        return LETTERS[text]
    LETTERS[text] = "kept"
    return "new"


def post_letter(text: str) -> str:
    """Post a letter with this text unless it was posted before."""
    if text in LETTERS:
        raise ValueError("it was posted before")
    LETTERS[text] = "posted"
    return "posted"


def weigh_cloth(unit: Literal["meter", "yard"]) -> str:
    """Weigh some cloth, measured in this unit."""
    if unit in RETIRED:
        raise ValueError(f"use {RETIRED[unit]}")
    return unit


def greet_guest(guest: str) -> str:
    """Greet a guest as is due."""
    return "your majesty" if guest in ("king", "queen") else guest


def find_guest(guest_id: str) -> int:
    """Find the room of the guest with this guest_id."""
    return ROOMS[guest_id]


def name_day(day: str) -> str:
    """Name the day of the week of a day (YYYY-MM-DD)."""
    return "soon" if day in NEAR else DAYS[datetime.date.fromisoformat(day).weekday()]


def round_price(price: str) -> str:
    """Round a price, as cashiers do."""
    if price in NEAR:
        return "0"
    try:
        return str(round(decimal.Decimal(price)))
    except decimal.InvalidOperation:
        raise ValueError("that is no price") from None


FAULTY = {
    "wait_faulty": "parameters.unit",
    "sow_faulty": "parameters.season",
    "grind_faulty": "parameters.grade",
    "mix_faulty": "parameters.season",
    "tint_faulty": "parameters.colour",
}
tools = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name != "counted"
]
