"""Values that are written to files, field by field."""

import inspect
import types
import typing
from typing import Any, Literal, get_args, get_origin

import msgspec

from misstep.core import case, constraint, event, outcome
from tests.reference.tables import first_line, table

WORDS = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "true or false",
    type(None): "null",
    Any: "any value",
}


def fields_of(name: str) -> str:
    """What a kind of value is, then its fields: type, and default."""
    home = next(module for module in (case, outcome, outcome) if hasattr(module, name))
    kind = getattr(home, name)
    hints = typing.get_type_hints(kind)
    rows = [
        (f"`{field.encode_name}`", spelled(hints[field.name]), default(field))
        for field in msgspec.structs.fields(kind)
    ]
    return f"{inspect.cleandoc(kind.__doc__)}\n\n{table(('field', 'type', 'default'), rows)}"


def default(field: Any) -> str:
    if field.required:
        return "required"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    if isinstance(value, msgspec.Struct) or value in ((), {}):
        return "empty"
    return "null" if value is None else f"`{msgspec.json.encode(value).decode()}`"


def spelled(hint: Any) -> str:
    """A type in plain words."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in WORDS:
        return WORDS[hint]
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if origin is tuple:
        return (
            f"list of {spelled(inner[0])}"
            if len(inner) == 2 and inner[1] is ...
            else f"[{', '.join(map(spelled, inner))}]"
        )
    if origin is dict:
        return f"object of {spelled(inner[1])}"
    if origin in (types.UnionType, typing.Union):
        if all(isinstance(each, type) and issubclass(each, msgspec.Struct) for each in inner):
            return "a constraint, see below"
        return " or ".join(map(spelled, inner))
    return f"[{hint.__name__}](#{hint.__name__.lower()})"


def every_constraint() -> str:
    kinds = get_args(constraint.Constraint)
    rows = [(f"`{tag(kind)}`", own_fields(kind, "sentence"), first_line(kind)) for kind in kinds]
    return table(("kind", "fields", "requirement"), rows)


def every_event() -> str:
    rows = [(f"`{tag(kind)}`", own_fields(kind), first_line(kind)) for kind in get_args(event.Event)]
    return table(("`type`", "fields", "meaning"), rows)


def own_fields(kind: Any, *shared: str) -> str:
    fields = [field.encode_name for field in msgspec.structs.fields(kind) if field.name not in shared]
    return ", ".join(f"`{name}`" for name in fields)


def tag(kind: Any) -> str:
    return str(kind.__struct_config__.tag)
