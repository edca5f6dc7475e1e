"""The two tiers together are all tests, and a file's text tells which tier it belongs to."""

import ast
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.tiers import is_left_out

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "tests").rglob("test_*.py"))

MADE_UP = {
    "conftest.py": 'pytest_plugins = ["tests.tiers"]',
    "test_plain.py": """
        def test_one():
            pass
    """,
    "test_whole.py": """
        import pytest

        pytestmark = pytest.mark.full

        def test_one():
            pass
    """,
    "test_listed.py": """
        import pytest

        pytestmark = [
            pytest.mark.full,
            pytest.mark.skipif(False, reason=""),
        ]

        @pytest.mark.both
        def test_one():
            pass
    """,
    "test_single.py": """
        import pytest
        from hypothesis import given, strategies as st

        from tests.tiers import examples, many_examples, some_full

        @pytest.mark.full
        def test_slow():
            pass

        @pytest.mark.full(after=2)
        @pytest.mark.parametrize("other", "xy")
        @pytest.mark.parametrize("number", range(3))
        def test_some(number, other):
            pass

        @pytest.mark.parametrize("number", some_full(range(4), lambda number: number > 1))
        def test_others(number):
            pass

        @pytest.mark.both
        def test_loop():
            print("tried", examples(1000))

        @many_examples(400)
        @given(st.integers())
        def test_property(number):
            print("drawn")

        def test_fast():
            pass
    """,
    "below/conftest.py": """
        import pytest

        @pytest.fixture(params=["a", pytest.param("b", marks=pytest.mark.full)])
        def subject(request):
            return request.param
    """,
    "below/test_subject.py": """
        def test_one(subject):
            pass
    """,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in MADE_UP.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    """What pytest prints of the made-up tests, without any settings of ours."""
    alone = (
        "--disable-plugin-autoload",
        "-p",
        "hypothesispytest",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
    )
    command = [sys.executable, "-m", "pytest", "-q", *alone, "--rootdir", folder, *arguments, folder]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


def collected(folder: Path, *arguments: str) -> list[str]:
    output = run(folder, "--collect-only", *arguments)
    return [line for line in output.splitlines() if "::" in line]


def test_both_tiers_together_are_all_tests(folder: Path) -> None:
    fast, full = collected(folder, "--tier", "fast"), collected(folder, "--tier", "full")
    everything = collected(folder)
    assert collected(folder, "--tier", "all") == everything
    assert len(everything) == len(set(everything)) == 19
    assert {*fast} | {*full} == {*everything}
    assert {*fast} & {*full} == {"test_single.py::test_loop", "test_single.py::test_property"}
    assert fast == [
        "below/test_subject.py::test_one[a]",
        "test_plain.py::test_one",
        "test_single.py::test_some[0-x]",
        "test_single.py::test_some[0-y]",
        "test_single.py::test_others[0]",
        "test_single.py::test_others[1]",
        "test_single.py::test_loop",
        "test_single.py::test_property",
        "test_single.py::test_fast",
    ]


@pytest.mark.parametrize(
    ("tier", "tried", "drawn"), [("fast", 50, 20), ("full", 1000, 400), ("all", 1000, 400)]
)
def test_few_examples_are_tried_in_the_fast_tier_alone(
    folder: Path, tier: str, tried: int, drawn: int
) -> None:
    output = run(folder, "-s", "--tier", tier)
    assert f"tried {tried}\n" in output
    assert output.count("drawn") == drawn


def test_examples_that_no_other_tier_tries_are_refused(folder: Path) -> None:
    (folder / "test_single.py").write_text(dedent(MADE_UP["test_single.py"]).replace("@pytest.mark.both", ""))
    output = run(folder)
    assert "examples() is for tests with @pytest.mark.both" in output


def test_a_mark_that_no_text_shows_is_refused(folder: Path) -> None:
    (folder / "marks.py").write_text("import pytest\n\nslow = pytest.mark.full\n")
    (folder / "test_plain.py").write_text("from marks import slow\n\n\n@slow\ndef test_one():\n    pass\n")
    for tier in ("fast", "all"):
        assert "test_plain.py::test_one is marked by another file" in run(folder, "--tier", tier)


def marks_in(node: ast.AST) -> list[ast.AST]:
    """Where a piece of code says `pytest.mark.full` or `pytest.mark.both`."""
    return [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute)
        and each.attr in ("full", "both")
        and ast.unparse(each.value) == "pytest.mark"
    ]


def is_whole(tree: ast.Module) -> bool:
    """Whether the marks of a module put all of it into the full tier."""
    values = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and "pytestmark" in map(ast.unparse, node.targets)
    ]
    marks = [mark for value in values for mark in (value.elts if isinstance(value, ast.List) else [value])]
    return "pytest.mark.full" in map(ast.unparse, marks)


def parsed(path: Path) -> ast.Module:
    """A file's code; nothing of it where none of the words is there that the marks need."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return ast.parse(text if any(word in text for word in ("full", "both", "tiers")) else "")


def test_what_a_text_tells_is_what_its_code_does() -> None:
    for path in FILES:
        tree, beside = parsed(path), parsed(path.with_name("conftest.py"))
        imports = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        has_marks = marks_in(tree) or marks_in(beside) or "tests.tiers" in imports
        assert is_left_out(path, "fast") == is_whole(tree), path
        assert is_left_out(path, "full") == (not has_marks), path
        assert not is_left_out(path, "all")
    assert sum(is_left_out(path, "fast") for path in FILES) > 20
    assert sum(is_left_out(path, "full") for path in FILES) > 100
