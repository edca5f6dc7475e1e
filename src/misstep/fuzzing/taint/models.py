"""Restores marks that pydantic validation and conversions such as `int(...)` would lose.

Most frameworks validate a tool's arguments with a pydantic model, which does not treat subclasses of `str`
like `str`; so it gets plain values, and its results are marked again. Conversions are observed through
`sys.monitoring`, from Python 3.12 on. Before that, only failed ones are noticed, by their error message.
"""

import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from types import CodeType
from typing import Any

from misstep.fuzzing.taint.dressing import dress, plain
from misstep.fuzzing.taint.marked import origin_of

LISTENER = 4  # a monitoring tool id that Python reserves for no purpose

_CONVERSIONS: dict[int, tuple[str, Callable[[Any], Any]]] = {
    id(int): ("int", int),
    id(float): ("float", float),
    id(Decimal): ("Decimal", Decimal),
    id(range): ("range", range),
}


def listen() -> Callable[[], None] | None:
    """Start observing, and return a function that stops it. None if unavailable or the id is taken."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or monitoring.get_tool(LISTENER) is not None:
        return None
    call = monitoring.events.CALL
    monitoring.use_tool_id(LISTENER, "misstep: marked values")
    monitoring.register_callback(LISTENER, call, _heard)
    monitoring.set_events(LISTENER, call)

    def stop() -> None:
        monitoring.set_events(LISTENER, 0)
        monitoring.register_callback(LISTENER, call, None)
        monitoring.free_tool_id(LISTENER)

    return stop


def _heard(_code: CodeType, _offset: int, called: object, argument: object) -> None:
    known = _CONVERSIONS.get(id(called))
    origin = origin_of(argument) if known else None
    if known and origin and not origin.record.closed:
        name, convert = known
        origin.note(name, None, _works(convert, plain(argument)))


def _works(convert: Callable[[Any], Any], value: Any) -> bool:
    try:
        convert(value)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return False
    return True


DEEPEST = 20

Watch = Callable[[Any], Any]


def methods() -> Iterator[tuple[Any, str, Watch]]:
    """The pydantic methods to watch, if pydantic is loaded."""
    pydantic = sys.modules.get("pydantic")
    model = getattr(pydantic, "BaseModel", None)
    if model is None or "model_validate" not in vars(model):
        return
    yield model, "__init__", _watch_making
    yield model, "model_validate", _watch_validating
    adapter = getattr(pydantic, "TypeAdapter", None)
    if adapter is not None and "validate_python" in vars(adapter):
        yield adapter, "validate_python", _watch_adapting


def _watch_making(original: Any) -> Any:
    def __init__(self: Any, /, **data: Any) -> None:
        original(self, **plain(data))
        marked_again(data, self)

    vars(__init__).update(vars(original))
    return __init__


def _watch_validating(original: Any) -> Any:
    def model_validate(cls: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        return marked_again(obj, original.__func__(cls, plain(obj), *args, **kwargs))

    return classmethod(model_validate)


def _watch_adapting(original: Any) -> Any:
    def validate_python(self: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        return marked_again(obj, original(self, plain(obj), *args, **kwargs))

    return validate_python


def marked_again(given: Any, made: Any, depth: int = DEEPEST) -> Any:
    """The result of validating `given`, with the same marks. Models are marked in place."""
    if depth == 0 or origin_of(made):
        return made
    fields = getattr(type(made), "model_fields", None)
    if isinstance(fields, dict) and isinstance(given, dict):
        _mark_fields(given, made, fields, depth - 1)
        return made
    if type(made) is dict and isinstance(given, dict):
        items = {key: marked_again(_item(given, key), item, depth - 1) for key, item in made.items()}
        return _dressed(given, made, items)
    if type(made) is list and isinstance(given, list) and list.__len__(given) == len(made):
        pairs = zip(list.__iter__(given), made, strict=True)
        return _dressed(given, made, [marked_again(one, other, depth - 1) for one, other in pairs])
    return _dressed(given, made, made)


def _dressed(given: Any, made: Any, items: Any) -> Any:
    origin = origin_of(given)
    if origin is None or type(made) not in (str, int, float, list, dict):
        return items
    bare = plain(given)
    same = type(bare) is type(made) and bare == made
    return dress(made, origin if same else origin.step("changed"))


def _mark_fields(given: Any, made: Any, fields: dict[str, Any], depth: int) -> None:
    attributes = getattr(made, "__dict__", {})
    for name, field in fields.items():
        if name not in attributes:
            continue
        for key in (name, getattr(field, "alias", None)):
            if isinstance(key, str) and dict.__contains__(given, key):
                attributes[name] = marked_again(_item(given, key), attributes[name], depth)


def _item(given: Any, key: Any) -> Any:
    return dict.get(given, key)
