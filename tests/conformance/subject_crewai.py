"""Agents and crews of CrewAI, in an environment of their own."""

from pathlib import Path
from tempfile import gettempdir

from tests.conformance.schemas import Json, everywhere
from tests.conformance.subject_subprocess import FEW, Apart, House, find_python

VARIABLE = "TEST_CREWAI_PYTHON"
PYTHON = find_python(VARIABLE, ".venv-crewai")
HOME = str(Path(gettempdir(), "misstep-crewai"))  # CrewAI writes into the user's home


@everywhere
def strict(schema: Json) -> Json:
    """A schema as CrewAI makes it to meet the strict mode of OpenAI: all is required, nothing has a default."""
    if "$ref" in schema:  # to itself
        return {"type": "object", "additionalProperties": False}
    kept = {name: part for name, part in schema.items() if name != "default"}
    if kept.get("type") != "object":
        return kept
    required = {"required": sorted(kept["properties"])} if kept.get("properties") else {}
    return {**kept, **required, "additionalProperties": False}


def subject(word: str, location: str) -> Apart:
    house = House(location, PYTHON, HOME=HOME)
    return Apart(
        word,
        house.make,
        serve=house.serve,
        at_once=FEW,
        rewrites=strict,
        python=PYTHON,
        variable=VARIABLE,
    )


SUBJECTS = [subject("crewai", "with_crewai.py:existing"), subject("crewai, crew", "with_crewai.py:make_crew")]
