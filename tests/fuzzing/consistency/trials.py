"""Trials as an agent would have made them."""

import json
from typing import Any

from misstep.core.results.trial import Judged, Ruling, Trial, Use

TOOL = "look"


def use(result: str = "", tool: str = TOOL, ruling: Ruling = "fine", **arguments: Any) -> Use:
    return Use(tool, json.dumps(arguments), result, Judged(ruling))


def numbered(*uses: list[Use]) -> dict[int, Trial]:
    """A trial for each list of calls, numbered from 1."""
    return {at: Trial(f"request {at}", tuple(each), f"answer {at}") for at, each in enumerate(uses, 1)}
