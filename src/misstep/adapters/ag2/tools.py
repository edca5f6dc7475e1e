"""Calls tools of AG2, with an event as a model would send it."""

import json
from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop
from misstep.core.text import in_words


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns what the model would see of its result."""
    from ag2.annotations import Context
    from ag2.events import ToolCallEvent
    from ag2.stream import MemoryStream

    def invoke(arguments: dict[str, Any]) -> str:
        event = ToolCallEvent(name=tool.name, arguments=json.dumps(arguments))
        answer = loop.settle(tool(event, Context(MemoryStream())))
        if isinstance(error := getattr(answer, "error", None), Exception):
            raise error
        return "\n".join(in_words(getattr(part, "content", part)) for part in answer.result.parts)

    return invoke
