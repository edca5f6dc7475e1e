"""What to do about code that can't be loaded here, though it can elsewhere."""

import os

from misstep.adapters.toolset.spec import file_of

RELATIVE = "attempted relative import"
READ_ONLY = "Read-only file system"
WRITES = (
    "the sandbox keeps it from writing: let it write to a copy of a folder, with --workspace DIR,",
    "or do without the sandbox, with --sandbox none",
)


def advise(message: str, spec: str) -> list[str]:
    """Hints for whoever meets an error of the user's code; mostly none."""
    if READ_ONLY in message:
        return [*WRITES]
    file = file_of(spec)
    return [_as_module(file, spec)] if RELATIVE in message and file.endswith(".py") else []


def _as_module(file: str, spec: str) -> str:
    """How the same is meant as a module of its package."""
    here, folder = os.getcwd(), os.path.dirname(file)
    top = folder
    while os.path.exists(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    if top == folder:  # a package that does not say that it is one
        top = here if file.startswith(here + os.sep) and folder != here else os.path.dirname(folder)
    dotted = os.path.relpath(file, top).removesuffix(".py").replace(os.sep, ".")
    where = "" if top == here else f", in the folder {top}"
    return f"it is part of a package: give {dotted}{spec.removeprefix(file)}{where}"
