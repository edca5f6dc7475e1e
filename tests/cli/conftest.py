"""The command line, run whole in a folder of its own."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from misstep.cli import run


class Result(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str


Command = Callable[..., Result]


@pytest.fixture
def misstep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """`misstep("plan", "synth", …)` in an empty folder, with what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in (
        "GITHUB_STEP_SUMMARY",
        "NO_COLOR",
        "FORCE_COLOR",
        "TTY_COMPATIBLE",
        *(name for name in os.environ if name.startswith("MISSTEP_")),
    ):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Result:
        code = run(list(arguments))
        printed = capfd.readouterr()
        return Result(code, printed.out, printed.err)

    return call
