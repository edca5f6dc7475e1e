"""The playground in a browser: a person plans by hand, and sees what an agent's author would see."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from misstep.features.playground.pages import (
    MOST_CALLS,
    ProblemChoice,
    make_problem,
    playground_app,
    right_calls,
    tools_of,
)
from tests.browser.chromium import READY, Visitor
from tests.browser.serving import served

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]
TIMED = ProblemChoice(5, ("order", "time"), 0, 6)
FOCUSED = "[document.activeElement.id, document.activeElement.innerText]"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(playground_app()) as address:
        yield address


def enter(visitor: Visitor, address: str, state: str = "") -> Any:
    visitor.page.goto(f"{address}/{state}")
    visitor.page.locator(READY).wait_for(state="attached")
    return visitor.page


def state_of(wish: ProblemChoice) -> str:
    family = ",".join(wish.family)
    return f"#actions={wish.actions}&family={family}&distractors={wish.distractors}&seed={wish.seed}"


def call(page: Any, tool: str, **values: str) -> None:
    """Press the button of a tool, its fields filled in, and wait for what it says."""
    before = page.locator("#log li").count()
    card = page.locator(f"[data-tool='{tool}']")
    for name, value in values.items():
        card.get_by_label(name.replace("_", " ")).fill(value)
    card.get_by_role("button").click()
    page.locator("#log li").nth(before).wait_for()


def finish(page: Any) -> str:
    page.get_by_role("button", name="I am done").click()
    headline = page.locator("#case .headline h2")
    headline.wait_for()
    said: str = headline.inner_text()
    return said


def right(wish: ProblemChoice) -> list[str]:
    return [step.tool for step in right_calls(make_problem(wish))]


def test_a_right_plan_passes(visit: Visit, address: str) -> None:
    page = enter(visit(), address)
    assert page.locator("#request .told").inner_text() == " ".join(make_problem(ProblemChoice()).sentences)
    for tool in right(ProblemChoice()):
        call(page, tool)
    assert "carried out successfully" in page.locator("#log li .result").first.inner_text()
    assert finish(page) == "Passed"
    assert page.locator(".arrow.broken").count() == 0
    assert page.locator("#note").inner_text() == "You: Passed"


def test_a_wrong_plan_shows_red_arrows_and_the_sentence(visit: Visit, address: str) -> None:
    page = enter(visit(), address)
    for tool in reversed(right(ProblemChoice())):
        call(page, tool)
    assert re.fullmatch(r"Failed at step \d: the wrong order", finish(page))
    assert page.locator(".arrow.broken").count() == page.locator(".constraint.broken").count() > 0
    colour = "element => getComputedStyle(element.querySelector('.line')).stroke"
    assert page.locator(".arrow.broken").first.evaluate(colour) == "rgb(179, 49, 26)"
    broken = page.locator("#case .sentence.broken").first
    broken.hover()
    assert page.locator(".arrow.lit").count() > 0
    assert page.locator("#case h3", has_text="What you did").count() == 1


def test_a_timed_plan_is_drawn_on_a_clock(visit: Visit, address: str) -> None:
    page = enter(visit(), address, state_of(TIMED))
    for step in right_calls(make_problem(TIMED)):
        call(page, step.tool, **step.arguments)
    assert finish(page) == "Passed"
    assert page.locator("#case .track .bar").count() == 5
    assert page.get_by_role("button", name="start_over").count() == 1


def test_times_are_written_as_people_write_them(visit: Visit, address: str) -> None:
    page = enter(visit(), address, state_of(TIMED))
    card = page.locator(".tool.wide").first
    field = card.get_by_label("start time")
    for written, meant in (("9", "09:00"), ("930", "09:30"), ("0945", "09:45"), ("9:50", "09:50")):
        field.fill(written)
        card.get_by_role("button").click()
        page.locator("#log li", has_text=f'start_time="{meant}"').wait_for()
        assert field.input_value() == meant
    before = page.locator("#log li").count()
    for wrong in ("soon", ""):
        field.fill(wrong)
        card.get_by_role("button").click()
        assert not field.evaluate("element => element.validity.valid")
    assert page.locator("#log li").count() == before


def test_a_step_is_taken_back_before_and_after_the_verdict(visit: Visit, address: str) -> None:
    page = enter(visit(), address)
    plan = right(ProblemChoice())
    call(page, plan[0])
    call(page, plan[2])
    page.get_by_role("button", name="Undo").click()
    page.locator("#note", has_text=f"Step 2 is taken back: {plan[2]}.").wait_for()
    assert page.locator("#log li").count() == 1
    assert finish(page).startswith("Failed: a required action was never done")
    assert page.locator(".call.ghost").count() == 3
    assert page.locator(".tool button:not(:disabled)").count() == 0
    page.get_by_role("button", name="Undo").click()
    page.locator("#case .headline").wait_for(state="detached")
    for tool in plan:
        call(page, tool)
    assert finish(page) == "Passed"


def test_others_try_it(visit: Visit, address: str) -> None:
    page = enter(visit(), address, state_of(ProblemChoice(6, seed=3)))
    for by, name in (
        ("right", "Show a correct plan"),
        ("sim:perfect", "Let sim:perfect try it"),
        ("sim:greedy", "Let sim:greedy try it"),
        ("sim:random", "Let sim:random try it"),
    ):
        button = page.get_by_role("button", name=name)
        button.click()
        page.locator(f"[data-by='{by}'][aria-pressed=true]").wait_for()
        assert page.locator("#case .call:not(.ghost)").count() == 6
        assert button.get_attribute("class") in ("passed", "failed")
    assert page.locator("[data-by=right]").get_attribute("class") == "passed"
    assert page.locator("[data-by='sim:perfect']").get_attribute("class") == "passed"
    assert page.locator("#log li").count() == 0  # which is none of the person's doing
    assert page.locator("[data-by=you]").is_hidden()


def test_the_same_again_and_the_next(visit: Visit, address: str) -> None:
    page = enter(visit(), address, state_of(ProblemChoice(seed=41)))
    first = page.locator("#request .told").inner_text()
    call(page, right(ProblemChoice(seed=41))[0])
    finish(page)
    again = page.locator("#verdict [data-do=again]")
    again.click()
    page.locator("#case .headline").wait_for(state="detached")
    assert page.locator("#log li").count() == 0
    assert page.locator("#request .told").inner_text() == first
    page.locator("form [data-do=next]").click()
    page.wait_for_url("**seed=42*")
    following = page.locator("#request .told")
    assert following.inner_text() == " ".join(make_problem(ProblemChoice(seed=42)).sentences)
    page.go_back()
    page.locator("#request .told", has_text=first[:40]).wait_for()
    page.get_by_role("button", name="New problem").click()
    page.wait_for_function("seed => !location.hash.includes(seed)", arg="seed=41")


def test_a_problem_can_be_shared(visit: Visit, address: str) -> None:
    wish = ProblemChoice(8, ("order", "data", "choice"), 2, 99)
    page = enter(visit(), address, state_of(wish))
    assert page.get_by_label("Seed").input_value() == "99"
    assert page.locator("[name=family]:checked").count() == 3
    assert page.locator(".tool").count() == len(tools_of(make_problem(wish)))
    page.get_by_label("dynamic").check()
    page.wait_for_url("**dynamic*")
    link = page.url
    there = visit().page
    there.goto(link)
    there.locator(READY).wait_for(state="attached")
    assert there.locator("#request").inner_text() == page.locator("#request").inner_text()


def test_sliders_make_problems(visit: Visit, address: str) -> None:
    page = enter(visit(), address)
    page.get_by_label("Actions").fill("12")
    page.locator(".tool").nth(11).wait_for()
    page.get_by_label("Distractor tools").fill("3")
    page.locator(".tool").nth(14).wait_for()
    page.get_by_label("time", exact=False).first.check()
    page.locator("#note", has_text="Problems like these have 3 to 10 actions.").wait_for()
    assert page.get_by_label("Actions").input_value() == "10"
    assert page.locator("#actions-now").inner_text() == "10"
    for name in ("order", "time"):
        page.locator(f"[value={name}]").uncheck()
    trouble = page.get_by_role("alert")
    trouble.wait_for()
    assert trouble.inner_text() == "Choose at least one thing that the problem is about."
    page.locator("[value=order]").check()
    trouble.wait_for(state="hidden")


def test_a_late_answer_says_nothing_about_what_is_wrong_now(visit: Visit, address: str) -> None:
    page = enter(visit(), address)
    held = list[Any]()
    page.route("**/problem", lambda route: held.append(route))
    with page.expect_request("**/problem"):
        page.get_by_label("time", exact=False).first.check()
    for name in ("order", "time"):
        page.locator(f"[value={name}]").uncheck()
    trouble = page.get_by_role("alert")
    trouble.wait_for()
    for route in held:
        with page.expect_response("**/problem"):
            route.continue_()
    page.evaluate("() => new Promise((done) => setTimeout(done, 300))")  # for the page to hear of it
    assert trouble.inner_text() == "Choose at least one thing that the problem is about."


def test_an_address_is_followed_whatever_was_there_before(visit: Visit, address: str) -> None:
    page = enter(visit(), address, state_of(TIMED))
    assert page.get_by_label("Actions").get_attribute("max") == "10"
    wish = ProblemChoice(12, seed=2)
    page.evaluate("state => { location.hash = state; }", state_of(wish))
    page.locator(".tool").nth(11).wait_for()
    assert page.locator("#request .told").inner_text() == " ".join(make_problem(wish).sentences)


@pytest.mark.parametrize(
    "state",
    [
        "#actions=999&seed=-1&family=nonsense",
        "#actions=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&seed=%00",
        "#seed=99999999999999999999&distractors=1e9",
        "#family=,,,&actions=",
        "#%E0%A4%A",
    ],
)
def test_an_address_that_makes_no_sense_is_a_problem_all_the_same(
    visit: Visit, address: str, state: str
) -> None:
    page = enter(visit(), address, state)
    assert page.locator(".tool").count() >= 3
    assert page.locator("main img").count() == 0


def test_with_the_keyboard_alone(visit: Visit, address: str) -> None:
    page = enter(visit(), address)
    plan = right(ProblemChoice())
    names = [button.inner_text().split("\n")[1] for button in page.locator(".tool button").all()]
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.work') !== null"):
            break
    assert page.evaluate(FOCUSED)[1].split("\n")[1] == names[0]
    page.keyboard.press("Enter")
    page.locator("#log li").nth(0).wait_for()
    page.keyboard.press("Backspace")
    page.locator("#note", has_text="is taken back").wait_for()
    for tool in plan:  # as fast as they come
        page.keyboard.press(str(names.index(tool) + 1))
    page.locator("#log li").nth(3).wait_for()
    assert [row.inner_text() for row in page.locator("#log li code").all()] == plan
    while page.evaluate("document.activeElement.id") != "done":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.locator("#case .headline.passed").wait_for()
    assert page.evaluate("document.activeElement.id") == "case"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#case') !== null")


def test_focus_can_be_seen(visit: Visit, address: str) -> None:
    page = enter(visit(), address, state_of(TIMED))
    page.locator("body").click(position={"x": 1, "y": 1})
    outline = """() => {
        const one = document.activeElement, chip = one.closest('.chip') ?? one;
        const style = getComputedStyle(chip);
        return [one.tagName, style.outlineStyle, parseFloat(style.outlineWidth)];
    }"""
    seen = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        tag, style, width = page.evaluate(outline)
        if tag == "BODY":
            break
        assert style != "none"
        assert width >= 1
        seen.add(tag)
    assert {"INPUT", "BUTTON"} <= seen


def test_a_page_that_can_be_heard(visit: Visit, address: str) -> None:
    page = enter(visit(), address, state_of(TIMED))
    assert page.locator("#log").get_attribute("aria-live") == "polite"
    unnamed = """() => [...document.querySelectorAll('input, select, button')].filter((one) =>
        !(one.labels?.length || one.innerText.trim() || one.getAttribute('aria-label'))).map((one) => one.outerHTML)"""
    assert page.evaluate(unnamed) == []
    page.get_by_role("button", name="Show a correct plan").click()
    page.locator("#case .headline").wait_for()
    levels = page.evaluate(
        "[...document.querySelectorAll('main :is(h1,h2,h3)')].map((one) => +one.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.locator("main").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"


def test_as_many_calls_as_an_agent_has_turns(visit: Visit, address: str) -> None:
    page = enter(visit(), address)
    button = page.locator(".tool button").first
    for _ in range(MOST_CALLS):
        button.click()
    page.locator("#note", has_text="An agent has 50 turns as well").wait_for()
    page.locator("#log li").nth(MOST_CALLS - 1).wait_for()
    assert button.is_disabled()
    assert finish(page).startswith("Failed at step 2")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_cut_off(visit: Visit, address: str, scheme: str) -> None:
    page = enter(visit(width=360, height=740, color_scheme=scheme), address, state_of(TIMED))
    for step in right_calls(make_problem(TIMED)):
        call(page, step.tool, **step.arguments)
    finish(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    low = "[...document.querySelectorAll('.tool button')].map((one) => one.getBoundingClientRect().height)"
    assert min(page.evaluate(low)) >= 36  # a thumb's worth


def test_a_server_that_has_gone_is_told_of(visit: Visit) -> None:
    visitor = visit()
    with served(playground_app()) as address:
        page = enter(visitor, address)
    page.locator(".tool button").first.click()
    page.get_by_role("alert").wait_for()
    assert "does not answer" in page.get_by_role("alert").inner_text()
    assert page.locator("#log li").count() == 0
    visitor.complaints.clear()  # of the browser, about the connection
