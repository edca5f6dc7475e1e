"""Tools with nothing wrong about them, however they may look."""

import asyncio
import json
import os
import socket
import time
from decimal import Decimal, InvalidOperation
from typing import Literal

CAPITALS = {"France": "Paris", "Italy": "Rome"}
HELP = {
    "KeyError": "KeyError: a dictionary was asked for a key that it does not have.",
    "IndexError": "IndexError: list index out of range means that a list is shorter than you think.",
}


class OutOfStock(Exception):
    """There is not enough of a product."""


def withdraw(amount: float) -> str:
    """Withdraw money. The amount must be positive and not more than 500."""
    if not 0 < amount <= 500:
        raise ValueError(f"amount must be positive and not more than 500, not {amount}")
    return f"here are {amount:.2f}"


def reserve(pieces: int) -> str:
    """Reserve some pieces of the product."""
    if pieces > 10:
        raise OutOfStock(f"only 10 pieces are left, you asked for {pieces}")
    return f"{max(pieces, 0)} reserved"


def capital(country: str) -> str:
    """The capital of a country."""
    return CAPITALS.get(country) or f"Error: unknown country {country!r}"


def echo(text: str) -> str:
    """Say the same thing again."""
    return text


def to_number(text: str) -> str:
    """Read a number."""
    try:
        return str(float(text))
    except ValueError:
        return "that is no number"


def think(text: str) -> str:
    """Think about a text for a while."""
    time.sleep(0.2)
    return f"{len(text)} characters"


def forecast(city: str) -> str:
    """The weather forecast. Needs a key in WEATHER_API_KEY."""
    if not os.environ.get("WEATHER_API_KEY"):
        raise RuntimeError("WEATHER_API_KEY is not set")
    return f"{city}: sunny"


def quote(symbol: str) -> str:
    """The price of a share, from the exchange."""
    with socket.create_connection(("quotes.invalid", 80), timeout=2) as line:
        line.sendall(symbol.encode("utf-8", "replace"))
    return "asked"


def shout(text: str) -> str:
    """Print a text very often."""
    print("ha" * 1_000_000)
    return "shouted"


def tidy(items: list[str]) -> str:
    """Sort a list and drop what occurs twice."""
    items.sort()
    kept = list(dict.fromkeys(items))
    items.clear()
    return f"{len(kept)} items"


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    if not isinstance(a, int) or not isinstance(b, int):
        raise TypeError("a and b must be whole numbers")
    return a + b


def remember(text: str | None = None) -> None:
    """Take note of a text, or of nothing."""


def amount_of(text: str) -> str:
    """Read an amount of money."""
    try:
        amount = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is no amount of money") from error
    return "a lot" if amount.is_finite() and amount > 1000 else "a little"


def pick(size: Literal["S", "M", "L"]) -> str:
    """Pick a shirt."""
    if size not in ("S", "M", "L"):
        raise ValueError(f"sizes are S, M and L, not {size!r}")
    return f"a shirt in {size}"


def check_json(text: str) -> str:
    """Say whether a text is JSON, and what is wrong if it is not."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not valid: {error}"
    return "valid"


def explain(error: str) -> str:
    """Explain an error of Python, such as KeyError or IndexError."""
    return HELP.get(error, "I don't know that one.")


async def greet(name: str) -> str:
    """Say hello, after a moment."""
    await asyncio.sleep(0)
    return f"hello {name}"


tools = [
    withdraw,
    reserve,
    capital,
    echo,
    to_number,
    think,
    forecast,
    quote,
    shout,
    tidy,
    add,
    remember,
    amount_of,
    pick,
    check_json,
    explain,
    greet,
]
