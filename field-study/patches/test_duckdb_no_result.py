"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_query_attributeerror_b4ccd32119() -> None:
    calls = [("query", {"query": ""})]
    judged = replay_calls(
        "mcp:uvx --with 'mcp<2' --from mcp-server-duckdb==1.1.0 mcp-server-duckdb --db-path test.duckdb",
        calls,
        SETTINGS,
    )
    # When this was written: crash, AttributeError
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
