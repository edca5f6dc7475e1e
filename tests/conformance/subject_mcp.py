"""Black boxes behind MCP: programs of their own, which misstep starts, listens to and kills."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from misstep.adapters.mcp.agent import McpAgent, Transport
from misstep.core.agent import Agent
from tests.conformance.subject_subprocess import FEW
from tests.conformance.subjects import Subject
from tests.scripted import ScriptedServer

CLIENTS = Path(__file__).parent / "mcp_clients"


def client(program: str, arguments: str, transport: Transport) -> Callable[[ScriptedServer], Agent]:
    command = f"{shlex.join([sys.executable, str(CLIENTS / program)])} {arguments}"

    def make(server: ScriptedServer) -> Agent:
        environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test"}
        return McpAgent(command, program, transport, environment)

    return make


# A black box shows what gets to its server: no turns, no tokens, no call that it could not read itself. The
# Agents SDK knows its tools, so a call to an unknown one ends its run before any server hears of it, and one that
# lacks an argument is answered by itself. It makes parallel calls at once: over a pipe they arrive in the order
# emitted, over HTTP in any. Every case starts a program, which is slow.
HIDDEN = ("malformed", "turns", "usage")
WITH_REQUEST = "{config} {request}"
NEEDS = ("mcp",)
SUBJECTS = [
    Subject("mcp http", client("openai_loop.py", WITH_REQUEST, "http"), NEEDS, hides=HIDDEN, slow=True),
    Subject("mcp stdio", client("openai_loop.py", "{config}", "stdio"), NEEDS, at_once=FEW, hides=HIDDEN),
    Subject(
        "mcp openai-agents",
        client("openai_agents.py", WITH_REQUEST, "stdio"),
        (*NEEDS, "agents"),
        at_once=FEW,
        hides=(*HIDDEN, "unknown", "missing"),
    ),
]
