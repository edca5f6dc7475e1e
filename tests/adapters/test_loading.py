"""Finding out what the user means by `file.py:name`."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.loading.recognition import load, load_agent
from misstep.core.agent import Assignment, Closing
from misstep.core.case import Case
from misstep.errors import UsageError
from misstep.planning.synthesis.suite import Suite, make_case
from tests.engine.conftest import record

CODE = """
import asyncio, functools

def agent(request, tools):
    return " ".join(tool() for tool in tools)

async def later(request, tools):
    await asyncio.sleep(0)
    for tool in tools:
        tool()

def make(tools):
    def act(request):
        for tool in reversed(tools):
            tool()
        return request
    return act

def make_later(tools):
    async def act(request):
        tools[0]()
        return "one"
    return act

class Own:
    name = "own"
    async def run(self, assignment, toolbox):
        from misstep import Answer
        toolbox.call(toolbox.tools[0].name, {})
        return Answer("mine")

own = Own()
partial = functools.partial(agent)

class Box:
    inner = staticmethod(agent)

def optional(request, tools=None):
    return tools[0]()

def turned(tools, request):
    return tools[0](self=1)

async def turned_later(tools, request="x"):
    return tools[0]()

def gen(request, tools):
    yield 1

def anything(*args, **kw):
    return "done"

class Awkward:
    @property
    def name(self):
        raise RuntimeError("none of your business")
    def __call__(self, request, tools):
        return ""

awkward = Awkward()
number = 5
def nothing(): return None
def toolless(request): return "done"
def many(a, b, c): return ""
async def make_async(tools): return None
def broken(tools): raise RuntimeError("no key given")
def odd(tools): return 5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path / "mine.py"


@pytest.fixture
def case() -> Case:
    return make_case(Suite(0, 3, 3), 0)


def played(spec: str, case: Case) -> tuple[list[str], str]:
    recorder = record(case)

    async def main() -> str:
        agent = load(spec, spec).agent
        try:
            return (await agent.run(Assignment("the request", 0), recorder)).text
        finally:
            if isinstance(agent, Closing):
                await agent.close()

    text = asyncio.run(main())
    return [call.tool for call in recorder.calls], text


@pytest.mark.parametrize(
    ("name", "which", "answer"),
    [
        ("agent", lambda tools: tools, None),
        ("partial", lambda tools: tools, None),
        ("Box.inner", lambda tools: tools, None),
        ("later", lambda tools: tools, ""),
        ("make", lambda tools: tools[::-1], "the request"),
        ("make_later", lambda tools: tools[:1], "one"),
        ("optional", lambda tools: tools[:1], None),
        ("turned", lambda tools: tools[:1], None),
        ("turned_later", lambda tools: tools[:1], None),
        ("own", lambda tools: tools[:1], "mine"),
        ("Own", lambda tools: tools[:1], "mine"),
    ],
)
def test_kinds(
    file: Path, case: Case, name: str, which: Callable[[list[str]], list[str]], answer: str | None
) -> None:
    calls, text = played(f"{file}:{name}", case)
    assert calls == which([action.tool for action in case.actions])
    assert answer is None or text == answer


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gen", "yields instead of returning"),
        ("anything", "must take a request and tools"),
        ("awkward", "raised RuntimeError: none of your business"),
        ("number", "is a int, which is not an agent"),
        ("nothing", "NoneType, which is not an agent"),
        ("toolless", "takes a request but no tools"),
        ("many", "wants 3 things: a, b, c"),
        ("make_async", "is async"),
        ("odd", "returns a int, which is not an agent"),
        ("broken", "raised RuntimeError: no key given"),
        ("agnet", "no 'agnet' here"),
        ("", "does not name an object"),
    ],
)
def test_what_is_no_agent(file: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load(f"{file}:{name}", "x")


def test_a_name_that_is_nearly_right(file: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'agent'"):
        load(f"{file}:agnet", "x")


@pytest.mark.parametrize(
    ("code", "words", "line"),
    [
        ("import no_such_thing\n", "raised ModuleNotFoundError: No module named 'no_such_thing'", 1),
        ("\n1 / 0\n", "raised ZeroDivisionError", 2),
        ("def f(:\n", "raised SyntaxError", None),
        ("import sys\nsys.exit(3)\n", "raised SystemExit: 3", 2),
    ],
)
def test_files_that_don_t_load_say_where(tmp_path: Path, code: str, words: str, line: int | None) -> None:
    (tmp_path / "bad.py").write_text(code)
    with pytest.raises(UsageError, match=words) as caught:
        load(f"{tmp_path}/bad.py:agent", "x")
    assert caught.value.where == f"{tmp_path}/bad.py" + (f":{line}" if line else "")


def test_no_such_file_or_module() -> None:
    with pytest.raises(UsageError, match="no such file"):
        load("nowhere.py:agent", "x")
    with pytest.raises(UsageError, match=r"no module 'no\.where'"):
        load("no.where:agent", "x")


def test_siblings_can_be_imported(tmp_path: Path, case: Case) -> None:
    (tmp_path / "prompt_of_mine.py").write_text("TEXT = 'hello'\n")
    (tmp_path / "main_of_mine.py").write_text(
        "from prompt_of_mine import TEXT\ndef agent(request, tools): return TEXT\n"
    )
    assert played(f"{tmp_path}/main_of_mine.py:agent", case) == ([], "hello")


def test_modules(case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "package_of_mine").mkdir()
    (tmp_path / "package_of_mine" / "inner.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    assert played("package_of_mine.inner:make_later", case)[1] == "one"


def test_a_framework_can_be_named(file: Path) -> None:
    with pytest.raises(UsageError):
        load(f"langchain:{file}:number", "x")


def test_foreign_things_are_left_alone() -> None:
    value: Any = object()
    from misstep.adapters.loading.registry import framework_of

    assert framework_of(value) is None
    assert framework_of(Path()) is None


def test_what_is_raised_is_told_without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-something-secret")
    (tmp_path / "leak.py").write_text("raise RuntimeError('bad key sk-something-secret')\n")
    with pytest.raises(UsageError, match=r"bad key \[secret\]"):
        load(f"{tmp_path}/leak.py:agent", "x")


def test_the_users_code_is_kept_off_our_loop_unless_it_has_the_process_to_itself(tmp_path: Path) -> None:
    (tmp_path / "where.py").write_text(
        "import asyncio\nasync def agent(request, tools): return id(asyncio.get_running_loop())\n"
    )
    spec = f"{tmp_path}/where.py:agent"

    async def main(agent: Any) -> bool:
        try:
            answer = await agent.run(Assignment("", 0), record(make_case(Suite(0, 3, 3), 0)))
            return bool(answer.text == str(id(asyncio.get_running_loop())))
        finally:
            if isinstance(agent, Closing):
                await agent.close()

    assert not asyncio.run(main(load(spec, "x").agent))
    assert asyncio.run(main(load_agent(spec, "x")))
