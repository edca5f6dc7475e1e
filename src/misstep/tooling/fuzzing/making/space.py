"""Lists all arguments that a tool can be given, where there are only a few."""

from itertools import product
from typing import Any

from misstep.tooling.fuzzing.subject import Parameter, Subject

MOST = 64
_ABSENT = object()


def every_input(subject: Subject) -> list[dict[str, Any]] | None:
    """All arguments that fit the schema; None where they are many."""
    choices = list[list[Any]]()
    count = 1
    for parameter in subject.parameters:
        values = _values(parameter)
        if values is None:
            return None
        choices.append(values if parameter.required else [*values, _ABSENT])
        count *= len(choices[-1])
        if count > MOST:
            return None
    names = [parameter.name for parameter in subject.parameters]
    found = (
        {name: value for name, value in zip(names, values, strict=True) if value is not _ABSENT}
        for values in product(*choices)
    )
    return [arguments for arguments in found if subject.misfit(arguments) is None]


def _values(parameter: Parameter) -> list[Any] | None:
    schema = parameter.schema
    if parameter.choices:
        return list(parameter.choices)
    if set(parameter.kinds) <= {"boolean", "null"} and not {"anyOf", "oneOf"} & schema.keys():
        return [
            value for kind in parameter.kinds for value in ((True, False) if kind == "boolean" else (None,))
        ]
    if parameter.kinds == ("integer",):
        low, high = schema.get("minimum"), schema.get("maximum")
        if isinstance(low, int) and isinstance(high, int) and 0 <= high - low < MOST:
            return list(range(low, high + 1))
    return None
