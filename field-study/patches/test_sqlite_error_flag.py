"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_write_query_error_flag_bf79f61fcd() -> None:
    calls = [("write_query", {"query": "museums nearby"})]
    judged = replay_calls(
        "mcp:uvx --with 'mcp<2' --from mcp-server-sqlite==2025.4.25 mcp-server-sqlite --db-path test.db",
        calls,
        SETTINGS,
    )
    # When this was written: contract, error flag
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
