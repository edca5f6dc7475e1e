"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_write_query_read_back_3d9263dd74() -> None:
    calls = [
        ("create_table", {"query": "CREATE TABLE IF NOT EXISTS misstep_words (word TEXT)"}),
        ("write_query", {"query": "INSERT INTO misstep_words VALUES ('misstep-control')"}),
        ("read_query", {"query": "SELECT word FROM misstep_words"}),
        ("write_query", {"query": "REPLACE INTO misstep_words VALUES ('misstep-replaced')"}),
        ("read_query", {"query": "SELECT word FROM misstep_words"}),
    ]
    judged = replay_calls(
        "mcp:uvx --with 'mcp<2' --from mcp-server-sqlite==2025.4.25 mcp-server-sqlite --db-path test.db",
        calls,
        SETTINGS,
    )
    # When this was written: contract, read back
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
