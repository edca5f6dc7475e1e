"""Through every adapter, tools reach the model as they are described, and arguments reach us as they were emitted."""

import copy
import json
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.engine.recorder import Recorder
from tests.conformance.schemas import meaning
from tests.conformance.subjects import Subject
from tests.conformance.trials import Trial, play
from tests.scripted import Call, Script, calling
from tests.scripted.offers import offers_in
from tests.scripted.wire import Recorded


def taking(*required: str, **properties: Any) -> dict[str, Any]:
    """The schema of a tool of our own: nothing else may be given."""
    needed = list(required or properties)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


STOP = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "nights": {"type": "integer", "default": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
TRIP = {
    "title": "Trip",
    "type": "object",
    "properties": {
        "stops": {
            "type": "array",
            "items": {"$ref": "#/$defs/Stop"},
            "minItems": 1,
            "description": "In order.",
        },
        "budget": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        "comfort": {
            "type": "object",
            "properties": {
                "class": {"enum": ["first", "second"], "default": "second"},
                "seats": {"type": "integer"},
            },
            "required": ["class"],
        },
        "note": {"type": ["string", "null"], "maxLength": 100},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "default": ["new"]},
        "home": {"$ref": "#/$defs/Stop", "description": "Where it ends."},
    },
    "required": ["stops"],
    "$defs": {"Stop": STOP},
}
NODE = taking(
    "label", label={"type": "string"}, children={"type": "array", "items": {"$ref": "#/$defs/Node"}}
)
# Names that frameworks use themselves, and such as Python has no use for.
ODD = """
name args kwargs context config ctx input type class no-identifier title schema properties arguments description
tool_context cancellation_token run_manager call_id tool_input tool_call_id copy json
"""

TOOLS = (
    Tool(
        "reserve_room", "Reserve the room.", taking(start_time={"type": "string", "description": "As HH:MM."})
    ),
    Tool(
        "pay_invoice",
        "Pay the invoice.",
        taking(reference_code={"type": "string"}, invoice_total={"type": "integer"}),
    ),
    Tool(
        "ask_price",
        "Ask for a price.",
        taking(task={"type": "string", "enum": ["reserve_room", "pay_invoice"]}),
    ),
    Tool("plan_trip", "Plan a trip with several stops.", TRIP),
    Tool("draw_tree", "Draw a tree.", {**taking(root={"$ref": "#/$defs/Node"}), "$defs": {"Node": NODE}}),
    Tool(
        "set_options",
        "Set options.",
        {"type": "object", "properties": {name: {"type": "integer"} for name in ODD.split()}},
    ),
    Tool("ring_bell", "Ring the bell.", {"type": "object", "properties": {}, "additionalProperties": False}),
)

FITTING = [
    calling("reserve_room", start_time="09:30"),
    calling("pay_invoice", reference_code="0042", invoice_total=1200),
    calling(
        "pay_invoice",
        invoice_total=2**53 + 1,
        reference_code="quotes \" ' and\nlines, ünïcödé 😀 \\n {} </tool>",
    ),
    calling("ask_price", task="pay_invoice"),
    calling("plan_trip", stops=[{"city": "Oslo"}, {"city": "Bern", "nights": 2}], comfort={"class": "first"}),
    calling(
        "plan_trip", stops=[{"city": "Rome"}], budget=None, note=None, labels={"b": "1", "a": "2"}, tags=[]
    ),
    calling("plan_trip", stops=[{"city": "Bonn"}], budget=12.0, home={"city": "Bonn", "nights": 0}),
    calling("draw_tree", root={"label": "a", "children": [{"label": "b", "children": []}, {"label": "c"}]}),
    calling("set_options", **{name: number for number, name in enumerate(ODD.split())}),
    calling("ring_bell"),
]
UNFIT = {
    "wrong type": [
        calling("reserve_room", start_time=930),
        calling("pay_invoice", reference_code="0042", invoice_total="1200"),
        calling("pay_invoice", reference_code="0042", invoice_total=1200.0),
        calling("pay_invoice", reference_code="0042", invoice_total=True),
        calling("plan_trip", stops="Oslo"),
    ],
    "wrong type inside": [
        calling("plan_trip", stops=["Oslo"]),
        calling("plan_trip", stops=[{"city": "Oslo", "nights": "two"}], comfort={"seats": 2}),
    ],
    "null": [calling("reserve_room", start_time=None)],
    "no such option": [calling("ask_price", task="fly_home")],
    "missing": [
        calling("reserve_room"),
        calling("reserve_room", startTime="09:30"),
        calling("pay_invoice", reference_code="0042"),
        calling("plan_trip"),
    ],
    "unknown name": [
        calling("reserve_room", start_time="09:30", colour="red"),
        calling("ring_bell", loud=True),
    ],
}
AT_A_TIME = [list(UNFIT)[:3], list(UNFIT)[3:]]  # agents may have limits of their own, as low as 15 turns
REFUSED = "Error: these arguments won't do."


class Office:
    """A world that knows which calls are all right, and remembers all in the order in which they came."""

    def __init__(self) -> None:
        self.tools = copy.deepcopy(TOOLS)
        self.seen = list[tuple[str, str]]()

    def answer(self, name: str, arguments: Any) -> str:
        told = json.dumps(arguments, sort_keys=True)
        self.seen.append((name, told))
        fits = any(call.name == name and in_order(call) == told for call in FITTING)
        return f"{name} has taken {len(told)} letters" if fits else f"{REFUSED} ({len(self.seen)})"

    def renewed(self) -> "Office":
        return Office()


def in_order(call: Call) -> str:
    return json.dumps(json.loads(call.arguments), sort_keys=True)


class Listening(Recorder):
    """A recorder that also keeps the arguments with which calls are carried out."""

    def __init__(self, office: Office, trial: Trial) -> None:
        super().__init__(office, trial.deadline, max_steps=20)
        self.office = office
        self.handed_over = list[tuple[str, str]]()

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        self.handed_over.append((name, json.dumps(arguments, sort_keys=True)))
        return super().call(name, arguments, turn)


def tried(subject: Subject, script: Script) -> tuple[Listening, list[Recorded]]:
    """What was recorded of a script in the office, and all that the server was asked."""
    trial = Trial()
    recorder = Listening(Office(), trial)
    trial.recorder = recorder
    with subject.serve(script) as server:
        play(subject, server, trial)
        requests = server.requests
    assert (trial.broken, trial.answer.ended) == ("", "answered")
    return recorder, requests


def recorded(recorder: Recorder) -> list[tuple[str, str]]:
    return [(call.tool, json.dumps(call.arguments, sort_keys=True)) for call in recorder.calls]


def emitted(calls: list[Call]) -> list[tuple[str, str]]:
    return [(call.name, in_order(call)) for call in calls]


def all_said(requests: list[Recorded]) -> str:
    return "\n".join(json.dumps(request.body) for request in requests)


def test_the_model_sees_the_tools_as_they_are_described(subject: Subject) -> None:
    recorder, requests = tried(subject, Script(behaviour="idle"))
    offered = {offer.name: offer for request in requests for offer in offers_in(request)}
    assert list(offered) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        seen = offered[tool.name]
        assert seen.description == tool.description
        if seen.parameters is None:  # in words there is nothing to say about a tool that takes nothing
            assert tool.name == "ring_bell"
        else:
            assert meaning(seen.parameters) == subject.rewrites(meaning(tool.parameters))
    assert recorder.tools == TOOLS  # nobody has written into them


def test_arguments_arrive_exactly(subject: Subject) -> None:
    recorder, requests = tried(subject, Script(plan=lambda *_: FITTING))
    assert recorded(recorder) == emitted(FITTING)
    assert recorder.handed_over == emitted(FITTING)
    assert all(call.ran == 0 and call.result.startswith(call.tool) for call in recorder.calls)
    heard = all_said(requests)
    assert all(call.result in heard for call in recorder.calls)


def test_parallel_calls_keep_their_arguments_and_their_order(subject: Subject) -> None:
    if not subject.parallel:
        pytest.skip(f"{subject.word} makes one call per turn")
    calls = [
        *FITTING[4:7],
        FITTING[1],
        FITTING[2],
        calling("pay_invoice", reference_code="0", invoice_total=1),
    ]
    recorder, _ = tried(subject, Script(plan=lambda *_: calls, behaviour="parallel"))
    assert recorded(recorder) == emitted(calls)
    assert sorted(recorder.handed_over) == sorted(emitted(calls))
    assert recorder.office.seen == emitted(calls)  # whatever order they were carried out in


@pytest.mark.parametrize("kinds", AT_A_TIME, ids=" and ".join)
def test_arguments_that_don_t_fit_are_recorded_as_they_were_emitted(
    subject: Subject, kinds: list[str]
) -> None:
    """Several kinds in one run, since much of a run is its start; before and after each kind is a call that fits."""
    told: list[tuple[str | None, Call]] = [(None, FITTING[0])]
    for kind in [kind for kind in kinds if kind not in subject.hides]:  # the recording proxy sees the others
        told += [*((kind, call) for call in UNFIT[kind]), (None, FITTING[-1])]
    recorder, requests = tried(subject, Script(plan=lambda *_: [call for _, call in told]))
    assert recorded(recorder) == emitted([call for _, call in told])
    heard = all_said(requests)
    for (kind, _), call in zip(told, recorder.calls, strict=True):
        if kind in subject.checks:
            assert (call.ran, call.result) == (-1, "")
        else:
            assert call.ran == 0
            assert call.result.startswith(call.tool if kind is None else REFUSED)
            assert call.result in heard
