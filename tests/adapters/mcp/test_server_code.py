"""Which of its own code a server runs: in Python and Node, whatever it does to the pipe."""

import ast
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from misstep.adapters.mcp.server_code import INSIDE, MOST, ServerCode, environment_with

needs_node = pytest.mark.skipif(not shutil.which("node"), reason="there is no Node")

SCRIPT = '''
"""A script."""
import asyncio, json, threading
import other


def pick(values):
    """A docstring."""
    found = []
    for each in values:
        if each > 1 and each % 2 or each == 4:
            found.append(each)
    return found


async def wait(number):
    await asyncio.sleep(0)
    return number if number else missing


def names(one, two=2):
    three = [x for x in range(3)]
    return sorted(locals())


def never():
    return 1


assert pick.__doc__ == "A docstring."
thread = threading.Thread(target=print, args=(pick([1, 3, 4]),))
thread.start()
thread.join()
print(asyncio.run(wait(1)), names(1), other.double(2), __name__, __file__)
if len(__import__("sys").argv) > 1:
    raise KeyError("at the end")
'''
OTHER = "def double(number):\n    return 2 * number\n"


def run(*command: str, code: ServerCode | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    given = environment_with({**os.environ, **more}, command, code)
    pipes = (code.writing,) if code else ()
    return subprocess.run(command, env=given, pass_fds=pipes, capture_output=True, text=True, timeout=60)


def reached(*command: str, **more: str) -> tuple[dict[str, set[int]], subprocess.CompletedProcess[str]]:
    """The lines that a command ran, by name of the file, and how it ended."""
    code = ServerCode()
    try:
        done = run(*command, code=code, **more)
        code.end()
        return {Path(file).name: lines for file, lines in code.lines.items()}, done
    finally:
        code.close()


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "other.py").write_text(OTHER)
    (tmp_path / "main.py").write_text(SCRIPT)
    return str(tmp_path / "main.py")


def sites(script: str) -> str:
    return str(Path(script).parent / "site-packages")


def test_a_script_does_the_same_and_tells_its_own_lines(script: str) -> None:
    plain = run(sys.executable, script, PYTHONPATH=sites(script))
    lines, done = reached(sys.executable, script, PYTHONPATH=sites(script))
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")
    assert "['one', 'three', 'two']" in done.stdout
    assert lines == {"main.py": {9, 10, 11, 12, 13, 17, 18, 22, 23}}


def test_a_script_fails_in_the_same_way(script: str) -> None:
    lines, done = reached(sys.executable, script, "fail", PYTHONPATH=sites(script))
    assert done.returncode == 1
    assert 'main.py", line 36, in <module>' in done.stderr
    assert done.stderr.endswith("KeyError: 'at the end'\n")
    assert lines


def test_an_edge_is_told_once_and_a_loop_by_its_length(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(
        "import sys\ndef count(n):\n    for _ in range(n):\n        pass\nfor n in sys.argv[1:]:\n    count(int(n))\n"
    )

    def edges(*counts: str) -> set[int]:
        code = ServerCode()
        run(sys.executable, str(path), *counts, code=code)
        found = code.end()
        code.close()
        assert len({*found}) == len(found)
        return {*found}

    assert edges("1") < edges("2") < edges("8")
    assert edges("8") == edges("8", "8", "1", "7")


@pytest.mark.parametrize("how", ["module", "program"])
def test_an_installed_server_is_its_package(tmp_path: Path, how: str) -> None:
    package = tmp_path / "site-packages" / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def main():\n    import other\n    print(other.double(4))\n")
    (package / "__main__.py").write_text("from shop import main\nmain()\n")
    (package.parent / "other.py").write_text(OTHER)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "shop"
    program.write_text("import sys\nfrom shop import main\nsys.exit(main())\n")
    start = ("-m", "shop") if how == "module" else (str(program),)
    lines, done = reached(sys.executable, *start, PYTHONPATH=str(package.parent))
    assert done.stdout == "8\n", done.stderr
    assert lines == {"__init__.py": {2, 3}}


@pytest.mark.parametrize("flags", ["-I", "-E", "-S", "-c"])
def test_a_server_that_cannot_be_followed_runs_as_ever(script: str, flags: str) -> None:
    Path(script).write_text("def one():\n    return 1\nprint(one())\n")
    arguments = (flags, "print(1)") if flags == "-c" else (flags, script)
    lines, done = reached(sys.executable, *arguments)
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert not lines


def test_programs_that_a_server_starts_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text("def one():\n    return 1\none()\n")
    call = (
        "import subprocess, sys\nsubprocess.run([sys.executable, sys.argv[1]], close_fds=False, check=True)\n"
    )
    (tmp_path / "main.py").write_text(call)
    lines, done = reached(sys.executable, str(tmp_path / "main.py"), str(tmp_path / "child.py"))
    assert (done.returncode, lines) == (0, {})


def test_older_versions_of_python_can_read_it() -> None:
    for file in INSIDE.glob("*.py"):
        ast.parse(file.read_text(), feature_version=(3, 8))


SCRIBBLE = """
import os, sys
pipe = int(os.environ["_MISSTEP_COVERAGE"].split()[0])
try:
    while True:
        os.write(pipe, {data})
except BlockingIOError:
    pass
"""


@pytest.mark.parametrize(
    "data",
    [
        "b'\\xff\\x00'",
        "b'1 2 3 4\\n'",
        "b'{}\\n[]\\n-1 -1 -1 -1\\n1 2\\n'",
        "b'9' * 5000 + b'\\n'",
        "b'[' * 5000 + b'\\n'",
        """b'{"key": 0, "file": "a\\\\ud800", "functions": [[-5]]}\\n0 0 1 1\\n0 0 2 1\\n'""",
    ],
)
def test_what_a_server_scribbles_into_the_pipe_is_bounded(data: str) -> None:
    code = ServerCode()
    done = run(sys.executable, "-I", "-c", SCRIBBLE.replace("{data}", data), code=code)
    assert done.returncode == 0, done.stderr
    code.begin()
    assert code.end() == ()
    assert len(code._rest) <= MOST
    assert {*code.lines} <= {"a?"}
    code.close()


def test_a_full_or_closed_pipe_does_not_stop_a_server(script: str) -> None:
    code = ServerCode()
    with suppress(BlockingIOError):
        while True:
            os.write(code.writing, b"x" * 4096)
    assert run(sys.executable, script, code=code, PYTHONPATH=sites(script)).returncode == 0
    code.close()
    given = environment_with({**os.environ, "PYTHONPATH": sites(script)}, (), ServerCode())
    closed = subprocess.run([sys.executable, script], env=given, capture_output=True, text=True, timeout=60)
    assert (closed.returncode, closed.stderr) == (0, "")


FORK = """
import builtins, os, threading

def one():
    return 1

one()
reporter = builtins._misstep_hit.__self__
held, over = threading.Event(), threading.Event()

def hold():
    with reporter.lock:
        held.set()
        over.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if not child:
    def two():
        return 2
    os._exit(two())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
"""


def test_a_fork_of_a_server_does_not_wait_for_another_thread(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(FORK)
    lines, done = reached(sys.executable, str(tmp_path / "main.py"))
    assert (done.stdout, done.stderr) == ("2\n", "")
    assert lines == {"main.py": {5, 12, 13, 14}}


def test_what_a_large_start_runs_is_not_lost(tmp_path: Path) -> None:
    functions = "".join(f"def f{n}():\n" + "    pass\n" * 20 for n in range(600))
    (tmp_path / "main.py").write_text(functions + "".join(f"f{n}()\n" for n in range(600)))
    lines, done = reached(sys.executable, str(tmp_path / "main.py"))
    assert done.returncode == 0
    assert len(lines["main.py"]) == 600 * 20


@needs_node
def test_what_a_large_start_in_node_runs_is_not_lost(tmp_path: Path) -> None:
    functions = "".join(f"function f{n}() {{\n" + "  n\n" * 20 + "}\n" for n in range(600))
    calls = "".join(f"f{n}()\n" for n in range(600))
    (tmp_path / "main.js").write_text(f"const n = 1\n{functions}{calls}")
    lines, done = reached("node", str(tmp_path / "main.js"))
    assert done.returncode == 0, done.stderr
    assert len(lines["main.js"]) == 600 * 20


PROGRAM = """#!/usr/bin/env node
"use strict";
const { double } = require("other");
function pick(values) {
  "use strict";
  const found = []
  for (const each of values) if (each > 1 && each % 2 || each === 4) found.push(each)
  else if (each) continue
  return found
}
const later = async (n) => n ? { n } : null
class Shelf { #size = 2; get size() { return this.#size } static make = () => new Shelf() }
function never() { return 1 }
switch (pick([1, 3, 4]).length) { case 2: console.log("two"); break; default: console.log("other") }
console.log(pick.toString().includes("found"), Shelf.make().size, double(2), pick.call(null, []).length)
later(1).then((found) => console.log(found, process.env._MISSTEP_COVERAGE))
"""


@needs_node
@pytest.mark.parametrize("kind", ["commonjs", "module"])
def test_a_program_for_node_does_the_same_and_tells_its_own_lines(tmp_path: Path, kind: str) -> None:
    other = tmp_path / "node_modules" / "other"
    other.mkdir(parents=True)
    (other / "index.js").write_text("exports.double = (n) => {\n  return 2 * n\n}\n")
    (tmp_path / "package.json").write_text(f'{{"type": "{kind}"}}')
    text = (
        PROGRAM
        if kind == "commonjs"
        else PROGRAM.replace(
            'const { double } = require("other")', 'import other from "other"; const { double } = other'
        )
    )
    (tmp_path / "main.js").write_text(text)
    plain = run("node", str(tmp_path / "main.js"))
    lines, done = reached("node", str(tmp_path / "main.js"))
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")
    assert done.stdout.endswith("{ n: 1 } undefined\n")
    assert lines == {"main.js": {6, 7, 8, 9, 11, 12, 16}}


@needs_node
def test_the_code_of_a_node_server_works_where_it_cannot_report(tmp_path: Path) -> None:
    """Such as in a page of a browser, which gets the text of a function."""
    (tmp_path / "main.js").write_text(
        "const add = (a, b) => {\n  return a + b\n}\nadd(1, 1)\n"
        "console.log(require('vm').runInNewContext(`(${add})(1, 2)`))\n"
    )
    lines, done = reached("node", str(tmp_path / "main.js"))
    assert (done.stdout, lines) == ("3\n", {"main.js": {2}})
