"""A small MCP server: says how often it was called, leaves, or does not come back."""

import json
import os
import sys
import time

TOOLS = [
    {"name": name, "description": "Say.", "inputSchema": {"type": "object", "properties": {}}}
    for name in ("fine", "leave", "burn", "wait")
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
            name = message["params"]["name"]
            if name == "leave":
                os._exit(3)
            if name == "wait":
                time.sleep(600)
            while name == "burn":
                pass
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
