"""The settings of a command, with all that is done to them."""

from misstep.core.settings.fields import BUDGETS, MEANS, Report, Settings, ToolMethod, store_flag
from misstep.core.settings.kinds import FIELDS, LISTS, field_type
from misstep.core.settings.reading import check_settings, parse_gate, parse_setting
from misstep.core.settings.span import Span
from misstep.core.settings.stored import decode_settings, encode_settings

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
