"""What stands beside a type in `Annotated`, or in a field of a model, in the words of JSON Schema."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

KEYWORDS = {
    "description": "description",
    "documentation": "description",
    "title": "title",
    "examples": "examples",
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


def marked(schema: dict[str, Any], marks: Iterable[Any]) -> dict[str, Any]:
    """The schema with what the marks add to it; those that say nothing to us are passed over."""
    for mark in marks:
        if isinstance(mark, str):
            schema = {**schema, "description": mark}
        elif not inspect.isclass(mark):
            schema = {**schema, **_said(mark, str(schema.get("type")))}
            schema = marked(schema, _inner(mark))
    return schema


def _inner(mark: Any) -> Iterable[Any]:
    """The marks that a field of Pydantic keeps."""
    metadata = getattr(mark, "metadata", None)
    return metadata if isinstance(metadata, list | tuple) else ()


def _said(mark: Any, kind: str) -> dict[str, Any]:
    size = LENGTHS.get(kind, LENGTHS["string"])
    words = {**KEYWORDS, "min_length": f"min{size}", "max_length": f"max{size}"}
    told = {name: _plain(getattr(mark, name, None)) for name in words}
    said = {words[name]: value for name, value in told.items() if value is not None}
    extra = getattr(mark, "json_schema_extra", None) or getattr(mark, "extra_json_schema", None)
    return {**said, **extra} if isinstance(extra, dict) else said


def _plain(value: Any) -> Any:
    """The value if JSON has such; a pattern as it was written."""
    if isinstance(value, re.Pattern):
        return value.pattern
    return value if isinstance(value, str | int | float | list) else None
