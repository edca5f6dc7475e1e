"""A run held against an earlier one that it must not fall behind."""

from collections import Counter
from collections.abc import Sequence

from misstep.core.results.comparison import Comparison, Held, NewFinding, TaskComparison
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.finding import Finding
from misstep.core.run import BENCHMARKS, RunKind, RunSpec
from misstep.core.settings import Settings
from misstep.errors import NoStoreYet, UsageError
from misstep.runs.compare import SIGNIFICANT, compare_runs, pairing_of
from misstep.store.runs import Store

LAST = "last"


def find_baseline(settings: Settings, verb: RunKind, own: str = "") -> str:
    """The id of the run that `--baseline` names, which has to be one of the same command.

    `last` is the newest before `own`, the run that is there already if one is, that has come to its end;
    empty where there is none yet.
    """
    try:
        with Store(settings.store) as store:
            if settings.baseline == LAST:
                return _last(store, verb, own)
            run = store.find_run(settings.baseline)
    except NoStoreYet:
        if settings.baseline == LAST:
            return ""
        raise
    except UsageError as error:
        hint = "the baseline has to be in the same store as the run: --store names it"
        raise UsageError(f"--baseline: {error.message}", *error.hints, hint, where=error.where) from error
    if run.purpose.verb != verb:
        hint = f"name a run of it; {LAST} is the newest"
        raise UsageError(
            f"run {run.id} is one of {run.purpose.command}, not of {RunSpec(verb).command}",
            hint,
            where="--baseline",
        )
    return run.id


def _last(store: Store, verb: RunKind, own: str) -> str:
    runs = store.list_runs()
    if own:
        itself = store.find_run(own).id
        runs = runs[1 + [run.id for run in runs].index(itself) :]
    return next((run.id for run in runs if run.purpose.verb == verb and run.summary), "")


def hold_against(settings: Settings, baseline: str, run: str) -> Held:
    """A run against its baseline; a `UsageError` where they have nothing in common."""
    if not baseline:
        return Held("")
    with Store(settings.store) as store:
        verb = store.find_run(run).purpose.verb
        if verb == "fuzz":
            return _hold_findings(store, baseline, run)
        if verb == "consistency":
            return _hold_sets(store, baseline, run)
    if verb not in BENCHMARKS:
        return _held(compare_runs(settings, baseline, run), "case")
    from misstep.features.bench.compare import compare_tasks  # which brings all that calls tools

    return _held(compare_tasks(settings, baseline, run), "task")


def _held(comparison: Comparison | TaskComparison, unit: str) -> Held:
    worse = comparison.pairing.difference < 0
    return Held(
        comparison.first,
        regressed=comparison.significant and worse,
        significant=comparison.significant,
        unit=unit,
        pairing=comparison.pairing,
        lost=comparison.lost,
        won=comparison.won,
    )


def _hold_sets(store: Store, baseline: str, run: str) -> Held:
    """Sets are the same if their requests are, for the same tool."""
    before, after = (_judged_sets(store, each) for each in (baseline, run))
    common = sorted(before.keys() & after.keys())
    if not common:
        raise _nothing_in_common(baseline, run, "set", "make both with the same seed and --cache")
    pairing = pairing_of([(before[name], after[name]) for name in common])
    significant = pairing.p < SIGNIFICANT
    return Held(
        baseline,
        regressed=significant and pairing.difference < 0,
        significant=significant,
        unit="set",
        pairing=pairing,
        lost=tuple(name for name in common if before[name] and not after[name]),
        won=tuple(name for name in common if after[name] and not before[name]),
    )


def _judged_sets(store: Store, run: str) -> dict[str, bool]:
    """By their ids, which are made of the tool and the requests, whether they passed."""
    tools = store.tool_documents(run, ConsistencyReport)
    sets = [each for tool in tools for each in tool.sets if each.verdict in ("passed", "failed")]
    return {each.id: each.verdict == "passed" for each in sets}


def _hold_findings(store: Store, baseline: str, run: str) -> Held:
    """By what was found: this is exact. A tool that only the run has tested counts as well."""
    before, after = store.tool_reports(baseline), store.tool_reports(run)
    tested = {report.name for report in after}
    if not tested & {report.name for report in before}:
        raise _nothing_in_common(baseline, run, "tool", "fuzz the same tools in both")
    old = [finding for report in before if report.name in tested for finding in report.findings]
    own = [finding for report in after for finding in report.findings]
    new, gone = _beyond(own, old), _beyond(old, own)
    return Held(baseline, regressed=bool(new), unit="tool", new=_named(new), gone=_named(gone))


def _beyond(findings: Sequence[Finding], known: Sequence[Finding]) -> list[Finding]:
    """Those that are not among the known ones: neither the very same, nor one that a line has moved."""
    same = {finding.id for finding in findings} & {finding.id for finding in known}
    moved = Counter(finding.identity for finding in known if finding.id not in same)
    beyond = list[Finding]()
    for finding in findings:
        if finding.id in same:
            continue
        if moved[finding.identity]:
            moved[finding.identity] -= 1
        else:
            beyond.append(finding)
    return beyond


def _named(findings: Sequence[Finding]) -> tuple[NewFinding, ...]:
    return tuple(NewFinding(each.id, each.tool, each.kind, each.error) for each in findings)


def _nothing_in_common(baseline: str, run: str, unit: str, hint: str) -> UsageError:
    return UsageError(f"runs {baseline} and {run} have no judged {unit} in common", hint)
