"""Requests to a server, followed to their results: through input that it requires, and through tasks."""

import json
from functools import cache
from typing import Any

from misstep.adapters.mcp.connections import Connection
from misstep.adapters.mcp.replies import wants_progress
from misstep.adapters.mcp.tasks import outcome_of, result_of, task_handle
from misstep.adapters.toolset.calling import ArgumentsRefused
from misstep.core.text import in_words
from misstep.core.tool import with_markers

MOST_ROUNDS = 10  # of input that a server requires for one request
TASK_LIFE = 60_000  # milliseconds that a server keeps a task


async def call_tool(connection: Connection, name: str, arguments: dict[str, Any]) -> Any:
    """The result of a call, checked for its format only. Raises `Garbled`, `ServerGone`, `MCPError`."""
    from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, TaskMetadata

    request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
    _begin(connection, request, with_markers(arguments))
    progress = wants_progress(name, arguments)
    support = connection.task_support.get(name)
    if support == "required" or (support == "optional" and connection.replies.chance(0.5)):
        request.params.task = TaskMetadata(ttl=TASK_LIFE)
        return await _finished(connection, request, progress)
    return await _completed(connection, request, CallToolResult, progress)


async def ask(connection: Connection, request: Any, result: type, arguments: dict[str, Any]) -> Any:
    """The same for any other request, without reports of progress: the SDK's client can't ask for them."""
    _begin(connection, request, with_markers(arguments))
    return await _completed(connection, request, result, False)


def _begin(connection: Connection, request: Any, stored: Any) -> None:
    """Let replies to what the server asks for follow from the call as it is stored."""
    try:  # lone surrogates are not valid in any protocol, and the SDK cannot write deeply nested values
        request.model_dump_json()
        connection.replies.begin(json.dumps([request.method, getattr(request.params, "name", ""), stored]))
    except (ValueError, RecursionError) as error:
        raise ArgumentsRefused(f"can't be sent to a server: {in_words(error)}") from error


async def _completed(connection: Connection, request: Any, result: Any, progress: bool) -> Any:
    """The result after all input that the server requires has been sent."""
    from mcp.types import InputRequiredResult

    either = _or_input_required(result)
    for _ in range(MOST_ROUNDS):
        answer = await connection.answer(request, either, progress)
        if isinstance(answer, task_handle()):
            return await outcome_of(connection, answer.task_id)
        if not isinstance(answer, InputRequiredResult):
            return answer
        request.params.input_responses = await connection.input(answer.input_requests or {})
        request.params.request_state = answer.request_state
    raise ArgumentsRefused(f"the server still requires input after {MOST_ROUNDS} rounds")


async def _finished(connection: Connection, request: Any, progress: bool) -> Any:
    """The result of a call that runs as a task of the revision 2025-11-25."""
    from mcp.types import CreateTaskResult
    from pydantic import ValidationError

    try:
        created = await connection.answer(request, CreateTaskResult, progress)
    except ValidationError as error:  # the SDK expects the result of the call, and quotes what it got
        created = CreateTaskResult.model_validate(error.errors()[0]["input"])
    return await result_of(connection, created.task)


@cache
def _or_input_required(result: Any) -> Any:
    """Validates a result, a request for input or a task; making it takes longer than a call."""
    from mcp.types import CallToolResult, InputRequiredResult
    from pydantic import TypeAdapter

    tasks = task_handle() if result is CallToolResult else InputRequiredResult
    return TypeAdapter(InputRequiredResult | result | tasks)
