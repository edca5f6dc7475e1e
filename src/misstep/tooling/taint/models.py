"""Puts marks back on what pydantic has checked: it makes plain values of marked ones.

Most frameworks have a model check a tool's arguments before the tool is called. It is given plain values,
because it looks at what is only like a text in other ways than at a text.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

from misstep.tooling.taint.dressing import dress, plain
from misstep.tooling.taint.marked import origin_of

DEEPEST = 20

Watch = Callable[[Any], Any]


def methods() -> Iterator[tuple[Any, str, Watch]]:
    """What is to be watched of pydantic, where somebody has loaded it."""
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
    """What was made of something given, with the marks that it had. Models are marked in place."""
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
