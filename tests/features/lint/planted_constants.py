"""Constants that nobody who reads only the planted tools can know."""

from enum import Enum

SEASONS = frozenset(name.lower() for name in ("Spring", "Autumn"))


class Grade(Enum):
    FINE = "fine"
    COARSE = "coarse"


class Mill:
    """Keeps what it can do in its class."""

    grades = Grade
