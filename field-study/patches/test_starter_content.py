"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_hello_tool_protocol_f35805e3e3() -> None:
    calls = [("hello_tool", {"name": ""})]
    judged = replay_calls("mcp:npx -y mcp-starter@0.1.0", calls, SETTINGS)
    # When this was written: protocol, protocol
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
