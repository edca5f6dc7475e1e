"""The part that MCP servers on standard streams have in common, to follow an `answer` of their own."""

# A server whose folder holds a file `gone` does not start.
SPEAKING = """

def respond(method, parameters):
    if method != "initialize":
        return answer(method, parameters)
    version, served = parameters["protocolVersion"], {"name": "served", "version": "1"}
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": served}


if os.path.exists(f"{HERE}/gone"):
    sys.exit("out of order")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = respond(asked["method"], asked.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
