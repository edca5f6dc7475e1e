"""`misstep plan repair` as people use it."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command, Result
from tests.features.repair.test_run import GOOD_RELATIONS, GOOD_TOOLS, REQUEST, TOOLS, scripted
from tests.scripted import Script, ScriptedServer

Repair = Callable[..., Result]


@pytest.fixture
def repair(misstep: Command, tmp_path: Path) -> Repair:
    """The command with a model of this script and three tools."""
    definitions = [{"name": tool, "description": f"Does {tool}.", "parameters": {}} for tool in TOOLS]
    (tmp_path / "tools.json").write_text(json.dumps(definitions))

    def call(script: Script, *arguments: str) -> Result:
        with ScriptedServer(script) as server:
            place = ("--model", "vllm/x", "--model-base-url", server.base_url, "--retries", "0")
            return misstep("plan", "repair", "--tools", "tools.json", *place, *arguments)

    return call


def agreeing() -> Script:
    return scripted([GOOD_RELATIONS], [GOOD_TOOLS])


AGREED = """\
both readings of the request agree
vllm/x: 2 requests, TOKENS
cost: 0.00 USD

requested tools
  a1  pay   “Pay the invoice”
  a2  ship  “ship the order”
  a3  mail  “Mail the customer”

both readings say
  pay before ship   a1 < a2  “then ship the order”
  mail last of all  a3 = n   “Mail the customer last”

plan
  1  pay
  2  ship
  3  mail
  nothing was called; fill in the arguments yourself
"""


def scrubbed(text: str) -> str:
    """Without the number of tokens, which changes with every word of the prompts."""
    lines = [line.rstrip() for line in text.splitlines()]
    return (
        "\n".join(
            [
                line.split("requests, ")[0] + "requests, TOKENS" if " tokens in" in line else line
                for line in lines
            ]
        )
        + "\n"
    )


def test_agreement(repair: Repair) -> None:
    result = repair(agreeing(), "--request", REQUEST)
    assert (result.code, result.err) == (0, "")
    assert scrubbed(result.out) == AGREED


def test_as_json(repair: Repair) -> None:
    result = repair(agreeing(), "--request", REQUEST, "--json")
    assert (result.code, result.err) == (0, "")
    report = json.loads(result.out)
    assert (report["agree"], report["consistent"], report["plan"]) == (True, True, ["pay", "ship", "mail"])
    assert report["constraints"][0] == {
        "words": "pay before ship",
        "formal": "a1 < a2",
        "quote": "then ship the order",
        "said_by": "both",
        "constraint": {"kind": "before", "first": "pay", "then": "ship"},
        "effect": None,
        "instead": [],
    }
    assert report["tokens"]["input"] > 0


DISAGREED = """\
the two readings of the request disagree
vllm/x: 2 requests, TOKENS
cost: 0.00 USD

requested tools
  a1  pay   “Pay the invoice”
  a2  ship  “ship the order”
  a3  mail  “Mail the customer”
      only in the first reading, not in the plan; with it: pay → ship → mail

only the first reading says
  pay before ship   a1 < a2  “then ship the order”
    the plan satisfies it anyway
  mail last of all  a3 = n   “Mail the customer last”
    it involves tools that are not in the plan

only the second reading says
  ship before pay  a2 < a1  “ship”
    the plan does not; with it: ship → pay

not expressible as a constraint, ignored by the plan
  “then”

plan, in any order: the readings agree on no constraint
  1  pay
  2  ship
  nothing was called; fill in the arguments yourself
"""


def test_disagreement(repair: Repair) -> None:
    other: dict[str, Any] = {
        "tools": [
            {"tool": "pay", "quote": "Pay", "after": [{"tool": "ship", "quote": "ship"}]},
            {"tool": "ship", "quote": "ship"},
        ],
        "beyond": ["then"],
    }
    result = repair(scripted([GOOD_RELATIONS], [other]), "--request", REQUEST)
    assert (result.code, result.err) == (1, "")
    assert scrubbed(result.out) == DISAGREED


def test_consequences_that_are_wrapped_keep_their_indent(
    repair: Repair, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"tools": [{"tool": "pay", "quote": "Pay"}, {"tool": "ship", "quote": "ship"}]}
    monkeypatch.setenv("COLUMNS", "40")
    lines = scrubbed(repair(scripted([GOOD_RELATIONS], [other]), "--request", REQUEST).out).splitlines()
    at = lines.index("      only in the first reading, not in")
    assert lines[at + 1] == "      the plan; with it: pay → ship →"
    at = lines.index("    it involves tools that are not in")
    assert lines[at + 1] == "    the plan"


def test_a_contradiction(repair: Repair) -> None:
    ring = [
        *GOOD_RELATIONS["constraints"],
        {"kind": "before", "first": "mail", "then": "pay", "quote": "Mail the customer"},
    ]
    entries = [
        {"tool": "pay", "quote": "Pay", "after": [{"tool": "mail", "quote": "Mail"}]},
        {"tool": "ship", "quote": "ship", "after": [{"tool": "pay", "quote": "then"}]},
        {"tool": "mail", "quote": "Mail", "place": {"place": "last", "quote": "last"}},
    ]
    result = repair(
        scripted([{**GOOD_RELATIONS, "constraints": ring}], [{"tools": entries}]), "--request", REQUEST
    )
    assert (result.code, result.err) == (1, "")
    assert result.out.startswith("both readings agree, and no plan satisfies them\n")
    told = result.out[result.out.index("what both readings say contradicts itself  (Z3 agrees)") :]
    assert "mail last of all" in told
    assert "mail before pay" in told
    assert "pay before ship" not in told
    assert "none: the constraints contradict each other" in told


def test_the_request_in_a_file(repair: Repair, tmp_path: Path) -> None:
    (tmp_path / "request.txt").write_bytes(b"\xef\xbb\xbf" + REQUEST.encode())
    assert repair(agreeing(), "--request", "@request.txt").code == 0


def test_the_request_on_standard_input(repair: Repair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(REQUEST.encode())))
    assert repair(agreeing(), "--request", "-").code == 0


def test_what_drives_a_terminal_is_spelt_out(repair: Repair) -> None:
    request = "\x1b[31mPay\u202e [bold]now[/bold], then ship :smile:"
    needed = [
        {"tool": "pay", "quote": "\x1b[31mPay\u202e [bold]now[/bold]"},
        {"tool": "ship", "quote": "ship :smile:"},
    ]
    entries = [{"tool": "ship", "quote": "ship"}, {"tool": "pay", "quote": "Pay"}]
    result = repair(
        scripted([{"needed": needed, "constraints": []}], [{"tools": entries}]), "--request", request
    )
    assert result.code == 0
    assert "“\\u001b[31mPay\\u202e [bold]now[/bold]”" in result.out
    assert "“ship :smile:”" in result.out
    assert "\x1b" not in result.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "missing option '--request'"),
        (["--request", ""], "the request is empty"),
        (["--request", "@nowhere.txt"], "nowhere.txt  can't be read"),
        (["--request", "@latin.txt"], "latin.txt  is not UTF-8 text"),
        (["--request", "@huge.txt"], "more than 1,048,576 bytes"),
        (["--request", "x" * 60_000], "60,000 characters"),
        (["--request", "x", "--tools", "none.json"], "none.json"),
        (["--request", "x", "--model", "opnai/x"], "opnai"),
        (["--request", "x", "--budget-tokens", "5"], "does not allow another request"),
    ],
)
def test_mistakes_are_explained(repair: Repair, tmp_path: Path, arguments: list[str], problem: str) -> None:
    (tmp_path / "latin.txt").write_bytes("für".encode("latin-1"))
    (tmp_path / "huge.txt").write_bytes(b"x" * (1 << 21))
    result = repair(agreeing(), *arguments)
    assert (result.code, result.out) == (3 if "--budget-tokens" in arguments else 2, "")
    assert problem in result.err
    assert "Traceback" not in result.err


def test_a_model_that_can_t_do_it(repair: Repair) -> None:
    result = repair(scripted(["\x1b[2JI'd rather not."], [GOOD_TOOLS]), "--request", REQUEST)
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "vllm/x gave no valid answer in 3 attempts\n"
        "  first reading, last problem: There is no JSON object in the answer.\n"
        "  use another model with --model, or a shorter request\n"
    )


def test_a_server_that_is_down(misstep: Command, repair: Repair) -> None:
    with ScriptedServer() as server:
        address = server.base_url
    place = ["--tools", "tools.json", "--model", "x", "--model-base-url", address, "--retries", "0"]
    result = misstep("plan", "repair", "--request", REQUEST, *place)
    assert (result.code, result.out) == (2, "")
    assert "can't be reached" in result.err
    assert "Traceback" not in result.err
