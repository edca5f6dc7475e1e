"""Whoever reads pages sees what is wrong with them."""

from pathlib import Path

import pytest

from tests.documents.page_session import Desk, Printed
from tests.documents.pages import blocks, write_files
from tests.documents.requirements import complaint_about
from tests.documents.test_pages import HANDLERS, anchors, shows

PAGE = """# A page

```python
# tool.py
x = 1
```

```console
$ misstep runs --json   # all of them
{
…
$ misstep show last
```

```sh
# first this
misstep runs \\
  --json
```
"""


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return str(path)


def test_blocks_in_their_order(page: str) -> None:
    python, console, shell = blocks(page)
    assert (python.line, python.name, python.text) == (3, "tool.py", "# tool.py\nx = 1\n")
    assert console.commands == [("misstep runs --json", "{\n…\n"), ("misstep show last", "")]
    assert shell.commands == [("misstep runs    --json", "")]


def test_files_are_saved_as_they_are_pasted(page: str, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    assert (tmp_path / "tool.py").read_text() == "# tool.py\nx = 1\n"


def test_a_saved_block_keeps_the_line_numbers_of_the_page(page: str, tmp_path: Path) -> None:
    python, *_ = blocks(page)
    with Desk(tmp_path, {}) as desk:
        HANDLERS[python.language](python, desk, {})
        assert (desk.folder / "tool.py").read_text() == "# tool.py\nx = 1\n"


@pytest.mark.parametrize(
    ("shown", "is_so"),
    [
        ("one\n…\nthree\n", True),
        ("one\nthree\n", False),
        ("t… two\n", True),
        ("t… one\n", False),
        ("three\n…\none\n", False),
        ("", True),
    ],
)
def test_what_is_shown_has_to_be_printed(shown: str, is_so: bool) -> None:
    assert shows(shown, Printed(0, "one\nthe two\nthree\n")) is is_so


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("pip install 'misstep[fuzz,web]'", ""),
        ("pip install 'misstep[fuss]'", "fuss"),
        ("python -m pip install langchain-openai langchane", "langchane"),
        ("make test", ""),
        ("make haste", "no target haste"),
        ("apt install bubblewrap", ""),
        ("misstep runs", None),
    ],
)
def test_what_is_to_be_installed_has_to_exist(command: str, complaint: str | None) -> None:
    assert complaint_about(command) == complaint


@pytest.mark.parametrize(
    "block",
    [
        "```console\n$ exit 3\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```console\nno command\n```\n",
        "```python\nraise SystemExit(1)\n```\n",
        "```toml\nnameless = 1\n```\n",
        "```json\n{]\n```\n",
        "```yaml\na: 1\n```\n",
        "```text\n$ misstep runs\n```\n",
    ],
)
def test_a_block_that_is_not_so_is_found(block: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(block)
    (found,) = blocks(str(path))
    with Desk(tmp_path, {}) as desk, pytest.raises((AssertionError, ValueError)):
        HANDLERS[found.language](found, desk, {})


def test_headings_can_be_linked_to(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# What `tool fuzz` finds\n\n## In CI: GitHub\n")
    assert anchors(path) == {"what-tool-fuzz-finds", "in-ci-github"}
