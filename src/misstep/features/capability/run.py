"""Measures how many actions an agent can plan, and finds curves in stored runs and files."""

from itertools import count

from misstep.core.agent import Agent
from misstep.core.event import Estimate, Listener
from misstep.core.results.capability import Capability
from misstep.core.run import Inquiries, RunSpec
from misstep.core.settings import CapabilitySettings, StoreSettings, ViewSettings
from misstep.core.settings.reading import check_settings
from misstep.errors import UsageError
from misstep.features.capability.view import Level, published_levels
from misstep.planning.capability import CurveTally, Design, adaptive_design, full_design
from misstep.planning.synthesis.suite import make_case
from misstep.rendering.words import told_apart
from misstep.runs.cases import suite_of
from misstep.runs.lifecycle import RunWork, estimate, lasting, resume, start
from misstep.runs.setup.models import model_name
from misstep.store.files import is_kept, read_curve
from misstep.store.runs import Run, Store


def measure_capability(
    settings: CapabilitySettings, *listeners: Listener, agent: Agent | None = None
) -> Capability:
    """Run an agent on problems with more and more actions, as the settings say."""
    settings = lasting(check_settings(settings))
    summary = start(settings, _work(settings), listeners, agent)
    return view_capability(settings, summary.run)


def resume_capability(
    settings: CapabilitySettings, *listeners: Listener, agent: Agent | None = None
) -> Capability:
    settings = check_settings(settings)
    summary = resume(settings, "capability", lambda _, run: _work(run.settings), listeners, agent)
    return view_capability(settings, summary.run)


def estimate_capability(settings: CapabilitySettings) -> Estimate:
    settings = check_settings(settings)
    return estimate(settings, _work(settings))


def view_capability(settings: StoreSettings, name: str) -> Capability:
    """The curve of a stored run of `plan capability`, or any other with cases of several sizes."""
    with Store(settings.store) as store:
        return capability_of(store, store.find_run(name))


def capability_of(store: Store, run: Run) -> Capability:
    tally = CurveTally()
    for outcome in store.outcomes(run.id):
        tally.add(outcome)
    settings = run.settings
    span = (settings.actions.low, settings.actions.high) if settings.adaptive else None
    return tally.capability(run.id, settings.agent, model_name(settings), settings.threshold, span)


def _work(settings: CapabilitySettings) -> RunWork:
    vain = {"cases": settings.cases, "exhaustive": settings.exhaustive, "count": settings.count}
    for name, given in vain.items():
        if given:
            hint = "the numbers of actions determine the cases: omit it"
            raise UsageError(f"{name} does not apply to plan capability", hint)
    suite = suite_of(settings)
    design = Design(
        low=settings.actions.low,
        high=settings.actions.high,
        per_pair=settings.per_pair,
        most=settings.most_cases,
        threshold=settings.threshold,
        stop=not settings.full,
        width=settings.width,
    )
    make = adaptive_design if settings.adaptive else full_design
    return RunWork(
        campaign=lambda known: Inquiries([make(suite, design)], known),
        sample=lambda: (make_case(suite, index) for index in count()),
        most=sum(map(design.cases_at, design.sizes)),
        purpose=RunSpec("capability"),
    )


def find_curve(settings: StoreSettings, name: str) -> Capability:
    return read_curve(name) if is_kept(name) else view_capability(settings, name)


def with_others(settings: ViewSettings, curve: Capability) -> tuple[Capability, ...]:
    """A curve and those that the settings compare it with, each once, under distinct names."""
    curves = [curve]
    for name in settings.beside:
        found = find_curve(settings, name)
        if found not in curves:
            curves.append(found)
    return tuple(told_apart(curves))


def levels_beside(settings: ViewSettings) -> tuple[Level, ...]:
    return published_levels() if settings.published else ()


def settle_others(settings: CapabilitySettings) -> CapabilitySettings:
    """The same settings with the runs to compare named by their ids, since 'last' will change.

    Runs that can't be found are reported now rather than after the measurement.
    """
    found = [(name, find_curve(settings, name)) for name in settings.beside]
    return settings.overlay({"beside": tuple(name if is_kept(name) else curve.run for name, curve in found)})
