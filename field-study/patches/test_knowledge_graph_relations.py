"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_create_relations_silent_acceptance_4ad9d73590() -> None:
    calls = [("create_relations", {"relations": [{}]})]
    judged = replay_calls("mcp:npx -y @itseasy21/mcp-knowledge-graph@1.0.7", calls, SETTINGS)
    # When this was written: acceptance, silent acceptance
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
