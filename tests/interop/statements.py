"""Statements to make reports of."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from misstep.core.outcome import JUDGEMENTS, Judgement
from misstep.core.results.report import Issue, ReportItem, ReportItems, RunReport

# All that a text from outside may try: markup of every kind, characters that formats forbid, sheer length.
HOSTILE = (
    "</failure><script>alert(1)</script> ]]> &lt; \x00\x08\x1b[31m \ud800 \ufffe \u202e | ` `` ``` \\ "
    "[a](https://evil.example) ![b](x) <img src=x> https://evil.example www.evil.example @everyone me@evil.example "
    "#12 **bold** _it_ ~~no~~ $x$ {0} {{ }} \r\n\n# heading\n| a | b |\n---\n"
)


def flaw(text: str = "it went wrong", **given: Any) -> Issue:
    facts = {
        "id": "f1",
        "rule": "plan/order",
        "title": "order at step 2",
        "identity": "f1\0order",
        "subject": "sim:greedy",
        "misstep": "step 2, wash()",
        "replay": "misstep replay k3x9aa/f1",
        **given,
    }
    return Issue(text=text, **facts)


def entry(verdict: Judgement, name: str = "f1", **given: Any) -> ReportItem:
    flaws = (flaw(),) if verdict == "failed" else ()
    reason = "the model was out" if verdict in ("errored", "inconclusive") else ""
    return ReportItem(
        **{
            "id": name,
            "name": name,
            "group": "baker",
            "verdict": verdict,
            "flaws": flaws,
            "reason": reason,
            **given,
        }
    )


def statement(judged: Iterable[ReportItem], **given: Any) -> RunReport:
    known = list(judged)
    counts = Counter(each.verdict for each in known)
    facts: dict[str, Any] = {
        "run": "k3x9aa",
        "command": "plan test",
        "subject": "sim:greedy",
        "model": "",
        "unit": "case",
        "started": 1_700_000_000.0,
        "seconds": 12.3456,
        "counts": {verdict: counts[verdict] for verdict in JUDGEMENTS},
        "entries": reading(known),
        "families": ("plan",),
        **given,
    }
    return RunReport(**facts)


def reading(entries: list[ReportItem]) -> ReportItems:
    return lambda verdict: [each for each in entries if verdict in (None, each.verdict)]
