"""Follows tasks to their end: of the revision 2025-11-25, and of the extension for 2026-07-28."""

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from misstep.adapters.mcp.replies import REJECTED

if TYPE_CHECKING:
    from misstep.adapters.mcp.connections import Connection

EXTENSION = "io.modelcontextprotocol/tasks"
PAUSE, LONGEST_PAUSE = 0.1, 0.5  # seconds between two looks at a task; calls have a time limit


async def result_of(connection: "Connection", task: Any) -> Any:
    """The result of a task of the revision 2025-11-25; what it asks for arrives while we wait for that."""
    from mcp.types import (
        CallToolResult,
        GetTaskPayloadRequest,
        GetTaskPayloadRequestParams,
        GetTaskRequest,
        GetTaskRequestParams,
        GetTaskResult,
    )

    about, payload = GetTaskRequestParams(task_id=task.task_id), GetTaskPayloadRequestParams
    while task.status == "working":
        await _pause(task.poll_interval)
        task = await connection.answer(GetTaskRequest(params=about), GetTaskResult)
    return await connection.answer(
        GetTaskPayloadRequest(params=payload(task_id=task.task_id)), CallToolResult
    )


async def outcome_of(connection: "Connection", name: str) -> Any:
    """The result of a task of the extension. Raises `MCPError` if it failed."""
    from mcp import MCPError
    from mcp.types import INTERNAL_ERROR

    answered = set[str]()
    while True:
        state = await connection.answer(_request("tasks/get", name), _state())
        if state.status == "completed" and state.result is not None:
            return state.result
        if state.status not in ("working", "input_required"):
            told = state.error
            message = told.message if told else state.status_message or f"the task is {state.status}"
            raise MCPError(code=told.code if told else INTERNAL_ERROR, message=message)
        wanted = {key: each for key, each in (state.input_requests or {}).items() if key not in answered}
        if wanted and state.status == "input_required":
            await _answer(connection, name, wanted)
            answered |= wanted.keys()
        await _pause(state.poll_interval_ms)


async def _answer(connection: "Connection", name: str, wanted: dict[str, Any]) -> None:
    """Send the input that a task requires. If we refuse some of it, the task is cancelled."""
    from mcp import MCPError
    from mcp.types import EmptyResult

    answers = await connection.input(wanted)
    if answers.keys() != wanted.keys():
        await connection.answer(_request("tasks/cancel", name), EmptyResult)
        raise MCPError(code=REJECTED, message="User rejected the request for input")
    given = {
        key: each.model_dump(by_alias=True, mode="json", exclude_none=True) for key, each in answers.items()
    }
    await connection.answer(_request("tasks/update", name, inputResponses=given), EmptyResult)


async def _pause(milliseconds: int | None) -> None:
    """As long as the server wants, within limits: polling must not look like computing."""
    await asyncio.sleep(min(max((milliseconds or 0) / 1000, PAUSE), LONGEST_PAUSE))


@cache
def task_handle() -> Any:
    """The type of a result that is a task of the extension."""
    from mcp.types import Result

    class TaskHandle(Result):
        result_type: Literal["task"]
        task_id: str

    return TaskHandle


@cache
def _state() -> Any:
    from mcp.types import CallToolResult, ErrorData, InputRequests, Result, TaskStatus

    class TaskState(Result):
        status: TaskStatus
        status_message: str | None = None
        poll_interval_ms: int | None = None
        input_requests: InputRequests | None = None
        result: CallToolResult | None = None
        error: ErrorData | None = None

    return TaskState


@cache
def _request_type() -> Any:
    from mcp.types import Request

    class TaskRequest(Request[dict[str, Any], str]):
        name_param = "taskId"

    return TaskRequest


def _request(method: str, name: str, **more: Any) -> Any:
    return _request_type()(method=method, params={"taskId": name, **more})


async def _unused(_handle: Any, _context: Any) -> Any:
    raise NotImplementedError  # tasks are followed here, not by the SDK's own client


def claims() -> dict[str, Any]:
    """What the SDK's session has to know to accept tasks of the extension."""
    from mcp.client.extension import ResultClaim

    return {EXTENSION: [ResultClaim(result_type="task", model=task_handle(), resolve=_unused)]}
