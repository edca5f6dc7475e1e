"""What the page about pytest shows is what happens."""

import re

import pytest

from tests.pytest_plugin.conftest import Pytest
from tests.test_docs import examples, matches, write_files

PAGE = "docs/pytest.md"


def test_examples_of_the_page(pytester: pytest.Pytester, run_pytest: Pytest) -> None:
    write_files(PAGE, pytester.path)
    shown = examples(PAGE)
    assert len(shown) == 4
    for command, output in shown:
        result = run_pytest(*command.split()[1:])
        text = "\n".join(line.lstrip() for line in result.stdout.str().splitlines())
        expected = "\n".join(line.lstrip() for line in output.splitlines())
        assert matches(re.sub(r" …$", "", expected, flags=re.MULTILINE), text), text
