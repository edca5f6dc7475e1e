"""Reads off a reply what it says about tokens, so that tests can compare with what a client made of it."""

import json
from typing import Any

from tests.scripted.wire import Reply


def reported(reply: Reply) -> tuple[str, tuple[int, int]]:
    """The id of a reply with its tokens of input and output, none where it does not say."""
    for said in [reply.body, *map(data_of, reversed(reply.events))]:
        said = said.get("response", said) if isinstance(said, dict) else {}
        if usage := said.get("usage"):
            kind = "prompt", "completion"
            names = kind if "prompt_tokens" in usage else ("input", "output")
            return said["id"], (usage[f"{names[0]}_tokens"], usage[f"{names[1]}_tokens"])
    return "", (0, 0)


def data_of(event: str) -> Any:
    try:
        return json.loads(event.partition("data: ")[2])
    except ValueError:
        return None
