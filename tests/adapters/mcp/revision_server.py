"""An MCP server of any revision, over standard input and output: asks its client, and offers more than tools.

Its argument is the revision. The tool `ask` sends requests of the kinds in `kinds` to the client, and returns what it
got as JSON; in the newest revision it requires them as input instead.
"""

import json
import sys
from typing import Any

NEWEST = "2026-07-28"
REVISION = sys.argv[1]
FORM = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "size": {"type": "integer", "minimum": 3, "maximum": 5},
        "kind": {"type": "string", "enum": ["a", "b"], "default": "b"},
    },
    "required": ["city"],
}
MESSAGE = {"role": "user", "content": {"type": "text", "text": "hi"}}
REQUESTS: dict[str, dict[str, Any]] = {
    "sampling": {
        "method": "sampling/createMessage",
        "params": {"messages": [MESSAGE], "maxTokens": 10},
    },
    "elicitation": {
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": FORM},
    },
    "roots": {"method": "roots/list"},
    "ping": {"method": "ping"},
    "unknown": {"method": "nonsense/nothing"},
}
ASK = {
    "name": "ask",
    "description": "Ask.",
    "inputSchema": {"type": "object", "properties": {"kinds": {"type": "array"}, "n": {"type": "integer"}}},
}
TEMPLATE = {"uriTemplate": "notes://{title}", "name": "note", "description": "A note."}
PROMPT = {
    "name": "greet",
    "description": "Greet somebody.",
    "arguments": [{"name": "who", "required": True}, {"name": "tone"}],
}


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask_client(kind: str, token: Any) -> Any:
    """What the client replies to a request, after some notifications that need no reply."""
    log = {"level": "info", "data": "asking"}
    say({"method": "notifications/message", "params": log})
    if token is not None:
        say({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
    say({"id": f"our-{kind}", **REQUESTS[kind]})
    reply = json.loads(sys.stdin.readline())
    return reply.get("result", reply.get("error"))


def call(params: dict[str, Any]) -> dict[str, Any]:
    kinds = params["arguments"].get("kinds", [])
    token = params.get("_meta", {}).get("progressToken")
    if params["arguments"].get("about") == "progress":
        return {"content": [{"type": "text", "text": json.dumps(token is not None)}]}
    if REVISION == NEWEST and kinds:
        given = params.get("inputResponses", {})
        if not given:
            wanted = {kind: REQUESTS[kind] for kind in kinds}
            return {"resultType": "input_required", "inputRequests": wanted, "requestState": "first"}
        answers = {**given, "state": params["requestState"]}
    else:
        answers = {kind: ask_client(kind, token) for kind in kinds}
    return {"content": [{"type": "text", "text": json.dumps(answers)}]}


def read(params: dict[str, Any]) -> dict[str, Any]:
    if params["uri"] == "notes://none":
        raise LookupError("there is no such note")
    return {"contents": [{"uri": params["uri"], "text": f"note {params['uri']}"}]}


def prompt(params: dict[str, Any]) -> dict[str, Any]:
    text = f"Hello, {params['arguments']['who']}" + " (progress)" * (
        "progressToken" in params.get("_meta", {})
    )
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def complete(params: dict[str, Any]) -> dict[str, Any]:
    return {"completion": {"values": [params["argument"]["value"] + "!"]}}


CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}}
RESULTS: dict[str, Any] = {
    "initialize": lambda _: {
        "protocolVersion": REVISION,
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": "r", "version": "1"},
    },
    "logging/setLevel": lambda _: {},
    "tools/list": lambda _: {"tools": [ASK]},
    "tools/call": call,
    "resources/list": lambda _: {"resources": [{"uri": "notes://first", "name": "first"}]},
    "resources/templates/list": lambda _: {"resourceTemplates": [TEMPLATE]},
    "resources/read": read,
    "prompts/list": lambda _: {"prompts": [PROMPT]},
    "prompts/get": prompt,
    "completion/complete": complete,
}
HINTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
if REVISION == NEWEST:
    RESULTS["server/discover"] = lambda _: {"supportedVersions": [NEWEST], "capabilities": CAPABILITIES}
    del RESULTS["initialize"]

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if make := RESULTS.get(request["method"]):
        try:
            result = make(request.get("params", {}))
        except LookupError as error:
            say({"id": request["id"], "error": {"code": -32602, "message": str(error)}})
            continue
        extra = HINTS if REVISION == NEWEST else {}
        say({"id": request["id"], "result": {**extra, **result}})
    else:
        say({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
