"""Reads the Dockerfile: stages, and the instructions of each."""

import json
import re
import shlex
from typing import NamedTuple

from tests.packaging.bare import ROOT


class Instruction(NamedTuple):
    word: str
    text: str

    @property
    def words(self) -> list[str]:
        """The words of a command line, or of the JSON form."""
        return json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)


def stages() -> list[list[Instruction]]:
    """The instructions of each stage, FROM first."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = list[list[Instruction]]()
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip():
            instruction = Instruction(*line.split(maxsplit=1))
            if instruction.word == "FROM":
                found.append([])
            found[-1].append(instruction)
    return found


def texts(stage: list[Instruction], word: str) -> list[str]:
    return [each.text for each in stage if each.word == word]


def copied(stage: list[Instruction]) -> dict[str, str]:
    """What a stage copies out of the repository, each with its place in the image."""
    words = [each.words for each in stage if each.word == "COPY" and "--from" not in each.text]
    return {source: target for *sources, target in words for source in sources}
