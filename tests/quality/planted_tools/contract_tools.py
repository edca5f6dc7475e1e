"""What the servers that break promises share: tools, the faults planted in them, and the protocol without an SDK.

Every fault is planted by one call of `planted`, with its name. A server that is started as `fixed` has none.
"""

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

FIXED = sys.argv[1:] == ["fixed"]
UNKNOWN: dict[str, Any] = {"inputSchema": {"properties": {}}}
KINDS = {"string": str, "integer": int, "array": list, "object": dict}
SAYS = list[str]()  # what the server tells agents about itself
TOOLS = dict[str, tuple[dict[str, Any], Callable[..., Any]]]()


def planted(fault: str) -> bool:
    return not FIXED


class Failure(Exception):
    """What a tool refuses."""


def tool(description: str, *names: str, **hints: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a tool whose parameters are texts; `number:` names one that is an integer."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        properties = {
            name.removeprefix("number:"): {"type": "integer", "minimum": 0}
            if name.startswith("number:")
            else {"type": "string", "minLength": 1}
            for name in names
        }
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        told = {"name": function.__name__, "description": description, "inputSchema": schema}
        TOOLS[function.__name__] = told | ({"annotations": hints} if hints else {}), function
        return function

    return register


def refused(name: str) -> str:
    raise Failure(f"there is no tool {name[:50]!r}")


def called(name: str, arguments: dict[str, Any], otherwise: Callable[[str], str]) -> dict[str, Any]:
    told, function = TOOLS.get(name, (UNKNOWN, partial(otherwise, name)))
    for each, schema in told["inputSchema"]["properties"].items():
        kind, value = KINDS[schema["type"]], arguments.get(each)
        if type(value) is not kind or (kind is int and value < 0) or value in ("", [], {}):
            return {"content": [{"type": "text", "text": f"{each} is missing or wrong"}], "isError": True}
    try:
        result = function(**{each: arguments[each] for each in told["inputSchema"]["properties"]})
    except Failure as failure:
        return {"content": [{"type": "text", "text": str(failure)}], "isError": True}
    if isinstance(result, dict):
        return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}
    return {"content": [{"type": "text", "text": result}]}


def answer(request: dict[str, Any], otherwise: Callable[[str], str]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            about = {"name": "contracts", "version": "1"}
            told = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
            return told | {"instructions": "\n".join(SAYS)}
        case "tools/list":
            return {"tools": [told for told, _ in TOOLS.values()]}
        case "tools/call":
            given = request["params"]
            return called(given["name"], given.get("arguments") or {}, otherwise)
    return {}


def serve(
    threads: int = 0,
    notified: Callable[[str], None] = lambda method: None,
    otherwise: Callable[[str], str] = refused,
) -> None:
    """Answer requests until the input ends, in so many threads or one after the other.

    `otherwise` is called for tools that do not exist.
    """
    writing, pool = threading.Lock(), ThreadPoolExecutor(threads or 1)

    def reply(request: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request, otherwise)})
        with writing:
            print(line, flush=True)

    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            notified(request["method"])
        elif threads:
            pool.submit(reply, request)
        else:
            reply(request)
