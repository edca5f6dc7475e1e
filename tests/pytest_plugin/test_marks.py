"""Functions that return agents or tools, as tests."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from misstep.core.settings import Settings
from misstep.runs.lookup import list_runs
from tests.pytest_plugin.conftest import Pytest
from tests.scripted import ScriptedServer

AGENTS = """
import pytest


def in_the_order_given(request, tools):
    for tool in tools:
        tool()
    return "done"


async def waiting(request, tools):
    return in_the_order_given(request, tools)


@pytest.fixture
def careful():
    return "sim:perfect"


@pytest.mark.misstep(actions="3-4", count=10, min_success=0.9)
def test_fails():
    return in_the_order_given


@pytest.mark.misstep(actions=(6, 6), count=5)
def test_takes_fixtures(careful):
    return careful


@pytest.mark.misstep(count=4, min_success=0.0)
async def test_async():
    return waiting


@pytest.mark.misstep(count=4)
@pytest.mark.parametrize("name", ["perfect", "idle"])
def test_parameters(name):
    return f"sim:{name}"


@pytest.mark.misstep(count=2, min_success=0)
class TestClass:
    def test_inherits(self):
        return "sim:idle"

    @pytest.mark.misstep(min_success=1)
    def test_has_the_last_word(self):
        return "sim:idle"


@pytest.mark.misstep
def test_without_call():
    return "sim:perfect"


@pytest.mark.misstep(count=3)
def test_skipped():
    pytest.skip("not today")


@pytest.mark.misstep(count=3)
def test_no_agent():
    pass


@pytest.mark.misstep(count=3)
def test_broken():
    raise RuntimeError("no weights")


@pytest.mark.misstep(count=3)
def test_not_called_like_an_agent():
    return 42


def test_ordinary():
    assert True
"""


def test_agents_become_tests(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    """Each in its own way, with failures that can be read and replayed, and properties for machines."""
    pytester.makepyfile(test_agents=AGENTS)
    result = run_pytest("--junitxml=junit.xml", "-rA")
    result.assert_outcomes(passed=6, failed=6, skipped=1)
    text = result.stdout.str()
    for failed in ("fails", "parameters[idle]", "has_the_last_word", "no_agent", "broken", "an_agent"):
        assert re.search(rf"FAILED .*{re.escape(failed)}", text), failed
    assert "success is 0.0 %, required 90.0 %" in text
    failure = text.partition("_ test_fails _")[2].partition("_ test_")[0]
    assert failure.count("95 % interval 0.0 % to 27.8 %, chance level") == 1
    assert "← misstep" in text
    assert "You are a" in text
    assert "RuntimeError: no weights" in text
    assert "test_no_agent returns no agent" in text
    assert "def agent(request, tools)" in text
    assert "is a int, which is not an agent" in text
    assert "During handling" not in text
    assert "pytest_plugin.py" not in text  # no traceback through our own code
    _check_properties(pytester.path / "junit.xml")


def _check_properties(path: Path) -> None:
    cases = {case.get("name"): case for case in ElementTree.parse(path).iter("testcase")}
    failed = {each.get("name"): each.get("value") for each in cases["test_fails"].iter("property")}
    assert failed["misstep_success"] == "0.0"
    assert failed["misstep_interval"] == "0.0000-0.2775"
    runs = {each.run.id for each in list_runs(Settings(store=str(path.parent / ".misstep/store.db")))[0]}
    assert failed["misstep_run"] in runs
    assert not list(cases["test_ordinary"].iter("property"))


@pytest.mark.full
def test_a_failure_is_replayed_by_the_command_it_names(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    """From the folder in which it was typed; where the case has passed by now, the test does."""
    folder = pytester.mkdir("inner")
    pytester.makeini("[pytest]")
    (folder / "test_one.py").write_text(AGENTS)
    pytester.chdir()
    text = run_pytest("inner/test_one.py", "-k", "test_fails").stdout.str()
    command = re.search(r"Replay: pytest (.*)", text)
    assert command
    again = run_pytest(*command[1].split())
    again.assert_outcomes(failed=1)
    assert "nearest correct plan" in again.stdout.str()
    assert "success" not in again.stdout.str()
    case = command[1].split()[-1]
    other = run_pytest("inner/test_one.py", "--misstep-case", case, "-k", "fails or ordinary or fixtures")
    other.assert_outcomes(failed=1, passed=1, skipped=1)


TOOLS = '''
import pytest


def halve(text: str) -> str:
    """The second half of a text with a comma."""
    return text.split(",")[1]


def greet(name: str) -> str:
    """A greeting."""
    return f"Hello {name}"


@pytest.fixture
def separator():
    return ","


@pytest.mark.misstep_tool(calls=60)
def test_crashes():
    return halve


@pytest.mark.misstep_tool(calls=60)
def test_crashes_with_fixtures(separator):
    def cut(text: str) -> str:
        """The second part of a text."""
        return text.split(separator)[1]

    return cut


@pytest.mark.misstep_tool(calls=40)
def test_several():
    return [greet]


@pytest.mark.misstep_tool(calls=40)
def test_by_name():
    return "test_tools.py:greet"


@pytest.mark.misstep_tool(calls=40)
def test_nothing():
    return None
'''


@pytest.mark.full
def test_tools_become_tests(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    """Also those that no module has; each finding with the smallest call and the command that replays it."""
    pytester.makepyfile(test_tools=TOOLS)
    result = run_pytest()
    result.assert_outcomes(passed=2, failed=3)
    text = result.stdout.str()
    assert 'halve({"text": ""})' in text
    assert 'cut({"text": ""})' in text
    assert text.count("crash  IndexError") == 2
    assert "test_nothing returns no tools" in text
    for finding in re.findall(r"Replay: (misstep replay \S+)", text):
        again = pytester.run(sys.executable, "-m", *finding.split())
        assert again.ret == 1
        again.stdout.fnmatch_lines(["as before"])


@pytest.mark.full
def test_a_model_on_loopback(
    pytester: pytest.Pytester, run_pytest: Pytest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings of the mark reach the agent that is named."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-of-the-plugin")
    with ScriptedServer() as server:
        pytester.makepyfile(f"""
            import pytest

            @pytest.mark.misstep(model="openai/mine", model_base_url={server.base_url!r}, count=3, min_success=0)
            def test_model():
                return "tools"
        """)
        run_pytest().assert_outcomes(passed=1)
        assert len(server.model_requests) >= 9


@pytest.mark.full
def test_workers_of_xdist_share_a_store(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.misstep(count=5)
        @pytest.mark.parametrize("number", range(6))
        def test_agent(number):
            return "sim:perfect"

        @pytest.mark.misstep(actoins=3)
        def test_wrong():
            return "sim:perfect"
    """)
    result = run_pytest("-p", "xdist", "-n", "2", "--misstep-store", "here.db", "--misstep-count", "7")
    result.assert_outcomes(passed=6, failed=1)
    assert "Did you mean 'actions'?" in result.stdout.str()
    runs = list_runs(Settings(store=str(pytester.path / "here.db")))[0]
    assert [each.run.done for each in runs] == [7] * 6


@pytest.mark.full
def test_fixtures_give_results(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    pytester.makepyfile('''
        def greet(name: str) -> str:
            """A greeting."""
            return f"Hello {name}"

        def test_agent(misstep_run):
            result = misstep_run("sim:idle", actions=3, count=4)
            assert result.success == 0.0
            assert len(result.failures) == 4
            assert result.replay(result.failures[0].case.id).verdict.error == "lost"

        def test_tool(misstep_fuzz):
            assert not misstep_fuzz(greet, calls=30).findings

        def test_wrong(misstep_run):
            misstep_run("sim:idle", conut=4)
    ''')
    result = run_pytest("--junitxml=junit.xml")
    result.assert_outcomes(passed=2, failed=1)
    assert "misstep_run()  there is no 'conut' here" in result.stdout.str()
    names = [each.get("name") for each in ElementTree.parse(pytester.path / "junit.xml").iter("property")]
    assert names == ["misstep_run", "misstep_success", "misstep_interval", "misstep_run", "misstep_findings"]
