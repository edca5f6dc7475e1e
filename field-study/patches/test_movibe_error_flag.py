"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_initialize_memory_bank_error_flag_75653afdfc() -> None:
    calls = [("initialize_memory_bank", {"path": ".clinerules-ask"})]
    judged = replay_calls("mcp:npx -y @movibe/memory-bank-mcp@0.4.1", calls, SETTINGS)
    # When this was written: contract, error flag
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
