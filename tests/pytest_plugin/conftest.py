"""Runs of pytest as a user starts them: a process of their own, in a folder of their own."""

import os
from collections.abc import Callable

import pytest

Pytest = Callable[..., pytest.RunResult]


@pytest.fixture
def run_pytest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Pytest:
    """`run_pytest("-k", "…")` with the plugin that is installed as misstep, and no settings but those of the tests."""
    for name in [name for name in os.environ if name.startswith(("MISSTEP_", "PYTEST_"))]:
        monkeypatch.delenv(name)
    for name in ("CI", "BUILD_NUMBER"):  # by which pytest says everything twice
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # those of all the frameworks take seconds

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-q", "-p", "misstep", "-p", "no:cacheprovider", *arguments)

    return run
