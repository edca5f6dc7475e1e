"""Tools that run SQL: what a statement wrote is found by a later one, however the statement is spelt.

Every experiment begins with a control: an ordinary INSERT whose value is found by a SELECT. Each looks for
its own words only, since tools may return a limited number of rows.
"""

import re
from collections.abc import Sequence

from misstep.core.tool import Described, Invocation
from misstep.fuzzing.contracts.promises import sentence_with
from misstep.fuzzing.contracts.steps import (
    Breach,
    Experiments,
    Step,
    Toolkit,
    call_of,
    parameters,
    required,
    texts_in,
)
from misstep.schemas.samples import words_of

_TABLE = "misstep_words"
MAKE = f"CREATE TABLE IF NOT EXISTS {_TABLE} (word TEXT)"
_LOOK_FOR_ALL = f"SELECT word FROM {_TABLE}"  # in findings of earlier versions
CONTROL, CONTROL_WORD = f"INSERT INTO {_TABLE} VALUES ('misstep-control')", "misstep-control"
# Statements that any database which accepts them carries out, and the word that each of them writes.
WRITES = {
    f"REPLACE INTO {_TABLE} VALUES ('misstep-replaced')": "misstep-replaced",
    f"insert into {_TABLE} values ('misstep-lower')": "misstep-lower",
    f"\n  INSERT INTO {_TABLE} VALUES ('misstep-indented');\n": "misstep-indented",
    f"-- a word\nINSERT INTO {_TABLE} VALUES ('misstep-commented')": "misstep-commented",
    f"/* a word */ INSERT INTO {_TABLE} VALUES ('misstep-noted')": "misstep-noted",
    f"WITH w(word) AS (SELECT 'misstep-with') INSERT INTO {_TABLE} SELECT word FROM w": "misstep-with",
    f"INSERT INTO {_TABLE} VALUES ('misstep-returned') RETURNING word": "misstep-returned",
    f"INSERT INTO {_TABLE} VALUES ('one'); INSERT INTO {_TABLE} VALUES ('misstep-second')": "misstep-second",
    f"INSERT INTO {_TABLE} VALUES ('misstep 50% :name ? {{x}}')": "misstep 50% :name ? {x}",
    f"UPDATE {_TABLE} SET word = 'misstep-updated' WHERE word = 'misstep-control'": "misstep-updated",
}
_BEGINNING = 10  # characters
_PARAMETERS = frozenset(("query", "sql", "statement", "command"))
_SPEAKS_OF_SQL = r"\b(?:sql\w*|select|insert|update|queries|query|statements?|databases?|tables?)\b"
_WRITING = r"\b(?:insert|update|write|modif\w+|execut\w+|runs?|chang\w+)\b"


def experiments(kit: Toolkit) -> Experiments:
    tools = [described for described in kit.tools.values() if _statement(described)]
    if not tools:
        return
    maker, writer, reader = (_best(tools, *words) for words in (_MAKERS, _WRITERS, _READERS))
    for statement, word in WRITES.items():
        look = _run(reader, look_for(word))
        yield _run(maker, MAKE), _run(writer, CONTROL), look, _run(writer, statement), look


def look_for(word: str) -> str:
    """A statement that finds the control and this word, by its beginning: drivers may replace the rest."""
    begins = word[:_BEGINNING]
    condition = f"word = '{CONTROL_WORD}' OR substr(word, 1, {_BEGINNING}) = '{begins}'"
    return f"SELECT DISTINCT word FROM {_TABLE} WHERE {condition}"


_MAKERS = ("create", r"\bcreate (?:a |new |the )*tables?\b")
_WRITERS = ("write execute run", r"\binsert\b")
_READERS = ("read select", r"\bselect\b")


def _best(tools: Sequence[Described], names: str, words: str) -> Described:
    """The tool whose name, or else whose description, speaks most of what is wanted."""
    wanted = {*names.split()}

    def fitness(described: Described) -> tuple[int, bool]:
        told = described.tool.description
        return len(wanted & {*words_of(described.name)}), bool(re.search(words, told, re.IGNORECASE))

    return max(tools, key=fitness)


def _statement(described: Described) -> str:
    """The parameter that takes a statement, if nothing else is required; empty if there is none."""
    given = [name for name in required(described) if {*words_of(name)} & _PARAMETERS]
    if len(given) != 1 or len(required(described)) > 1:
        return ""
    told = f"{described.tool.description} {parameters(described)[given[0]].get('description', '')}"
    return given[0] if re.search(_SPEAKS_OF_SQL, f"{told} {described.name}", re.IGNORECASE) else ""


def _run(described: Described, statement: str) -> Invocation:
    return call_of(described.name, {_statement(described): statement})


def find_breach(steps: Sequence[Step]) -> Breach | None:
    """Whether a SELECT does not find what a statement wrote, although it found the control."""
    if len(steps) < 4:
        return None
    control, look, write, last = steps[-4:]
    first, sought, statement, then = (next(iter(step.arguments.values()), None) for step in steps[-4:])
    written = WRITES.get(str(statement))
    if written is None or control.name != write.name:
        return None
    if first != CONTROL or sought != then or sought not in (look_for(written), _LOOK_FOR_ALL):
        return None
    if not all(step.is_fine for step in (control, look, write, last)) or last.name != look.name:
        return None
    if not _shows(look, CONTROL_WORD) or _shows(last, written):
        return None
    words = sentence_with(write.tool, _WRITING)
    effect = f"{str(statement).strip()!r} succeeded, but {last.name} does not return {written!r}"
    return Breach("read back", write.name, words, effect) if words else None


def _shows(step: Step, word: str) -> bool:
    return any(word in each for each in texts_in(step.reaction))
