"""Wishes where code has looked for something in a value or taken it apart."""

from collections.abc import Callable, Iterator
from typing import Any

from misstep.tooling.branch_solver.sight import BREAKS, EDGE, FAR, ODD, PASSES, Sight, Wish
from misstep.tooling.branch_solver.tables import FILLER

LONGEST = 2_000  # items or characters that a length is brought up to

# What a property may hold: first what most code is content with, then what it least expects.
_VALUES: tuple[Any, ...] = ("a", 1, {}, [], None, True, "", -1, 1.5, ["a"], {"a": 1}, "7")


def _beginning(sight: Sight) -> Iterator[Wish]:
    for prefix in _texts(sight.operand):
        why = f"the code asks whether it begins with {prefix!r}"
        if not sight.text.startswith(prefix):
            yield Wish(sight.opens, prefix + sight.text, why)
        for rest in ("", "   ", prefix):
            yield Wish(BREAKS, prefix + rest, f"{why}; {_said(rest)} follows")
        yield Wish(ODD, prefix + prefix + sight.text, f"{why}; it does so twice")
        yield Wish(FAR, " " + prefix + sight.text, f"{why}; a space is in front")
        yield Wish(FAR, prefix[:-1], f"{why}; it does so but for a character")


def _ending(sight: Sight) -> Iterator[Wish]:
    for suffix in _texts(sight.operand):
        why = f"the code asks whether it ends with {suffix!r}"
        if not sight.text.endswith(suffix):
            yield Wish(sight.opens, sight.text + suffix, why)
        for rest in ("", "   ", suffix):
            yield Wish(BREAKS, rest + suffix, f"{why}; {_said(rest)} comes before")
        yield Wish(FAR, sight.text + suffix + " ", f"{why}; a space is behind")


def _said(rest: str) -> str:
    return "the same" if rest.strip() else "nothing but spaces" if rest else "nothing"


def _texts(operand: Any) -> list[str]:
    given = operand if isinstance(operand, list) else [operand]
    return [text for text in given if isinstance(text, str) and text]


def _part(sight: Sight) -> Iterator[Wish]:
    if isinstance(sight.now, list):
        yield Wish(sight.opens, [*sight.items, sight.operand], f"the code looks for {sight.operand!r} in it")
        yield Wish(BREAKS, [sight.operand], f"there is nothing but {sight.operand!r}")
        return
    separator = sight.operand if isinstance(sight.operand, str) else " "
    if not separator:
        return
    text, why = sight.text, f"the code looks for {separator!r} in it"
    if separator not in text:
        yield Wish(sight.opens, f"{text}{separator}{text}", why)
    yield Wish(BREAKS, separator, f"{why}; nothing stands around it")
    yield Wish(BREAKS, f"{text.split(separator)[0]}{separator}", f"{why}; nothing follows")
    yield Wish(BREAKS, f"{separator}{text.split(separator)[-1]}", f"{why}; nothing comes before")
    yield Wish(EDGE, f"{text}{separator}{separator}{text}", f"{why}; it is there twice in a row")
    first = text.split(separator)[0] or FILLER
    yield Wish(EDGE, f"{text}{separator}{first}{separator}{first}", f"{why}; it is there more often")
    if separator in text:
        yield Wish(BREAKS, text.replace(separator, ""), f"{why}; it is not there any more")


def _unpacking(sight: Sight) -> Iterator[Wish]:
    wanted = int(sight.operand)
    items = sight.items or (list(sight.text) if isinstance(sight.now, str) else [])
    filled = [*items, *[FILLER] * wanted][:wanted]
    yield from _sized(sight, filled, wanted, f"it is taken apart into {wanted}")
    for place in range(min(wanted, 6)):
        empty = [*filled[:place], "", *filled[place + 1 :]]
        yield _joined(
            sight, Wish(BREAKS, empty, f"it is taken apart into {wanted}; number {place + 1} is empty")
        )


def _sized(sight: Sight, items: list[Any], wanted: int, why: str) -> Iterator[Wish]:
    yield _joined(sight, Wish(sight.opens, items, why))
    yield _joined(sight, Wish(EDGE, items[: max(wanted - 1, 0)], f"{why}; here is one less"))
    yield _joined(sight, Wish(EDGE, [*items, FILLER], f"{why}; here is one more"))
    yield _joined(sight, Wish(BREAKS if sight.passed else EDGE, [], f"{why}; here is nothing"))


def _joined(sight: Sight, wish: Wish) -> Wish:
    """The wish as a text where the value is one."""
    if isinstance(sight.now, str) and isinstance(wish.value, list):
        return wish._replace(value="".join(str(item) for item in wish.value))
    return wish


def _place(sight: Sight) -> Iterator[Wish]:
    place, _ = sight.operand
    wanted = place + 1 if place >= 0 else -place
    if wanted > LONGEST:
        return
    items = list(sight.now) if isinstance(sight.now, str | list) else []
    enough = [*items, *[FILLER] * (wanted - len(items))]
    why = f"the code wants what stands at {place}"
    yield _joined(sight, Wish(sight.opens, enough, why))
    yield _joined(sight, Wish(BREAKS, items[: wanted - 1], f"{why}; it ends just before"))
    yield _joined(sight, Wish(BREAKS, [], f"{why}; there is nothing"))


def _length(sight: Sight) -> Iterator[Wish]:
    sign, bound = sight.operand
    if not 0 <= bound <= LONGEST or not isinstance(sight.now, str | list):
        return
    for length, rank in ((bound, PASSES), (bound + 1, PASSES), (bound - 1, EDGE)):
        if length >= 0:
            why = f"its length is compared: {sign} {bound}; here it is {length}"
            for place, items in enumerate(_of_length(list(sight.now), length)):
                yield _joined(sight, Wish(EDGE + place if sight.passed else rank + place, items, why))


def _of_length(items: list[Any], length: int) -> Iterator[list[Any]]:
    """The items brought to a length at their end; then at their beginning, and amid them."""
    more, less = [FILLER] * (length - len(items)), max(len(items) - length, 0)
    yield [*items[: len(items) - less], *more]
    if items:
        yield [*more, *items[less:]]
        middle = (len(items) - less) // 2
        yield [*items[:middle], *more, *items[middle + less :]]


def _key(sight: Sight) -> Iterator[Wish]:
    name, properties = str(sight.operand), sight.properties
    if name in properties:
        without = {key: value for key, value in properties.items() if key != name}
        yield Wish(BREAKS, without, f"the code wants {name!r}; it is not there")
    for place, value in enumerate(_VALUES):
        rank = sight.opens if place < 4 else BREAKS
        if sight.passed:
            rank = BREAKS if value is None else EDGE
        yield Wish(rank, {**properties, name: value}, f"the code wants {name!r}; it is {value!r}")


def _encoding(sight: Sight) -> Iterator[Wish]:
    ascii_only = "".join(character for character in sight.text if character.isascii()) or FILLER
    yield Wish(PASSES, ascii_only, "the text could not be encoded")


WISHES: dict[str, Callable[[Sight], Iterator[Wish]]] = {
    **dict.fromkeys(("startswith", "removeprefix"), _beginning),
    **dict.fromkeys(("endswith", "removesuffix"), _ending),
    **dict.fromkeys(("contains", "find", "rfind", "rindex", "count", "replace"), _part),
    **dict.fromkeys(("split", "rsplit", "splitlines", "partition", "rpartition"), _part),
    "unpack": _unpacking,
    "index": lambda sight: _place(sight) if isinstance(sight.operand, list) else _part(sight),
    "len": _length,
    "has key": _key,
    "encode": _encoding,
}
