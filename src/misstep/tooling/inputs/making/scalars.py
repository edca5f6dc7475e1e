"""Makes up texts or numbers for a schema that asks for nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis.errors import InvalidArgument

from misstep.schemas.formats import has_format
from misstep.schemas.patterns import matches
from misstep.schemas.schema import fits
from misstep.tooling.inputs.edges import HUGE, TEXTS, WORDS
from misstep.tooling.inputs.making.chance import Chance
from misstep.tooling.inputs.making.numbers import edge_numbers, real_numbers, whole_numbers
from misstep.tooling.inputs.making.texts import edge_texts, texts

RARELY = 12  # one in so many edges is a huge one

_TEXTUAL = ("pattern", "format", "minLength", "maxLength")


def make_text(schema: dict[str, Any], root: Mapping[str, Any], edgy: bool, chance: Chance) -> str:
    """A text that may fit; at an edge if there is one that does."""
    if edgy:
        limited = schema.keys() & {"pattern", "minLength", "maxLength"}
        if not limited and schema.get("format") is None and chance.one_in(RARELY):
            return chance.pick(HUGE)
        if candidates := _edges(schema):
            return chance.pick(candidates)
    try:
        return chance.drawn(texts({key: each for key, each in schema.items() if key in _TEXTUAL}))
    except InvalidArgument:  # a pattern that is beyond Hypothesis
        text: str = chance.pick(fitting(schema, root, [*WORDS, *TEXTS]))
        return text


def make_number(schema: dict[str, Any], whole: bool, edgy: bool, chance: Chance) -> int | float:
    """A number that may fit; at an edge if there is one that does."""
    own = {**schema, "type": "integer" if whole else "number"}
    if edgy and (edges := edge_numbers(own, whole)):
        return chance.pick(edges)
    return chance.drawn(whole_numbers(own) if whole else real_numbers(own))


def fitting(schema: dict[str, Any], root: Mapping[str, Any], candidates: Sequence[Any]) -> list[Any]:
    return [each for each in candidates if fits(schema, each, root) is None]


def _edges(schema: dict[str, Any]) -> list[str]:
    pattern = schema.get("pattern")
    edges = [text for text in edge_texts(schema) if has_format(schema.get("format"), text)]
    return [text for text in edges if matches(pattern, text)] if isinstance(pattern, str) else edges
