"""Agents of LlamaIndex, in an environment of their own."""

from tests.conformance.schemas import closed
from tests.conformance.subject_subprocess import FEW, Apart, House, find_python

VARIABLE = "TEST_LLAMA_INDEX_PYTHON"
PYTHON = find_python(VARIABLE, ".venv-llama-index")
HOUSE = House("with_llama_index.py:existing", PYTHON)

# Its client for OpenAI says that there are no other arguments than those listed.
SUBJECTS = [
    Apart(
        "llama index",
        HOUSE.make,
        serve=HOUSE.serve,
        at_once=FEW,
        rewrites=closed,
        python=PYTHON,
        variable=VARIABLE,
    )
]
