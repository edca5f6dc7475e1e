"""What kind of value each setting takes."""

from typing import Any, get_args, get_origin

import msgspec

from misstep.core.settings.fields import Settings

FIELDS = {field.name: field.type for field in msgspec.structs.fields(Settings)}
DURATIONS = ("budget_time", "time_per_request", "time_per_tool", "timeout")
LISTS = tuple(name for name, kind in FIELDS.items() if get_origin(get_args(kind)[0]) is tuple)


def listed_choices(name: str) -> tuple[str, ...]:
    """What a list may be made of, in its own order, where that is a choice of words."""
    return get_args(get_args(get_args(FIELDS[name])[0])[0])


def field_type(name: str) -> Any:
    """The type of a setting without its wrappings, as `msgspec.inspect` describes it."""
    info: Any = msgspec.inspect.type_info(FIELDS[name])
    while True:
        if isinstance(info, msgspec.inspect.Metadata):
            info = info.type
        elif isinstance(info, msgspec.inspect.UnionType):
            info = next(kind for kind in info.types if not isinstance(kind, msgspec.inspect.NoneType))
        else:
            return info
