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
