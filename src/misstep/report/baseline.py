"""How a run stands against its baseline, in words."""

from misstep.core.baseline import Held, NewFinding
from misstep.core.comparison import Pairing
from misstep.report.statistics import listed, p_in_words
from misstep.report.terminal import counted
from misstep.report.text import plain

MOST = 5  # findings that are named


def held_in_words(held: Held) -> str:
    """One sentence, without foreign text but for names of tools."""
    if not held.baseline:
        return "there is no earlier run to hold this one against"
    if held.pairing is None:
        return _findings(held)
    return _pairing(held, held.pairing)


def held_as_json(held: Held) -> dict[str, object]:
    """What `--json` has beside all else."""
    found = {"new": _listed(held.new), "gone": _listed(held.gone)}
    pairing = held.pairing
    compared = (
        {
            "in_common": pairing.cases,
            "difference": pairing.difference,
            "interval": list(pairing.interval),
            "p": pairing.p,
            "lost": list(held.lost),
            "won": list(held.won),
        }
        if pairing
        else found
    )
    return {
        "run": held.baseline or None,
        "regressed": held.regressed,
        "conclusion": held_in_words(held),
        **(compared if held.baseline else {}),
    }


def _listed(findings: tuple[NewFinding, ...]) -> list[dict[str, str]]:
    return [{"id": each.id, "tool": each.tool, "kind": each.kind, "error": each.error} for each in findings]


def _findings(held: Held) -> str:
    gone = f"; {counted(len(held.gone), 'finding')} of it {'is' if len(held.gone) == 1 else 'are'} gone"
    rest = gone if held.gone else ""
    if not held.new:
        return f"no finding that baseline {held.baseline} lacks{rest}"
    names = listed(
        [f"{each.kind} {plain(each.error, 60)} in {plain(each.tool, 60)}" for each in held.new], MOST
    )
    return f"{counted(len(held.new), 'finding')} that baseline {held.baseline} lacks ({names}){rest}"


def _pairing(held: Held, pairing: Pairing) -> str:
    changes = f"{len(held.lost)} lost, {len(held.won)} won of {counted(pairing.cases, held.unit)} in common"
    if not held.lost and not held.won:
        return f"the same as baseline {held.baseline}: {changes}"
    low, high = pairing.interval
    better = pairing.difference > 0
    if not held.significant:
        return f"no significant difference to baseline {held.baseline}: {changes}, {p_in_words(pairing.p)}"
    low, high = (low, high) if better else (-high, -low)
    by = f"{100 * abs(pairing.difference):.1f} points (95 % interval {100 * low:.1f} to {100 * high:.1f})"
    word = "better" if better else "worse"
    return f"{word} than baseline {held.baseline} by {by}: {changes}, {p_in_words(pairing.p)}"
