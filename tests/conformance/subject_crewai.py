"""Agents and crews of CrewAI, in an environment of their own."""

from pathlib import Path
from tempfile import gettempdir

from tests.conformance.subject_subprocess import Apart, find_python, maker

VARIABLE = "TEST_CREWAI_PYTHON"
PYTHON = find_python(VARIABLE, ".venv-crewai")
HOME = str(Path(gettempdir(), "misstep-crewai"))  # CrewAI writes into the user's home


def subject(word: str, location: str) -> Apart:
    """The first case of a process still loads parts of CrewAI and of its clients, hence the time to warm up."""
    return Apart(word, maker(location, PYTHON, HOME=HOME), warm_up=12.0, python=PYTHON, variable=VARIABLE)


SUBJECTS = [subject("crewai", "with_crewai.py:existing"), subject("crewai, crew", "with_crewai.py:make_crew")]
