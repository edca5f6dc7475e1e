"""A program that speaks just enough of MCP's second version to answer calls with nonsense.

The tool is told in which way: by its only argument. With an argument of its own it talks before that, too.
"""

import json
import sys
from typing import Any

TOOL = {"name": "nonsense", "inputSchema": {"type": "object", "properties": {"how": {"type": "string"}}}}
VERSION = "2024-11-05"


def say(value: Any) -> None:
    print(value if isinstance(value, str) else json.dumps(value), flush=True)


def answer(number: Any, arguments: dict[str, Any]) -> None:
    how = arguments.get("how", "")
    result = {"content": [{"type": "text", "text": "fine"}]}
    envelope = {"jsonrpc": "2.0", "id": number}
    match how:
        case "repeat":
            say({**envelope, "result": {"content": [{"type": "text", "text": repr(arguments)}]}})
        case "chatter":
            say("calling the tool")
            say({**envelope, "result": result})
        case "much chatter":
            say("\n".join(f"line {number}" for number in range(2_000)))
            say({**envelope, "result": result})
        case "halves":
            content = [{"type": "text", "text": "a\ud800b"}]
            say({**envelope, "result": {"content": content}})
        case "no content":
            say({**envelope, "result": {"content": 5}})
        case "wrong number":
            say({**envelope, "id": 99_999, "result": result})
        case "no message":
            say({"fine": True})
        case "quiet end":
            sys.exit(0)
        case _:
            say({**envelope, "result": result})


if sys.argv[1:]:
    say("starting up")
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            server = {"name": "garbled", "version": "1"}
            told = {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": server}
            say({"jsonrpc": "2.0", "id": message["id"], "result": told})
        case "tools/list":
            say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [TOOL]}})
        case "tools/call":
            answer(message["id"], message["params"]["arguments"])
        case _ if "id" in message:
            error = {"code": -32601, "message": "Method not found"}
            say({"jsonrpc": "2.0", "id": message["id"], "error": error})
