"""Holds results against what a tool promises of them."""

import json

from misstep.core.ruling import Judged
from misstep.core.tool import Described, Reaction
from misstep.schemas.schema import TOO_DEEP, TOO_MUCH, fits
from misstep.tooling.judging.words.plain import in_short, normalise
from misstep.tooling.judging.words.results import find_error


def broken_promise(described: Described, reaction: Reaction) -> Judged | None:
    """A ruling on a structured result that is not what the output schema promises."""
    if described.output is None:
        return None
    if reaction.structured is None:
        if described.kind != "mcp" or find_error(reaction.text, False) is not None:
            return None
        why = "it has an output schema, and gave a result without structured content"
        return Judged("schema", why, "output: nothing structured", "output schema")
    try:
        value = json.loads(reaction.structured)
    except (ValueError, RecursionError) as error:
        why = f"its structured result is no JSON: {in_short(str(error))}"
        return Judged("schema", why, "output: no JSON", "output schema")
    misfit = fits(described.output, value)
    if misfit is None or misfit.endswith((TOO_DEEP.says, TOO_MUCH.says)) or _is_worded(described, value):
        return None
    promise = "output schema" if described.kind == "mcp" else "type hint"
    why = f"its result is not what its {promise} promises: {in_short(misfit)}"
    return Judged("schema", why, f"output: {normalise(misfit)}", promise, message=in_short(misfit))


def _is_worded(described: Described, value: object) -> bool:
    """Whether a text was promised, and the framework makes one of the result; of nothing it can make none."""
    made = described.kind not in ("function", "mcp") and value is not None
    return made and fits(described.output or {}, "") is None
