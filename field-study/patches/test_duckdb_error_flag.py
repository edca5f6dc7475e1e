"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_query_error_flag_42e27c332b() -> None:
    calls = [("query", {"query": "a"})]
    judged = replay_calls(
        "mcp:uvx --with 'mcp<2' --from mcp-server-duckdb==1.1.0 mcp-server-duckdb --db-path test.duckdb",
        calls,
        SETTINGS,
    )
    # When this was written: contract, error flag
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
