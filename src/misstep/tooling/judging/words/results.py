"""Finds out whether a result tells of an error."""

import json
import re
from collections.abc import Sequence

from misstep.tooling.judging.words.plain import MOST_READ
from misstep.tooling.judging.words.wording import compiled, load_wording

MOST_PARSED = 100_000  # characters of a text that may be JSON
SHORT = 600  # characters of a text in which words of refusal are taken to be about the call


def find_error(text: str, flagged: bool) -> str | None:
    """The part of a result that tells of an error; None if none does. `flagged` says that the whole does."""
    text = text[:MOST_PARSED].strip()
    if flagged:
        return _in_json(text) or text
    if not text:
        return None
    if text[0] == "{":
        return _in_json(text)
    return text if compiled(load_wording().framing.opening, re.IGNORECASE).match(text) else None


def is_echo(text: str, said: Sequence[str]) -> bool:
    """Whether a result tells of an error merely because an argument does with which it begins."""
    text = text.strip()
    begins = (
        each for each in said if text.startswith(each.strip()[:MOST_READ]) or each.lstrip().startswith(text)
    )
    return any(find_error(each, flagged=False) is not None for each in begins)


def is_refusal(text: str) -> bool:
    """Whether a result, though it is not told as an error, says that something was not as it should be."""
    text = text.strip()
    if text in {"", "None", "null", "[]", "{}", "false", "False", '""', "''"}:
        return True
    return len(text) <= SHORT and compiled(load_wording().framing.refusal).search(text) is not None


def _in_json(text: str) -> str | None:
    """The error that a JSON object tells of: `{"error": "no such city"}`, `{"success": false, …}`."""
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    for key in ("error", "errors", "Error", "exception"):
        if value.get(key):
            return _told_by(value[key])
    failed = value.get("success") is False or value.get("ok") is False
    failed = (
        failed
        or str(value.get("status")).lower() in {"error", "failed", "failure"}
        or value.get("isError") is True
    )
    return _told_by(value.get("message") or value.get("detail") or text) if failed else None


def _told_by(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("message") or value.get("detail") or json.dumps(value)
    if isinstance(value, list) and value:
        return _told_by(value[0])
    return value if isinstance(value, str) else json.dumps(value)
