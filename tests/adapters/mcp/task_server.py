"""An MCP server without an SDK whose tools run as tasks: of the revision 2025-11-25, or of the extension for 2026-07-28.

Its argument is the revision. A task works until it was looked at twice.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

NEWEST = "2026-07-28"
REVISION = sys.argv[1]
IS_NEW = REVISION == NEWEST
EXTENSION: dict[str, Any] = {"io.modelcontextprotocol/tasks": {}}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
NAMES = ("build", "fail", "ask", "stop", "drift")
TOOLS = [
    {"name": each, "inputSchema": SCHEMA, **({} if IS_NEW else {"execution": {"taskSupport": "required"}})}
    for each in NAMES
]
FORM = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 3, "maximum": 5}}}
QUESTION = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": FORM}}
LOOKS, ANSWERS, LOG = dict[str, int](), dict[str, Any](), list[str]()
TIME = "2026-01-01T00:00:00Z"


class Failed(Exception):
    """What is answered with a JSON-RPC error."""


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def status(name: str) -> str:
    tool = name.partition("-")[0]
    if tool == "drift" or LOOKS[name] < 2:
        return "working"
    if tool == "ask" and name not in ANSWERS:
        return "input_required"
    return {"fail": "failed", "stop": "cancelled"}.get(tool, "completed")


def told(name: str) -> dict[str, Any]:
    """A task as the revision describes it."""
    times = {"createdAt": TIME, "lastUpdatedAt": TIME}
    limits = {"ttlMs": None, "pollIntervalMs": 1} if IS_NEW else {"ttl": None, "pollInterval": 1}
    return {"taskId": name, "status": status(name), **times, **limits}


def result(name: str) -> dict[str, Any]:
    if name.startswith("fail"):
        raise Failed("the oven is cold")
    if name.startswith("ask") and name not in ANSWERS:
        say({"id": "our-1", **QUESTION})
        ANSWERS[name] = json.loads(sys.stdin.readline())["result"]
    text = json.dumps([LOG, ANSWERS.get(name)])
    return {"content": [{"type": "text", "text": text}]}


def call(params: dict[str, Any]) -> dict[str, Any]:
    name = f"{params['name']}-{len(LOOKS)}"
    LOOKS[name] = 0
    LOG[:] = []
    if IS_NEW:
        declared = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]
        return {**told(name), "resultType": "task"} if declared == EXTENSION else {}
    return {"task": told(name)} if "task" in params else {}


def look(params: dict[str, Any]) -> dict[str, Any]:
    name = params["taskId"]
    LOOKS[name] += 1
    state = told(name)
    if IS_NEW and state["status"] == "completed":
        state["result"] = result(name)
    if IS_NEW and state["status"] == "failed":
        state["error"] = {"code": -32603, "message": "the oven is cold"}
    if IS_NEW and state["status"] == "input_required":
        state["inputRequests"] = {"size": QUESTION}
    return state


def update(params: dict[str, Any]) -> dict[str, Any]:
    ANSWERS[params["taskId"]] = params["inputResponses"]["size"]
    return {}


CAPABILITIES: dict[str, Any] = {"tools": {}}
CAPABILITIES |= {"extensions": EXTENSION} if IS_NEW else {"tasks": {"requests": {"tools": {"call": {}}}}}
RESULTS: dict[str, Any] = {
    "tools/list": lambda _: {"tools": TOOLS},
    "tools/call": call,
    "tasks/get": look,
    "tasks/cancel": lambda _: {},
}
if IS_NEW:
    RESULTS["server/discover"] = lambda _: {"supportedVersions": [NEWEST], "capabilities": CAPABILITIES}
    RESULTS["tasks/update"] = update
else:
    RESULTS["initialize"] = lambda _: {
        "protocolVersion": REVISION,
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": "t", "version": "1"},
    }
    RESULTS["tasks/result"] = lambda params: result(params["taskId"])
HINTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if IS_NEW else {}


def requests() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            yield request


for request in requests():
    LOG.append(request["method"])
    if make := RESULTS.get(request["method"]):
        try:
            say({"id": request["id"], "result": {**HINTS, **make(request.get("params", {}))}})
        except Failed as failure:
            say({"id": request["id"], "error": {"code": -32603, "message": str(failure)}})
    else:
        say({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
