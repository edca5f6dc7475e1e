"""Cases that other runs of the same agent have judged as well."""

from misstep.core.settings import Settings
from misstep.store.runs import Run, Store

MOST_RUNS = 20  # the newest


def flaky_cases(store: Store, run: Run) -> dict[bytes, bool]:
    """Of every case that another run of the same agent has judged too: whether they disagree.

    A case is the same only if its whole content is; the key is a digest of it.
    """
    others = [other for other in store.list_runs() if other.id != run.id and _is_same(other, run)]
    found = dict[bytes, bool]()
    own = store.judgements(run.id) if others else {}
    for other in others[:MOST_RUNS]:
        judged = store.judgements(other.id)
        for case in own.keys() & judged.keys():
            found[case] = found.get(case, False) or own[case] != judged[case]
    return found


def _is_same(one: Run, other: Run) -> bool:
    return _who(one.settings) == _who(other.settings)


def _who(settings: Settings) -> tuple[object, ...]:
    return settings.agent, settings.agent_args, settings.model, settings.temperature, settings.prompt
