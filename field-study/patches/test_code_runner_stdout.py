"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_run_code_protocol_6876d04ec9() -> None:
    calls = [("run-code", {"code": " ", "languageId": "vbscript"})]
    judged = replay_calls("mcp:npx -y mcp-server-code-runner@0.1.8", calls, SETTINGS)
    # When this was written: protocol, protocol
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
