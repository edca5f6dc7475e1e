"""Loaded by a Python that runs a server under test: makes its log of exceptions cheap, and starts coverage.

Servers log exceptions with Rich, which reads and highlights the source of every frame. A call that fails then
takes a second instead of some milliseconds. Python's own tracebacks say the same.

It is found by `PYTHONPATH`, by any version of Python, and imports nothing of misstep.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any


class RichLoggingFinder:
    """Changes `rich.logging` when it is imported."""

    def find_spec(self, name: str, *_: Any) -> Any:
        if name != "rich.logging":
            return None
        sys.meta_path.remove(self)
        found = find_spec(name)
        if found is not None and found.loader is not None:
            execute = found.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                start = module.RichHandler.__init__

                def with_plain_tracebacks(self: Any, *arguments: Any, **options: Any) -> None:
                    start(self, *arguments, **{**options, "rich_tracebacks": False})

                module.RichHandler.__init__ = with_plain_tracebacks

            found.loader.exec_module = exec_module  # type: ignore[method-assign]
        return found


def load_the_next() -> None:
    """Load the `sitecustomize` that would have been found without this one, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or os.curdir) != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import_module("sitecustomize")
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, RichLoggingFinder())
    with suppress(Exception):  # then the client knows only the replies
        import_module("misstep_coverage").start()
    load_the_next()
