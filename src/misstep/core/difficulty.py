"""How hard a case is, in numbers."""

import msgspec


class Difficulty(msgspec.Struct, frozen=True):
    """`chain` is the most actions that are bound to follow one another.

    `reading` is how far the text's order is from any correct one: the fewest pairs that have to be swapped.
    `tokens` are those of the request, roughly.
    """

    chance: float
    actions: int
    constraints: int
    chain: int
    reading: int
    tokens: int


MEASURES = tuple(field.name for field in msgspec.structs.fields(Difficulty))


class Baselines(msgspec.Struct, frozen=True):
    """What two agents that don't plan reach: 1 or 0 for a case, the share of passed cases for several.

    `text_order` follows the order of the text, `ignores_family` heeds nothing but plain order. Both are
    defined in `planning.baselines`.
    """

    text_order: float
    ignores_family: float
