"""An MCP server without an SDK, which breaks its promises and the protocol."""

import json
import sys
from typing import Any

READINGS = [20.5, 21.0, 19.5]
PEOPLE = {"ada": "a mathematician", "alan": "a logician"}
TEXT = {"type": "string"}
TOOLS = [
    {
        "name": "measure",
        "description": "Read a sensor.",
        "inputSchema": {
            "type": "object",
            "properties": {"sensor": {"type": "string", "enum": ["inside", "outside"]}},
            "required": ["sensor"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"degrees": {"type": "number"}},
            "required": ["degrees"],
        },
    },
    {
        "name": "ration",
        "description": "Give out some pieces of bread.",
        "inputSchema": {
            "type": "object",
            "properties": {"pieces": {"type": "integer", "minimum": 0}},
            "required": ["pieces"],
        },
    },
    {
        "name": "reading",
        "description": "One of the last readings.",
        "inputSchema": {
            "type": "object",
            "properties": {"place": {"type": "integer", "minimum": 0}},
            "required": ["place"],
        },
    },
    {
        "name": "signal",
        "description": "Send a signal, green or red.",
        "inputSchema": {
            "type": "object",
            "properties": {"colour": {"type": "string", "enum": ["green", "red"]}},
            "required": ["colour"],
        },
    },
    {
        "name": "urgency",
        "description": "Set how urgent the ticket is.",
        "inputSchema": {
            "type": "object",
            "properties": {"level": {"type": "string", "enum": ["low", "medium", "high"]}},
            "required": ["level"],
        },
    },
    {
        "name": "loudness",
        "description": "Set how loud the speaker is.",
        "inputSchema": {
            "type": "object",
            "properties": {"percent": {"type": "integer", "minimum": 0, "maximum": 100}},
            "required": ["percent"],
        },
    },
    {
        "name": "person",
        "description": "Who somebody was.",
        "inputSchema": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
    },
    {
        "name": "mirror",
        "description": "Say the same thing again.",
        "inputSchema": {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
    },
]


class Refused(Exception):
    """Arguments that are not taken."""


def said(text: str, failed: bool = False, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": failed, **more}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    match name:
        case "measure":
            if arguments.get("sensor") not in ("inside", "outside"):
                raise Refused("sensor must be inside or outside")
            found = {"degrees": 20.5 if arguments["sensor"] == "inside" else "frozen"}
            return said(json.dumps(found), structuredContent=found)
        case "ration":
            pieces = arguments.get("pieces")
            if not isinstance(pieces, int) or not 0 <= pieces <= 10:
                raise Refused("pieces must be <= 10 and >= 0")
            return said(f"{pieces} pieces")
        case "reading":
            if not isinstance(arguments.get("place"), int) or arguments["place"] < 0:
                raise Refused("place must be >= 0")
            try:
                return said(str(READINGS[arguments["place"]]))
            except IndexError as error:
                return said(str(error), failed=True)
        case "signal":
            if arguments.get("colour") not in ("green", "red"):
                raise Refused("colour must be green or red")
            return said("sent")
        case "urgency":
            return said(f"the priority is {arguments.get('level')} now")
        case "loudness":
            return said(f"the volume is {arguments.get('percent')} % now")
        case "person":
            if arguments.get("name") not in PEOPLE:
                return said(f"Nobody of that name is known; known are {', '.join(PEOPLE)}.", failed=True)
            return said(PEOPLE[arguments["name"]])
        case "mirror":
            if not isinstance(arguments.get("text"), str):
                raise Refused("text must be a string")
            return said(arguments["text"])
    raise Refused(f"there is no tool {name!r}")


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    given = request.get("params") or {}
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": given["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return call(given["name"], given.get("arguments") or {})
    return {}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            reply["result"] = answer(request)
        except Refused as refusal:
            reply["error"] = {"code": -32602, "message": f"Invalid params: {refusal}"}
        if (request.get("params") or {}).get("arguments") == {"colour": "red"}:
            reply["result"] = "red"  # a result has to be an object
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
