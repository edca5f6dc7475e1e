"""What docstrings say, in every style that is common."""

from typing import Any

import pytest

from misstep.adapters.toolset.functions import read_docstring


def documented(text: str) -> Any:
    def function() -> None: ...

    function.__doc__ = text
    return read_docstring(function)


GOOGLE = """Book a room.

    For one night or more.

    Args:
        guest (str): Who stays.
        nights (int, optional): How long,
            in nights: one or more.
        **options: Whatever else.

    Returns:
        str: A number.

    Raises:
        ValueError: If full.
    """
NUMPY = """Book a room.

    For one night or more.

    Parameters
    ----------
    guest : str
        Who stays.
    nights : int, optional
        How long,
        in nights: one or more.
    **options
        Whatever else.

    Returns
    -------
    str
        A number.
    """
SPHINX = """
    Book a room.

    For one night or more.

    :param str guest: Who stays.
    :param nights: How long,
        in nights: one or more.
    :type nights: int
    :param options: Whatever else.
    :returns: A number.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX])
def test_styles(text: str) -> None:
    found = documented(text)
    assert found.text == "Book a room.\n\nFor one night or more."
    assert found.parameters == {
        "guest": "Who stays.",
        "nights": "How long, in nights: one or more.",
        "options": "Whatever else.",
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        ("One line.", "One line."),
        ("Returns: the weather", "Returns: the weather"),
        ("Parameters matter here.\n\nNote that they do.", "Parameters matter here.\n\nNote that they do."),
        ("Say it.\n\nReturns:\n    It.", "Say it."),
        ("Args:\n    a: b", ""),
        ("Say: it\n\nargs: none to speak of", "Say: it\n\nargs: none to speak of"),
    ],
)
def test_texts_without_parameters(text: str, told: str) -> None:
    assert documented(text).text == told


def test_no_docstring_at_all() -> None:
    found = read_docstring(lambda: None)
    assert (found.text, found.parameters) == ("", {})


def test_odd_sections_break_nothing() -> None:
    found = documented("Do.\n\nArgs:\n\n  a: one\nnot indented\n  b: two\n    more\n\nArgs:\n    c: three\n")
    assert found.text == "Do."
    assert found.parameters["a"] == "one"
    assert found.parameters["c"] == "three"
