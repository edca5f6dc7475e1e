"""Marked lists and dicts, which record what is looked up in them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from misstep.fuzzing.taint import marked
from misstep.fuzzing.taint.record import ValueOrigin


@marked.passes_for(list)
class MarkedList(list):  # type: ignore[type-arg]
    """A marked list. Its items are marked separately."""

    __slots__ = ("_misstep_origin",)
    __class__ = property(marked.class_asked_for)

    _misstep_origin: ValueOrigin

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return list(*args, **kwargs)  # called through the type of a marked value

    def __len__(self) -> int:
        length = list.__len__(self)
        marked.note_length(self, length)
        return length

    def __iter__(self) -> Iterator[Any]:
        marked.note_unpacking(self, list.__len__(self))
        return list.__iter__(self)

    def __getitem__(self, place: Any) -> Any:
        return _item_of(self, list, place)

    def __contains__(self, item: Any) -> bool:
        found = list.__contains__(self, item)
        self._misstep_origin.note("contains", item, found)
        return found

    def index(self, *args: Any) -> int:
        if args:
            self._misstep_origin.note("contains", args[0], list.__contains__(self, args[0]))
        return list.index(self, *args)

    def pop(self, *args: Any) -> Any:
        if not args or isinstance(args[0], int):
            note_place(self, args[0] if args else -1, list.__len__(self))
        return list.pop(self, *args)

    def copy(self, *args: Any) -> Any:
        return row(list.copy(self, *args), self._misstep_origin)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return row([deepcopy(item, memo) for item in list.__iter__(self)], self._misstep_origin)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list.copy(self),)


@marked.passes_for(dict)
class MarkedDict(dict):  # type: ignore[type-arg]
    """A marked dict. Its values are marked separately, its keys are plain."""

    __slots__ = ("_misstep_origin",)
    __class__ = property(marked.class_asked_for)

    _misstep_origin: ValueOrigin

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return dict(*args, **kwargs)

    fromkeys = staticmethod(dict.fromkeys)  # type: ignore[assignment]

    def __len__(self) -> int:
        length = dict.__len__(self)
        marked.note_length(self, length)
        return length

    def __getitem__(self, key: Any) -> Any:
        self._note(key)
        return dict.__getitem__(self, key)

    def __contains__(self, key: Any) -> bool:
        self._note(key)
        return dict.__contains__(self, key)

    def get(self, *args: Any) -> Any:
        self._note(*args[:1])
        return dict.get(self, *args)

    def pop(self, *args: Any) -> Any:
        self._note(*args[:1])
        return dict.pop(self, *args)

    def setdefault(self, *args: Any) -> Any:
        self._note(*args[:1])
        return dict.setdefault(self, *args)

    def _note(self, key: Any = None) -> None:
        if isinstance(key, str):
            self._misstep_origin.note("has key", key, dict.__contains__(self, key))

    def copy(self, *args: Any) -> Any:
        return table(dict.copy(self, *args), self._misstep_origin)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        items = {deepcopy(key, memo): deepcopy(item, memo) for key, item in dict.items(self)}
        return table(items, self._misstep_origin)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict.copy(self),)


def row(items: Any, origin: ValueOrigin | None) -> Any:
    """Mark a plain list."""
    if origin is None:
        return items
    made = list.__new__(MarkedList)
    list.extend(made, items)
    made._misstep_origin = origin
    return made


def table(items: Any, origin: ValueOrigin | None) -> Any:
    """Mark a plain dict."""
    if origin is None:
        return items
    made = dict.__new__(MarkedDict)
    dict.update(made, items)
    made._misstep_origin = origin
    return made


def _item_of(self: Any, base: Any, place: Any) -> Any:
    """An item or a slice; a lookup by a text key shows that a dict is expected."""
    if isinstance(place, int):
        note_place(self, place, base.__len__(self))
    elif isinstance(place, str):
        self._misstep_origin.note("has key", place, False)
    found = base.__getitem__(self, place)
    if not isinstance(place, slice):
        return found
    origin = self._misstep_origin.step("slice", *place.indices(base.__len__(self)))
    return row(found, origin)


def note_place(self: Any, place: int, length: int) -> None:
    place = int.__int__(place)
    self._misstep_origin.note("index", [place, length], -length <= place < length)
