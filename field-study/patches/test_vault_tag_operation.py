"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_manage_tags_silent_acceptance_7111574f2f() -> None:
    calls = [("manage_tags", {"path": "report.txt", "operation": ""})]
    judged = replay_calls("mcp:npx -y @bitbonsai/mcpvault@0.16.0 .", calls, SETTINGS)
    # When this was written: acceptance, silent acceptance
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
