"""What is wrong with a mark is said before anything is run; what stops a run is said without a traceback."""

import os
import re
import signal
import stat
import subprocess
import sys
import time

import pytest

from tests.cli.test_errors import without_override
from tests.pytest_plugin.conftest import Pytest

MARKS = {
    "misstep(conut=3)": ["there is no 'conut' here", "Did you mean 'count'?"],
    "misstep(count=0)": ["invalid value 0 for count", "expected a whole number from 1"],
    "misstep(min_success=2)": ["invalid min_success 2", "expected a number from 0 to 1"],
    "misstep(min_succes=0.5)": ["Did you mean 'min_success'?"],
    "misstep(significant='yes')": ["invalid significant 'yes'"],
    "misstep('3-5')": ["'3-5' has no name", "write @pytest.mark.misstep(name=value)"],
    "misstep(agent='sim:idle')": ["there is no 'agent' here"],
    "misstep(actions=(5, 3, 1))": [
        "invalid value '(5, 3, 1)' for actions",
        "expected a number or a range such as 3-5",
    ],
    "misstep_tool(cals=3)": ["Did you mean 'calls'?"],
    "misstep_tool(calls=3, calls_per_tool=3)": ["calls and calls_per_tool are the same"],
}


def test_wrong_marks_are_usage_errors(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    functions = [
        f"@pytest.mark.{mark}\ndef test_{number}():\n    open('ran', 'w')"
        for number, mark in enumerate(MARKS)
    ]
    functions += [
        "@pytest.mark.misstep\n@pytest.mark.misstep_tool\ndef test_both():\n    pass",
        "class TestOld(unittest.TestCase):\n    @pytest.mark.misstep\n    def test_method(self):\n        pass",
    ]
    pytester.makepyfile("\n\n\n".join(["import unittest\n\nimport pytest", *functions]))
    result = run_pytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = result.stderr.str()
    for words in [
        *MARKS.values(),
        ["a test has either an agent or tools"],
        ["return values of unittest.TestCase methods"],
    ]:
        for word in words:
            assert word in told
    assert "test_wrong_marks_are_usage_errors.py:6  there is no 'conut'" in told
    assert not (pytester.path / "ran").exists()
    run_pytest("-k", "nothing_of_this").assert_outcomes(deselected=len(MARKS) + 2)


@pytest.mark.full
def test_settings_of_the_project_hold_for_marks(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    """A file in the root folder, also from another folder; what is wrong with it is said with its line."""
    pytester.makeini("[pytest]")
    (pytester.path / "misstep.toml").write_text('actions = "2"\ncount = 3\n')
    pytester.makepyfile("""
        import pytest

        @pytest.mark.misstep
        def test_agent():
            return "sim:idle"
    """)
    inner = pytester.mkdir("inner")
    os.chdir(inner)
    text = run_pytest("..").stdout.str()
    assert "0 of 3 cases passed" in text
    assert "--store " in text
    assert (pytester.path / ".misstep/store.db").exists()
    (pytester.path / "misstep.toml").write_text("count = 0\n")
    assert "misstep.toml:1  invalid value 0 for count" in run_pytest("..").stderr.str()


def test_what_stops_a_run_is_said_plainly(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    (pytester.path / "file").write_text("")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.misstep(count=3, store="file/store.db")
        def test_store():
            return "sim:perfect"

        @pytest.mark.misstep(count=500, budget_calls=9, jobs=1)
        def test_budget():
            return "sim:perfect"

        @pytest.mark.misstep(count=2)
        def test_unknown():
            return "sim:prefect"

        @pytest.mark.misstep(count=2, python="python3")
        def test_vain():
            return lambda request, tools: "no"
    """)
    result = run_pytest()
    result.assert_outcomes(failed=4)
    text = result.stdout.str()
    for word in (
        "file/store.db",
        "budget",
        "Did you mean 'sim:perfect'?",
        "python requires an agent given by name",
    ):
        assert word in text
    assert "Traceback" not in text
    assert "misstep/testing" not in text
    assert "misstep/runs" not in text


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="root is stopped with a Linux call")
def test_a_folder_that_may_not_be_written_to(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    """Neither for the store nor for an object that another process needs."""
    pytester.makepyfile("""
        import pytest

        @pytest.mark.misstep(count=2)
        def test_agent():
            return "sim:perfect"

        @pytest.mark.misstep_tool(calls=2)
        def test_tool(tmp_path):
            def greet(name: str) -> str:
                return str(tmp_path) + name

            return greet
    """)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "misstep", "-p", "no:cacheprovider"]
    pytester.path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    result = subprocess.run(command, capture_output=True, text=True, preexec_fn=without_override)
    pytester.path.chmod(stat.S_IRWXU)
    assert "2 failed" in result.stdout
    for place in (r"\.misstep/store\.db", r"\.misstep/objects/\w+\.py"):
        assert re.search(rf"^\S*{place}  .*\n?.*Permission denied", result.stdout, re.MULTILINE), (
            result.stdout
        )
    assert "Traceback" not in result.stdout


@pytest.mark.full
def test_ctrl_c_ends_pytest_and_keeps_the_run(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    pytester.makepyfile("""
        import time, pytest

        def slow(request, tools):
            open("begun", "w").close()
            time.sleep(60)

        @pytest.mark.misstep(count=3)
        def test_slow():
            return slow

        def test_later():
            open("later", "w").close()
    """)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "misstep", "-p", "no:cacheprovider"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while not (pytester.path / "begun").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=50)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "was stopped; finished cases are stored" in out
    assert not (pytester.path / "later").exists()


@pytest.mark.full
def test_it_costs_nothing_where_nobody_uses_it(
    pytester: pytest.Pytester, run_pytest: Pytest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of misstep only the plugin itself is loaded, and that takes nothing but the standard library and pytest."""
    pytester.makepyfile("""
        import sys

        def test_nothing():
            loaded = {name for name in sys.modules if name.partition(".")[0] == "misstep"}
            assert loaded == {"misstep", "misstep.pytest_plugin"}
    """)
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)
    script = """
        import sys, pytest, unittest
        before = set(sys.modules)
        import misstep.pytest_plugin
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        assert new - set(sys.stdlib_module_names) == {"misstep"}, new
    """
    path = pytester.makepyfile(script=script)
    subprocess.run([sys.executable, str(path)], check=True)
