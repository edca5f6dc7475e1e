"""Judge the recorded calls of a stored run again, in a process that has loaded no agent."""

import msgspec

from misstep.core.rejudging import Difference, Rejudgement
from misstep.core.run_spec import UNITS
from misstep.core.settings import Settings
from misstep.core.verdict import Verdict
from misstep.errors import UsageError
from misstep.planning.judging.explanation import check
from misstep.store.runs import Store


def rejudge(settings: Settings, name: str) -> Rejudgement:
    """Compare every verdict of a run with the one that its case and its calls deserve."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        if run.purpose.verb in UNITS:
            what = f"run {run.id} is of '{run.purpose.command}', which has no planning verdicts"
            raise UsageError(what, "name a run of plan test, capability, dissect or shrink")
        cases, differences = 0, list[Difference]()
        for outcome in store.outcomes(run.id):
            cases += 1
            judged = check(outcome.case, outcome.transcript, run.settings.parallel)
            if _decision(judged) != _decision(outcome.verdict):
                differences.append(Difference(outcome.case.id, outcome.verdict, judged))
    return Rejudgement(run.id, cases, cases - len(differences), tuple(differences))


def _decision(verdict: Verdict) -> Verdict:
    """The verdict without its words."""
    return msgspec.structs.replace(verdict, explanation="", nearest=())
