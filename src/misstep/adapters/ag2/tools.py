"""AG2's tools, called with an event of a model's."""

import json
from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop
from misstep.core.text import in_words


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """What makes one call of the tool and gives what the model would see of its result."""
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
