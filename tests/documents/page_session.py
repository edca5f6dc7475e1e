"""A desk at which somebody types what a page says."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from misstep.features.serve.command import USUAL_PORT
from tests.documents.pages import ROOT

ADDRESS = re.compile(r"http://[\w.-]+:\d+")
SERVING = re.compile(r"^misstep (serve\b|bench forge --serve|label .*--web|mcp serve .*--http)")
ANY_PORT = re.compile(r"^misstep serve(?!.*--port)")  # which may be taken here
START = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.documents.command_process import work
sys.path.remove(sys.argv[1])
work()
"""
PLUGINS = (
    "-p no:anyio -p no:langsmith_plugin -p no:xdist"  # of others, which take longer to load than all else
)
OURS = ("GITHUB_STEP_SUMMARY", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")


class Printed(msgspec.Struct, frozen=True):
    code: int
    text: str


class Desk:
    """Commands of one page, one after the other in one folder, with these variables."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self.folder = folder / "desk"
        self.folder.mkdir()
        self._said = folder / "out", folder / "err"
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in OURS and not name.startswith("MISSTEP_")
        }
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = {**kept, "COLUMNS": "100", "PATH": path, "PYTEST_ADDOPTS": PLUGINS, **variables}

    def __enter__(self) -> Self:
        return self

    @cached_property
    def _typist(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-P", "-c", START, str(ROOT)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "_typist" in vars(self):
            self._typist.communicate()

    def type(self, command: str) -> Printed:
        """Carry a command out, and read what it says."""
        if SERVING.match(command):
            return self._serve(command)
        if command.startswith("misstep ") and not re.search(r"[|>$&;]", command):
            return self._carry_out(shlex.split(command)[1:])
        return self._in_shell(["bash", "-euo", "pipefail", "-c", command])

    def run(self, code: str) -> Printed:
        """Run Python."""
        return self._in_shell([sys.executable, "-c", code])

    def _carry_out(self, words: list[str]) -> Printed:
        assert self._typist.stdin
        assert self._typist.stdout
        out, err = self._said
        order = {"words": words, "out": str(out), "err": str(err)}
        print(json.dumps(order), file=self._typist.stdin, flush=True)
        code = int(self._typist.stdout.readline())
        return Printed(code, err.read_text("utf-8", "replace") + out.read_text("utf-8", "replace"))

    def _in_shell(self, words: list[str]) -> Printed:
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        return Printed(done.returncode, done.stderr + done.stdout)

    def _serve(self, command: str) -> Printed:
        """Start what stays until Ctrl-C, wait until it says where it is, and press Ctrl-C."""
        anywhere = ANY_PORT.match(command)
        server = subprocess.Popen(
            shlex.split(command) + (["--port", "0"] if anywhere else []),
            cwd=self.folder,
            env={**self.environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert server.stdout
        with server.stdout as lines:
            said, asked = "", False
            for line in lines:
                said += line
                if ADDRESS.search(said) and not asked:
                    server.send_signal(signal.SIGINT)
                    asked = True
        code = server.wait()
        if anywhere:
            said = re.sub(r":\d+/", f":{USUAL_PORT}/", said)
        return Printed(0 if code == 130 and ADDRESS.search(said) else code, said)
