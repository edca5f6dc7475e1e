"""The settings of all commands: fields, parsing, validation, encoding."""

from misstep.core.settings.fields import BUDGETS, MEANS, Report, Settings, Span, ToolMethod, store_flag
from misstep.core.settings.reading import (
    FIELDS,
    LISTS,
    check_settings,
    decode_settings,
    encode_settings,
    field_type,
    parse_gate,
    parse_setting,
)

__all__ = [
    "BUDGETS",
    "FIELDS",
    "LISTS",
    "MEANS",
    "Report",
    "Settings",
    "Span",
    "ToolMethod",
    "check_settings",
    "decode_settings",
    "encode_settings",
    "field_type",
    "parse_gate",
    "parse_setting",
    "store_flag",
]
