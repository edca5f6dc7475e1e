"""What a case demands, found out apart from the code that changes cases."""

import asyncio
from collections.abc import Iterator
from itertools import product

import msgspec
import z3

from misstep.core.agent import Assignment
from misstep.core.case import Case, World
from misstep.core.constraint import Before, Constraint, StandIn
from misstep.core.outcome import Transcript
from misstep.planning.judging.check import check
from misstep.planning.judging.encoding import Encoding, Script, negation
from misstep.planning.language.reader import Relation, SentenceReading, read
from misstep.planning.simulated.planners import simulated_agent
from tests.engine.conftest import record


def readings(case: Case) -> list[SentenceReading]:
    """What the independent reader makes of each sentence, which must have one meaning."""
    names = [action.name for action in case.actions]
    found = list[SentenceReading]()
    for sentence in case.sentences:
        (reading,) = read(sentence, names)
        found.append(reading)
    return found


def heard(case: Case) -> list[Relation]:
    """Every relation that the sentences and the announcements of a case state."""
    names = [action.name for action in case.actions]
    announced = [read(text, names)[0] for text in case.world.announcements.values()]
    return [relation for reading in (*readings(case), *announced) for relation in reading.relations]


def assert_text_says_constraints(case: Case) -> None:
    """Each sentence means just the constraints that are said to come from it, and all actions are named."""
    ids = {action.name: action.id for action in case.actions}
    named = set[str]()
    for number, reading in enumerate(readings(case)):
        named.update(reading.mentioned)
        said: list[Constraint] = [Before(r.first, r.then) for r in reading.relations]
        assert _by_id([*said, *reading.demands], ids) == _unsaid(case, number), case.sentences[number]
    assert named == ids.keys()
    for voice, text in case.world.announcements.items():
        (reading,) = read(text, ids)
        said = [Before(r.first, r.then, announced=voice) for r in reading.relations]
        assert _by_id(said, ids) <= _unsaid(case, None)


def _by_id(constraints: list[Constraint], ids: dict[str, str]) -> set[bytes]:
    def named(value: object) -> object:
        if isinstance(value, dict):
            return {key: named(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [named(part) for part in value]
        return ids.get(value, value) if isinstance(value, str) else value

    return {msgspec.json.encode(named(msgspec.to_builtins(c)), order="sorted") for c in constraints}


def _unsaid(case: Case, number: int | None) -> set[bytes]:
    said = [c for c in case.constraints if c.sentence == number]
    return _by_id([msgspec.structs.replace(c, sentence=None) for c in said], {})


def assert_perfect_passes(case: Case) -> None:
    agent, world = simulated_agent("perfect", {}), record(case, max_steps=500)
    asyncio.run(agent.run(Assignment(case.query, case.seed), world))
    verdict = check(case, Transcript(case.id, world.calls))
    assert verdict.verdict == "passed", verdict.explanation


def assert_equivalent(one: Case, other: Case) -> None:
    """Z3 proves that the same plans are correct, in whatever world the agent may find itself."""
    assert [action.id for action in one.actions] == [action.id for action in other.actions]
    for world in worlds(one):
        for given, asked in ((one, other), (other, one)):
            case = msgspec.structs.replace(given, world=world)
            for constraint in _news(asked, given):
                assert _is_implied(case, constraint), (constraint, given.sentences, asked.sentences)


def worlds(case: Case) -> Iterator[World]:
    """Every way in which results could turn out."""
    replaced = [c.action for c in case.constraints if isinstance(c, StandIn)]
    asked = list(case.world.findings)
    for reported in product((False, True), repeat=len(asked)):
        for broken in product((False, True), repeat=len(replaced)):
            yield msgspec.structs.replace(
                case.world,
                findings=dict(zip(asked, reported, strict=True)),
                broken=tuple(a for a, is_broken in zip(replaced, broken, strict=True) if is_broken),
            )


def _news(asked: Case, given: Case) -> list[Constraint]:
    """The constraints of one case that are not among those of the other; where they are said is no matter."""
    known = [msgspec.structs.replace(c, sentence=None) for c in given.constraints]
    plain = [msgspec.structs.replace(c, sentence=None) for c in asked.constraints]
    return [constraint for constraint in plain if constraint not in known]


def _is_implied(case: Case, constraint: Constraint) -> bool:
    """Whether no complete plan that meets the constraints of the case breaks this one."""
    script = Script()
    encoding = Encoding(script, case)
    script.require(*encoding.basics(), *encoding.complete())
    script.require(*[encoding.demand(known) for known in case.constraints])
    script.require(negation(encoding.demand(constraint)))
    solver = z3.Solver()
    solver.from_string(script.text())
    return bool(solver.check() == z3.unsat)
