"""Finds the endpoint that a request is for, after the checks that all of OpenAI's endpoints share."""

from typing import Any

from tests.scripted.assistants import Assistants
from tests.scripted.chat import answer_chat
from tests.scripted.completions import answer_completion
from tests.scripted.messages import answer_messages
from tests.scripted.parts import CREATED, ApiError, Ids
from tests.scripted.responses import Responses
from tests.scripted.script import Script
from tests.scripted.wire import Recorded, Reply

MODELS = ("gpt-4o", "gpt-4o-mini", "gpt-3.5-turbo-instruct")


def asks_model(request: Recorded) -> bool:
    """Whether the model is to speak; the other requests just create, look, or delete."""
    _, *parts = request.path.strip("/").split("/")
    if request.method != "POST":
        return False
    return parts in (["chat", "completions"], ["completions"], ["responses"], ["messages"]) or (
        parts[:1] == ["threads"] and parts[-1] in ("runs", "submit_tool_outputs")
    )


class Api:
    """All endpoints of one server, with what they remember."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._ids = Ids()
        self._responses = Responses(script, self._ids)
        self.assistants = Assistants(script, self._ids)

    def answer(self, request: Recorded) -> Reply:
        try:
            check(request)
            return self._route(request)
        except ApiError as error:
            return Reply(error.body, error.status)

    def _route(self, request: Recorded) -> Reply:
        body = request.body
        match [request.method, *request.path.strip("/").split("/")]:
            case ["POST", "v1", "chat", "completions"]:
                return answer_chat(self._script, self._ids, body)
            case ["POST", "v1", "completions"]:
                return answer_completion(self._script, self._ids, body)
            case ["POST", "v1", "responses"]:
                return self._responses.answer(body)
            case ["POST", "v1", "messages"]:
                return answer_messages(self._script, self._ids, body)
            case ["GET", "v1", "models"]:
                return Reply({"object": "list", "data": [model(name) for name in MODELS]})
            case [_, "v1", "assistants" | "threads", *_]:
                return Reply(self._route_assistants(request), headers={"openai-poll-after-ms": "1"})
        raise nowhere(request)

    def _route_assistants(self, request: Recorded) -> Any:
        if "assistants=v2" not in request.headers.get("openai-beta", ""):
            message = "You must provide the 'OpenAI-Beta' header to access the Assistants API."
            raise ApiError(400, message, code="invalid_beta")
        body, here = request.body, self.assistants
        match [request.method, *request.path.strip("/").split("/")[1:]]:
            case ["POST", "assistants"]:
                return here.create_assistant(body)
            case ["DELETE", "assistants", assistant]:
                return here.delete_assistant(assistant)
            case ["POST", "threads"]:
                return here.create_thread(body)
            case ["DELETE", "threads", thread]:
                return here.delete_thread(thread)
            case ["POST", "threads", thread, "messages"]:
                return here.create_message(thread, body)
            case ["GET", "threads", thread, "messages"]:
                return here.list_messages(thread, request.query)
            case ["POST", "threads", thread, "runs"]:
                return here.create_run(thread, body)
            case ["GET", "threads", thread, "runs", run]:
                return here.retrieve_run(thread, run)
            case ["POST", "threads", thread, "runs", run, "submit_tool_outputs"]:
                return here.submit_outputs(thread, run, body)
            case ["POST", "threads", thread, "runs", run, "cancel"]:
                return here.cancel_run(thread, run)
        raise nowhere(request)


def check(request: Recorded) -> None:
    key = request.headers.get("authorization", "").removeprefix("Bearer").strip()
    if not key and not request.headers.get("x-api-key"):
        message = "You didn't provide an API key."
        raise ApiError(401, message, code="invalid_api_key")
    if not isinstance(request.body, dict):
        raise ApiError(400, "We could not parse the JSON body of your request.")


def nowhere(request: Recorded) -> ApiError:
    return ApiError(404, f"Invalid URL ({request.method} {request.path})")


def model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "openai"}
