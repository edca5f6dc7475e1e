"""A small MCP server: says how often it was called, or leaves."""

import json
import os
import sys

TOOLS = [
    {"name": name, "description": "Say.", "inputSchema": {"type": "object", "properties": {}}}
    for name in ("fine", "leave")
]
count = 0
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "served", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            result = {"tools": TOOLS}
        case "tools/call":
            if message["params"]["name"] == "leave":
                os._exit(3)
            count += 1
            with open("kept", "a") as file:
                file.write("x")
            said = f"{count} {os.path.getsize('kept')} {os.getcwd()} {'SOME_KEY' in os.environ}"
            result = {"content": [{"type": "text", "text": said}]}
        case _:
            print(
                json.dumps(
                    {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "?"}}
                ),
                flush=True,
            )
            continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
