"""Assistants v2: threads keep the conversation, runs move on each time someone looks at them."""

from dataclasses import dataclass, field

from tests.scripted.chat import count, spoken, tool_call
from tests.scripted.decisions import Situation, next_calls
from tests.scripted.parts import CREATED, ApiError, Ids, Json, function_names, need, text_of, words
from tests.scripted.script import Script

ACTIVE = ("queued", "in_progress", "requires_action", "cancelling")


@dataclass
class Run:
    """A run as clients see it, the number of calls it has made, the words it has read."""

    data: Json
    request: str
    made: int = 0
    read: int = 0
    said: int = 0


@dataclass
class Thread:
    data: Json
    messages: list[Json] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)

    @property
    def active_run(self) -> str | None:
        return next((key for key, run in self.runs.items() if run.data["status"] in ACTIVE), None)


class Assistants:
    def __init__(self, script: Script, ids: Ids) -> None:
        self._script = script
        self._ids = ids
        self._assistants = dict[str, Json]()
        self._threads = dict[str, Thread]()

    @property
    def undeleted(self) -> list[str]:
        return [*self._assistants, *self._threads]

    def create_assistant(self, body: Json) -> Json:
        need(body, "model")
        optional = {name: body.get(name) for name in ("name", "description", "instructions")}
        settings = {
            "tools": body.get("tools") or [],
            "metadata": body.get("metadata") or {},
            "model": body["model"],
        }
        data = {
            "id": self._ids.new("asst_"),
            "object": "assistant",
            "created_at": CREATED,
            **optional,
            **settings,
        }
        self._assistants[data["id"]] = data
        return data

    def delete_assistant(self, assistant_id: str) -> Json:
        self._assistant(assistant_id)
        del self._assistants[assistant_id]
        return {"id": assistant_id, "object": "assistant.deleted", "deleted": True}

    def create_thread(self, body: Json) -> Json:
        data = {"id": self._ids.new("thread_"), "object": "thread", "created_at": CREATED}
        thread = Thread({**data, "metadata": body.get("metadata") or {}, "tool_resources": {}})
        self._threads[thread.data["id"]] = thread
        for message in body.get("messages") or ():
            self._add(thread, message)
        return thread.data

    def delete_thread(self, thread_id: str) -> Json:
        self._thread(thread_id)
        del self._threads[thread_id]
        return {"id": thread_id, "object": "thread.deleted", "deleted": True}

    def create_message(self, thread_id: str, body: Json) -> Json:
        thread = self._thread(thread_id)
        if thread.active_run:
            raise ApiError(
                400, f"Can't add messages to {thread_id} while a run {thread.active_run} is active."
            )
        return self._add(thread, body)

    def list_messages(self, thread_id: str, query: dict[str, str]) -> Json:
        """A page of messages, newest first unless the query asks otherwise."""
        found = [m for m in self._thread(thread_id).messages if query.get("run_id") in (None, m["run_id"])]
        found = found if query.get("order") == "asc" else found[::-1]
        keys = [message["id"] for message in found]
        rest = found[keys.index(query["after"]) + 1 :] if query.get("after") in keys else found
        page = rest[: int(query.get("limit", 20))]
        ends = (
            {"first_id": page[0]["id"], "last_id": page[-1]["id"]}
            if page
            else {"first_id": None, "last_id": None}
        )
        return {"object": "list", "data": page, **ends, "has_more": len(page) < len(rest)}

    def create_run(self, thread_id: str, body: Json) -> Json:
        need(body, "assistant_id")
        thread, assistant = self._thread(thread_id), self._assistant(body["assistant_id"])
        if body.get("stream"):
            raise ApiError(400, "This server does not stream runs.", param="stream")
        if thread.active_run:
            raise ApiError(400, f"Thread {thread_id} already has an active run {thread.active_run}.")
        for message in body.get("additional_messages") or ():
            self._add(thread, message)
        asked = [message for message in thread.messages if message["role"] == "user"]
        request = asked[-1]["content"][0]["text"]["value"] if asked else ""
        run = Run(describe(self._ids.new("run_"), thread_id, assistant, body), request)
        thread.runs[run.data["id"]] = run
        return run.data

    def retrieve_run(self, thread_id: str, run_id: str) -> Json:
        """Each look at a run moves it on by one status, so that polling sees all of them."""
        thread, run = self._thread(thread_id), self._run(thread_id, run_id)
        if run.data["status"] == "queued":
            run.data.update(status="in_progress", started_at=CREATED)
        elif run.data["status"] == "in_progress":
            self._take_turn(thread, run)
        elif run.data["status"] == "cancelling":
            run.data.update(status="cancelled", cancelled_at=CREATED, usage=count(run.read, run.said))
        return run.data

    def submit_outputs(self, thread_id: str, run_id: str, body: Json) -> Json:
        run = self._run(thread_id, run_id)
        if run.data["status"] != "requires_action":
            raise ApiError(400, f'Runs in status "{run.data["status"]}" do not accept tool outputs.')
        calls = run.data["required_action"]["submit_tool_outputs"]["tool_calls"]
        wanted = [call["id"] for call in calls]
        given = [output.get("tool_call_id") for output in body.get("tool_outputs") or ()]
        if sorted(map(str, given)) != sorted(wanted):
            raise ApiError(400, f"Expected tool outputs for call_ids {wanted}, got {given}")
        run.made += len(wanted)
        run.read += words(body["tool_outputs"])
        run.data.update(status="queued", required_action=None)
        return run.data

    def cancel_run(self, thread_id: str, run_id: str) -> Json:
        run = self._run(thread_id, run_id)
        if run.data["status"] not in ACTIVE:
            raise ApiError(400, f"Cannot cancel run with status '{run.data['status']}'.")
        run.data.update(status="cancelling", required_action=None)
        return run.data

    def _take_turn(self, thread: Thread, run: Run) -> None:
        tools = [] if run.data["tool_choice"] == "none" else function_names(run.data["tools"])
        seen = Situation(run.request, tools, run.made, run.data["parallel_tool_calls"])
        calls = next_calls(self._script, seen)
        run.read += words([message["content"] for message in thread.messages]) + words(run.data["tools"])
        run.said += spoken("" if calls else self._script.answer, calls)
        if calls:
            wanted = {"tool_calls": [tool_call(self._ids, call) for call in calls]}
            action = {"type": "submit_tool_outputs", "submit_tool_outputs": wanted}
            run.data.update(status="requires_action", required_action=action)
            return
        self._add(thread, {"role": "assistant", "content": self._script.answer}, run)
        run.data.update(status="completed", completed_at=CREATED, usage=count(run.read, run.said))

    def _add(self, thread: Thread, body: Json, run: Run | None = None) -> Json:
        need(body, "role", "content")
        text = {"type": "text", "text": {"value": text_of(body["content"]), "annotations": []}}
        message = {
            "id": self._ids.new("msg_"),
            "object": "thread.message",
            "created_at": CREATED,
            "thread_id": thread.data["id"],
            "role": body["role"],
            "content": [text],
            "status": "completed",
            "assistant_id": run.data["assistant_id"] if run else None,
            "run_id": run.data["id"] if run else None,
            "attachments": [],
            "metadata": body.get("metadata") or {},
        }
        thread.messages.append(message)
        return message

    def _assistant(self, assistant_id: str) -> Json:
        if assistant_id not in self._assistants:
            raise ApiError(404, f"No assistant found with id '{assistant_id}'.")
        return self._assistants[assistant_id]

    def _thread(self, thread_id: str) -> Thread:
        if thread_id not in self._threads:
            raise ApiError(404, f"No thread found with id '{thread_id}'.")
        return self._threads[thread_id]

    def _run(self, thread_id: str, run_id: str) -> Run:
        runs = self._thread(thread_id).runs
        if run_id not in runs:
            raise ApiError(404, f"No run found with id '{run_id}'.")
        return runs[run_id]


def describe(run_id: str, thread_id: str, assistant: Json, body: Json) -> Json:
    return {
        "id": run_id,
        "object": "thread.run",
        "created_at": CREATED,
        "assistant_id": assistant["id"],
        "thread_id": thread_id,
        "status": "queued",
        "started_at": None,
        "expires_at": CREATED + 600,
        "cancelled_at": None,
        "failed_at": None,
        "completed_at": None,
        "required_action": None,
        "last_error": None,
        "incomplete_details": None,
        "model": body.get("model") or assistant["model"],
        "instructions": body.get("instructions") or assistant["instructions"] or "",
        "tools": assistant["tools"] if body.get("tools") is None else body["tools"],
        "tool_choice": body.get("tool_choice") or "auto",
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "response_format": "auto",
        "truncation_strategy": {"type": "auto", "last_messages": None},
        "metadata": body.get("metadata") or {},
        "usage": None,
    }
