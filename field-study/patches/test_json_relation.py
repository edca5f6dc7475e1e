"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_relate_json_files_silent_acceptance_f26c2b89d1() -> None:
    calls = [("relate_json_files", {"relationType": ""})]
    judged = replay_calls("mcp:npx -y mcp-json@1.0.0", calls, SETTINGS)
    # When this was written: acceptance, silent acceptance
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
