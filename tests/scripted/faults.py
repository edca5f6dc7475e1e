"""Does to a request what networks, proxies, overloaded servers do to it elsewhere."""

import asyncio
from collections.abc import Callable

from tests.scripted.parts import ApiError
from tests.scripted.script import Fault
from tests.scripted.wire import Recorded, Reply, event, write_reply

RUBBISH = "<html><body>Bad gateway</body></html>"

ERRORS = {
    "400": (
        "This model's maximum context length is 10 tokens.",
        "invalid_request_error",
        "context_length_exceeded",
    ),
    "401": ("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    "404": (
        "The model does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
    ),
    "429": ("Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    "500": ("The server had an error while processing your request.", "server_error", None),
    "503": ("The engine is currently overloaded, please try again later.", "server_error", None),
}


async def perform(
    fault: Fault | None,
    request: Recorded,
    answer: Callable[[], Reply],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> bool:
    """Answer as the fault demands; says whether the connection lives on."""
    kind = fault.kind if fault else None
    if kind == "drop" or await is_left_waiting(fault, reader):
        return False
    if fault and kind in ERRORS:
        await write_reply(writer, refusal(fault))
    elif kind == "not json":
        await write_reply(writer, rubbish(request))
    elif kind == "drop half way":
        await write_reply(writer, answer(), share=0.5)
        return False
    else:
        await write_reply(writer, answer())
    return True


async def is_left_waiting(fault: Fault | None, reader: asyncio.StreamReader) -> bool:
    """Wait as long as the fault demands; says whether the client gave up, or never gets an answer anyway."""
    if fault is None or fault.kind not in ("hang", "slow"):
        return False
    # A client that waits for its answer sends nothing, so the read ends when the client goes.
    try:
        await asyncio.wait_for(reader.read(1), fault.seconds if fault.kind == "slow" else None)
    except TimeoutError:
        return False
    return True


def refusal(fault: Fault) -> Reply:
    message, kind, code = ERRORS[fault.kind]
    error = ApiError(int(fault.kind), message, type=kind, code=code)
    headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    return Reply(error.body, error.status, headers)


def rubbish(request: Recorded) -> Reply:
    streams = isinstance(request.body, dict) and request.body.get("stream")
    return Reply(events=(event(RUBBISH),)) if streams else Reply(RUBBISH.encode())
