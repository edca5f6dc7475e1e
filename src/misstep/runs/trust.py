"""Finds stopped runs that can be resumed, and refuses to execute what only a store from elsewhere names."""

from collections.abc import Collection
from typing import Any

from msgspec import structs

from misstep.core.results.descriptions import read_text
from misstep.core.run import KINDS, RunSpec
from misstep.core.settings import MEANS, AgentRunSettings, StoreSettings, ToolRunSettings, store_flag
from misstep.errors import UsageError
from misstep.runs.setup.agents import PARADIGMS
from misstep.store.database import going_on
from misstep.store.runs import Run, Store
from misstep.store.trust import has_key, is_trusted, key_path, named_by

TRUST = "--trust-store"
_HARMLESS = ("agent_args", "model", "model_roles")  # without effect unless one of the others is set
OF_AGENTS = ("agent", "python", "prompt", "model_base_url")
_WORDS = {
    "agent": "agent",
    "python": "interpreter",
    "specs": "tools",
    "tools": "tools",
    "model_base_url": "model server",
    "allow_network": "network for tools",
    "allow_read": "files that tools may read",
}
_LONGEST = 200


def refuse_foreign(settings: StoreSettings, run: Run, given: Collection[str] = ()) -> None:
    """Raise a `UsageError` if an untrusted run names something to execute, read or connect to.

    A run is trusted if this user started it here, or if the settings say that the store is trusted. `given`
    are settings whose value comes from the user instead.
    """
    if settings.trust_store or is_trusted(run):
        return
    if named := {name: each for name, each in _risky(run).items() if name not in given}:
        raise _foreign(run.id, named)


def refuse_foreign_prompt(settings: StoreSettings, run: Run) -> None:
    """The same for callers that use only the prompt template of the run's settings."""
    refuse_foreign(settings, run, [name for name in _risky(run) if name != "prompt"])


def refuse_foreign_calls(settings: ToolRunSettings, run: Run) -> None:
    """Raise a `UsageError` if stored calls of a run from elsewhere would reach tools without a sandbox."""
    if settings.sandbox == "none" and not (settings.trust_store or is_trusted(run)):
        message = (
            f"run {run.id} comes from another machine or user, and its tools would run without a sandbox"
        )
        raise UsageError(message, "omit --sandbox none", f"or, if you trust the run, add {TRUST}")


def with_agent(settings: AgentRunSettings, run: Run, has_agent: bool = False) -> Run:
    """The run with the agent and interpreter of the settings, or with its own if it may be used.

    `has_agent` says that the user passes an agent object, so that none is looked up.
    """
    named = {"agent": settings.agent, "python": settings.python}
    typed = {name: value for name, value in named.items() if value}
    if "agent" in typed:
        typed.setdefault("python", "")  # the interpreter belongs to the agent
    try:
        refuse_foreign(settings, run, OF_AGENTS if has_agent else typed)
    except UsageError as error:
        error.hints = (*error.hints, "or pass your own agent with --agent")
        raise
    trusted = {"trust_store": settings.trust_store}
    return structs.replace(run, settings=run.settings.overlay({**typed, **trusted}))


def refuse_other_spec(settings: StoreSettings, run: Run, spec: str) -> None:
    """Refuse a finding that names tools other than those its signed run was started with."""
    if spec not in run.purpose.tools and not settings.trust_store:
        raise _foreign(run.id, {"specs": (spec,)})


def _risky(run: Run) -> dict[str, Any]:
    named = named_by(run.settings, RunSpec(tools=run.purpose.tools))
    agent = run.settings.agent
    if agent in PARADIGMS or agent.startswith("sim:"):
        named.pop("agent", None)
    return {name: each for name, each in named.items() if name not in _HARMLESS}


def _foreign(run: str, named: dict[str, Any]) -> UsageError:
    texts = {name: ", ".join(each) if isinstance(each, tuple) else str(each) for name, each in named.items()}
    shown = [
        f"{_WORDS.get(name, name)}: {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}"
        for name, text in texts.items()
    ]
    why = (
        "you did not start this run on this machine, or it was changed since"
        if has_key()
        else f"no run counts as yours: the key can't be stored in {key_path()} (mode 0600)"
    )
    return UsageError(
        f"run {run} comes from another machine or user, and would use what only the store names",
        *shown,
        why,
        f"if you trust it, add {TRUST}",
    )


def find_resumable(store: Store, name: str, verb: str) -> Run:
    """The run, if it is of this kind and no process works on it; a `UsageError` says why not.

    A finished run has a summary: it can only be shown.
    """
    run = store.find_run(name)
    if run.purpose.verb == "paper":
        raise UsageError(f"run {run.id} was limited by time and cannot be resumed", "start a new run")
    if run.purpose.verb != verb:
        place = store_flag(store.location)
        hint = f"resume it with: misstep {run.purpose.command} --resume {run.id}{place}"
        ours = KINDS[verb].command
        raise UsageError(f"run {run.id} is not from {ours}, but from {run.purpose.command}", hint)
    if run.summary:
        return run
    if store.is_held(run.id):
        raise going_on(run.id, store.holder(run.id))
    return run


def refuse_unfit(settings: StoreSettings, run: Run, given: Collection[str] = ()) -> None:
    """Raise a `UsageError` if a run to be resumed is not trusted or its tool descriptions have changed."""
    refuse_foreign(settings, run, given)
    if read_text(run.settings.descriptions) != run.purpose.descriptions:
        hint = "restore the original, or start a new run"
        raise UsageError(f"has changed since run {run.id} began", hint, where=run.settings.descriptions)


def run_to_resume(store: Store, settings: AgentRunSettings, verb: str) -> Run:
    """The run to be resumed, under the settings it was started with and its new budgets."""
    run = find_resumable(store, settings.resume, verb)
    if run.summary:
        return structs.replace(run, settings=run.settings.overlay({"trust_store": settings.trust_store}))
    refuse_unfit(settings, run)
    return structs.replace(run, settings=run.settings.overlay(new_means(settings)))


def new_means(settings: AgentRunSettings) -> dict[str, Any]:
    """Settings that may differ from the start: budgets, if given, place, and whether the store is trusted."""
    said = {name: value for name in MEANS if (value := getattr(settings, name, None)) is not None}
    place = {"on": settings.on, "ray_address": settings.ray_address}
    return {**said, **place, "trust_store": settings.trust_store}
