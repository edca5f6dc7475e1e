"""The first code that another interpreter runs: checks that it is suitable, then starts to serve.

Its arguments are the serving module and the file descriptor of the connection. Interpreters that are too old
for the rest of misstep must be able to run it, so that they can report that.
"""

import importlib
import importlib.util
import os
import sys

OLDEST = (3, 11)
HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    line = int(sys.argv.pop())
    os.set_inheritable(line, False)  # the agent's child processes must not keep the connection open
    # The agent's own modules come first, and the files beside this one never.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != HERE]
    problem = find_problem()
    if problem:
        os.write(line, problem)
        return
    adopt_misstep()
    importlib.import_module(sys.argv.pop()).serve(line)


def find_problem() -> bytes:
    """The message that says why this interpreter is unsuitable; empty if it is not."""
    import json

    if sys.version_info < OLDEST:
        problem = {"problem": "python", "detail": ".".join(map(str, sys.version_info[:3]))}
    elif importlib.util.find_spec("msgspec") is None:
        problem = {"problem": "msgspec"}
    else:
        return b""
    problem["type"] = "unfit"
    return json.dumps(problem).encode() + b"\n"


def adopt_misstep() -> None:
    """Make the package of this file importable, and nothing else installed beside it."""
    package = os.path.dirname(os.path.dirname(HERE))
    spec = importlib.util.spec_from_file_location(
        "misstep", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["misstep"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    main()
