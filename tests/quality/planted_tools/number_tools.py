"""Tools that reckon."""

import datetime
import math
import re
from fractions import Fraction

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]
ITEMS = ["apple", "banana", "cherry", "date", "elderberry", "fig", "grape", "honeydew", "kiwi", "lemon"]


def average(values: list[float]) -> float:
    """The arithmetic mean of some numbers."""
    return sum(values) / len(values)


def share(part: float, whole: float) -> str:
    """What percentage one number is of another.

    Args:
        part: The part.
        whole: The whole.
    """
    return f"{100 * part / whole:.1f} %"


def nth_prime(n: int) -> int:
    """The n-th prime number, for n from 1 to 25."""
    if n < 1 or n > len(PRIMES) + 1:
        raise ValueError(f"n must be from 1 to {len(PRIMES)}")
    return PRIMES[n - 1]


def first_of_page(page: int, size: int) -> str:
    """The first product on a page of the catalogue."""
    if page < 1 or size < 1:
        raise ValueError("page and size count from 1")
    return ITEMS[(page - 1) * size]


def book_room(start: int, end: int) -> str:
    """Book the meeting room.

    Args:
        start: Hour at which the meeting starts, 0 to 23.
        end: Hour at which it ends, 0 to 23.
    """
    if not (0 <= start <= 23 and 0 <= end <= 23):
        raise ValueError("hours go from 0 to 23")
    hours = [f"{hour}:00" for hour in range(start, end)]
    return f"booked from {hours[0]}, {len(hours)} hours"


def root_of(value: float) -> float:
    """The square root of a number."""
    return math.sqrt(value)


def factorial(n: int) -> str:
    """n! as a number with all its digits, or its size."""
    if n < 0:
        raise ValueError("n must not be negative")

    def times(k: int) -> int:
        return 1 if k < 2 else k * times(k - 1)

    return f"{times(n).bit_length()} bits"


def as_percent(fraction: str) -> str:
    """A fraction such as 3/4 in percent."""
    if not re.fullmatch(r"[0-9]{1,9}/[0-9]{1,9}", fraction):
        return "Error: write it like 3/4"
    return f"{float(Fraction(fraction)):.0%}"


def days_later(days: int) -> str:
    """The date so many days after the 1st of January 2000."""
    return str(datetime.date(2000, 1, 1) + datetime.timedelta(days=days))


tools = [
    average,
    share,
    nth_prime,
    first_of_page,
    book_room,
    root_of,
    factorial,
    as_percent,
    days_later,
]
