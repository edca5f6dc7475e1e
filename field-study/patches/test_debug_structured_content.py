"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_debug_tool_output_schema_4a774ce2a5() -> None:
    calls = [("debug-tool", {"includeStructuredContent": False})]
    judged = replay_calls("mcp:npx -y @modelcontextprotocol/server-debug@2.0.3 --stdio", calls, SETTINGS)
    # When this was written: schema, output schema
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
