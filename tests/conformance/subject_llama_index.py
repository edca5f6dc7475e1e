"""Agents of LlamaIndex, in an environment of their own."""

from tests.conformance.subject_subprocess import Apart, find_python, maker

VARIABLE = "TEST_LLAMA_INDEX_PYTHON"
PYTHON = find_python(VARIABLE, ".venv-llama-index")
MAKE = maker("with_llama_index.py:existing", PYTHON)

# The first case of a process still loads parts of LlamaIndex and of its clients, hence the time to warm up.
SUBJECTS = [Apart("llama index", MAKE, warm_up=12.0, python=PYTHON, variable=VARIABLE)]
