"""A client without any SDK: JSON-RPC by hand, in the version of the protocol that it is told.

usage: raw.py CONFIG VERSION TIMES; calls all tools in the order listed, so many times, prints what they say
"""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any


class Pipe:
    def __init__(self, command: str, args: list[str], env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [command, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, start_new_session=True
        )

    def send(self, message: dict[str, Any]) -> Any:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline()) if "id" in message else None


class Post:
    def __init__(self, type: str, url: str) -> None:
        self._url = url
        self._headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

    def send(self, message: dict[str, Any]) -> Any:
        request = urllib.request.Request(self._url, json.dumps(message).encode(), self._headers)
        with urllib.request.urlopen(request) as response:
            body = response.read()
        return json.loads(body) if "id" in message else None


class Server:
    def __init__(self, wire: Pipe | Post, version: str) -> None:
        self._wire = wire
        self._count = 0
        offer = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        self.version = self.ask("initialize", offer)["protocolVersion"]
        self._wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._count += 1
        reply = self._wire.send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return reply["result"]


def main(config: str, version: str, times: str) -> None:
    entry = json.loads(Path(config).read_text())["mcpServers"]["misstep"]
    server = Server(Post(**entry) if "url" in entry else Pipe(**entry), version)
    names = [tool["name"] for tool in server.ask("tools/list", {})["tools"]]
    said = [
        server.ask("tools/call", {"name": name, "arguments": {}})["content"][0]["text"]
        for name in names * int(times)
    ]
    print(json.dumps({"version": server.version, "tools": names, "said": said}))


if __name__ == "__main__":
    main(*sys.argv[1:])
