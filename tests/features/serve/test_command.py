"""`misstep serve` as it is typed, where it does not come to serving."""

import socket
import subprocess
import sys

import pytest

from misstep.errors import install_command
from tests.conftest import Command


def test_a_port_that_is_taken(misstep: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        printed = misstep("serve", "--port", str(port))
    assert (printed.code, printed.out) == (2, "")
    assert printed.err.startswith(f"--port  can't listen on 127.0.0.1:{port}: Address already in use")
    assert printed.err.endswith("\n  port 0 picks a free one\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--port", "70000"), "--port  invalid value '70000'\n  expected a whole number from 0 to 65,535\n"),
        (("--host", "nowhere.invalid", "--port", "0"), "can't listen on nowhere.invalid:0"),
        (("--host", "", "--port", "0"), "--host  can't be empty"),
    ],
)
def test_places_that_there_are_not(misstep: Command, given: tuple[str, ...], said: str) -> None:
    printed = misstep("serve", *given)
    assert printed.code == 2
    assert said in printed.err
    assert "Traceback" not in printed.err


def test_without_its_extra() -> None:
    blocked = (
        "import sys; sys.modules['uvicorn'] = None; from misstep.cli import run; sys.exit(run(['serve']))"
    )
    printed = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert printed.returncode == 2
    assert printed.stderr == (
        "the web page is not installed\n"
        f"  install it with {install_command('web')}\n"
        "  misstep runs and misstep show need no browser\n"
    )
