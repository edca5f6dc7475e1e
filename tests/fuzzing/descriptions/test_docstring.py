"""Other words in docstrings, and nothing else."""

import ast
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.core.results.descriptions import Wording
from misstep.errors import UsageError
from misstep.fuzzing.descriptions.docstring import DocstringChange, rewrite
from misstep.fuzzing.descriptions.proposing import clean
from misstep.schemas.source import parse_docstring

GOOGLE = '''def f(a, b):
    """Old.

    More that is old.

    Args:
        a: The first.
            It goes on.
        b (int): The second.

    Returns:
        Nothing new.
    """
    return a
'''
NUMPY = '''def f(a, b):
    """
    Old.

    Parameters
    ----------
    a : int
        The first.
    b
        The second.

    Returns
    -------
    int
    """
    return a
'''
SPHINX = """def f(a, b):
    '''Old.

    :param a: the first
    :param int b: the second
    :returns: nothing new
    '''
    return a
"""


def put(text: str, wording: Wording, line: int = 1) -> str:
    return rewrite(text, [DocstringChange(line, wording, "here")])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('def f(a):\n    """Old."""\n    return a\n', 'def f(a):\n    """New."""\n    return a\n'),
        ("def f(a):\n    'Old'\n    return a\n", "def f(a):\n    'New.'\n    return a\n"),
        ('def f(a):\n    r"""Old \\d."""\n', 'def f(a):\n    r"""New."""\n'),
        ("def f(a):\n    return a\n", 'def f(a):\n    """New."""\n    return a\n'),
        ("def f(a):\n    # why\n    return a\n", 'def f(a):\n    # why\n    """New."""\n    return a\n'),
        ('def f(a):\n\t"""Old."""\n\treturn a\n', 'def f(a):\n\t"""New."""\n\treturn a\n'),
        (
            'def f(a):\r\n    """Old.\r\n\r\n    Args:\r\n        a: x\r\n    """\r\n    return a\r\n',
            'def f(a):\r\n    """New.\r\n\r\n    Args:\r\n        a: x\r\n    """\r\n    return a\r\n',
        ),
        ('def f(ä="ß"):\n    """Öld — ünï."""; x = "→"\n', 'def f(ä="ß"):\n    """New."""; x = "→"\n'),
        ('def f(a):\n    """\\\n    Old.\n    """\n', 'def f(a):\n    """New."""\n'),
        ('async def f(\n    a,\n):\n    """Old."""', 'async def f(\n    a,\n):\n    """New."""'),
    ],
    ids=["one line", "one quote", "raw", "none", "comment", "tabs", "crlf", "unicode", "continued", "async"],
)
def test_the_words_are_all_that_changes(before: str, after: str) -> None:
    assert put(before, Wording("New.")) == after


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_sections_stay_as_they_are(text: str) -> None:
    anew = put(text, Wording("New.\n\nIn two parts."))
    assert "New.\n\n    In two parts.\n" in anew
    begin = {GOOGLE: "    Args:", NUMPY: "    Parameters", SPHINX: "    :param a"}[text]
    assert anew[anew.index(begin) :] == text[text.index(begin) :]


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (GOOGLE, "        a: The first.\n            It goes on.\n", "        a: Another.\n"),
        (NUMPY, "        The first.\n", "        Another.\n"),
        (SPHINX, "    :param a: the first\n", "    :param a: Another.\n"),
        ('def f(a):\n    """Old."""\n', '"""Old."""', '"""Old.\n\n    Args:\n        a: Another.\n    """'),
    ],
    ids=["google", "numpy", "sphinx", "none"],
)
def test_a_parameter_gets_other_words_in_the_style_that_is_there(text: str, before: str, after: str) -> None:
    assert put(text, Wording(parameters={"a": "Another."})) == text.replace(before, after)


def test_methods_and_decorated_functions() -> None:
    text = 'import x\n\nclass C:\n    @x.tool(\n        "n"\n    )\n    def f(self):\n        """Old."""\n'
    assert put(text, Wording("New."), line=4) == text.replace("Old.", "New.")


def test_two_functions_of_one_file() -> None:
    text = 'def f(a):\n    """Old."""\n\n\ndef g(a):\n    """Older."""\n'
    changes = [
        DocstringChange(1, Wording("New.\n\nAnd long."), "f"),
        DocstringChange(5, Wording("Newer."), "g"),
    ]
    assert rewrite(text, changes) == text.replace("Old.", "New.\n\n    And long.\n    ").replace(
        "Older", "Newer"
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("f = lambda a: a\n", 1, "there is no function at line 1"),
        ("class F:\n    x = 1\n", 1, "there is no function at line 1"),
        ("def f(a):\n    return a\n", 2, "there is no function at line 2"),
        ("def f(a): return a\n", 1, "its body on the same line as its def"),
        ('def f(a):\n    "a" "b"\n', 1, "a docstring that is concatenated"),
        ("def f(a:\n", 1, "is not valid Python"),
    ],
)
def test_what_can_t_be_written_is_refused(text: str, line: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        put(text, Wording("It's ''' over \\"), line)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200).map(clean),
    st.sampled_from(['"""Old."""', "'''Old.'''", '"Old."', "'Old'", '"""\n    Old.\n    """', ""]),
)
def test_whatever_is_said_is_what_is_read(text: str, literal: str) -> None:
    before = f"def f(a):\n    {literal}\n    return a\n" if literal else "def f(a):\n    return a\n"
    try:
        anew = put(before, Wording(text))
    except UsageError:
        assert not text or parse_docstring(text).text != text or "Args" in text
        return
    (function,) = ast.parse(anew).body
    assert isinstance(function, ast.FunctionDef)
    said = ast.get_docstring(function, clean=False) or ""
    assert parse_docstring(inspect.cleandoc(said)).text.split() == text.split()
    assert anew.endswith("    return a\n")


@pytest.mark.parametrize("length", range(5, 120, 7))
def test_one_place_never_gets_two_descriptions(length: int) -> None:
    text = f'def f(a):\n    """{"x" * length}"""\n    assert a, "no city"\n    return a\n'
    both = [DocstringChange(1, Wording(words, {}), "f.py:1") for words in ("New.", "Newer words than that.")]
    with pytest.raises(UsageError, match="two descriptions at once"):
        rewrite(text, both)


@pytest.mark.parametrize(
    "docstring",
    [
        '\t"""Old.\n\n        Args:\n            a: first\n            b: second\n        """',
        '    """Old.\n\n  Args:\n    a: first\n    b: second\n    """',
        '    "Old.\\n\\nArgs:\\n    a: first\\n    b: second"',
    ],
)
def test_what_is_said_of_others_is_kept_or_nothing_is_written(docstring: str) -> None:
    indent = docstring[: len(docstring) - len(docstring.lstrip())]
    text = f"def f(a, b):\n{docstring}\n{indent}return a\n"
    try:
        anew = rewrite(text, [DocstringChange(1, Wording("New.", {}), "f.py:1")])
    except UsageError:
        return
    (function,) = ast.parse(anew).body
    assert isinstance(function, ast.FunctionDef)
    told = parse_docstring(ast.get_docstring(function) or "")
    assert told.parameters == {"a": "first", "b": "second"}
