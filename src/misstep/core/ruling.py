"""Rulings: what became of calls of tools."""

from typing import Literal

import msgspec

# What became of a call; the last three are no findings.
Ruling = Literal[
    "crash",
    "hang",
    "blow-up",
    "schema",
    "protocol",
    "acceptance",
    "suspicious-refusal",
    "refused",
    "environment",
    "fine",
]

# Rulings on calls that a tool refused.
REFUSALS: tuple[Ruling, ...] = ("refused", "suspicious-refusal")


REFUSED = "refused: "  # how signatures begin of fitting arguments that were refused


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ruling on one call, and why in words. Calls with the same `signature` show the same defect.

    `error` is the type of what went wrong, or a short name for it; `where` is the place in the tool's own
    code, as `file.py:12 in f`, empty where that is not known.
    """

    ruling: Ruling
    why: str = ""
    signature: str = ""
    error: str = ""
    where: str = ""
    message: str = ""

    @property
    def was_refused(self) -> bool:
        """Whether the tool, or what checks its arguments, did not take the call."""
        return self.ruling in REFUSALS or (self.ruling == "schema" and self.signature.startswith(REFUSED))
