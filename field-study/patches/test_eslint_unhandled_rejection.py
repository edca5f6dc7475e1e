"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_lint_files_process_died_404c7c4446() -> None:
    calls = [
        ("lint-files", {"filePaths": ["index.html", "50% 3.5 é A-B"]}),
        ("lint-files", {"filePaths": ['["a", "b"]']}),
    ]
    judged = replay_calls("mcp:npx -y @eslint/mcp@0.3.13", calls, SETTINGS)
    # When this was written: crash, process died
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
