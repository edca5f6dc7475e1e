"""The page of a run: one file, whole without any other, in which text from outside is nothing but text."""

import gzip
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case, Planned
from misstep.core.constraint import Before, Constraint, Given
from misstep.core.outcome import Call, Outcome, Transcript, Usage, Verdict, storable
from misstep.core.results.comparison import Breakdown, Portion
from misstep.core.results.diagnosis import Diagnosis, Dissection
from misstep.core.results.summary import Summary, Tally
from misstep.features.capability.kind import capability_section, errors_section
from misstep.features.dissect.view import causes_section
from misstep.rendering.html import assets, sections
from misstep.rendering.html.assets import Archive
from misstep.rendering.html.cases import CallEffect, CaseBundle, CaseOrigin, bind, detail_of, digest_of
from misstep.rendering.html.markup import element
from misstep.rendering.html.page import RunPage, page, planning_parts, run_page
from misstep.rendering.text import plain
from tests.features.capability.curves import falling
from tests.snapshots import check_snapshot

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "footer",
        "section",
        "div",
        "span",
        "noscript",
    ),
    *(
        "h1",
        "h2",
        "h3",
        "p",
        "b",
        "small",
        "code",
        "pre",
        "dl",
        "dt",
        "dd",
        "ol",
        "ul",
        "li",
        "details",
        "summary",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "svg", "desc", "rect", "g", "line", "polyline"),
    *("polygon", "circle", "text"),
}
HARMLESS = {
    *("class", "lang", "charset", "content", "name", "http-equiv", "open", "value", "role", "viewBox"),
    *(
        "aria-hidden",
        "aria-label",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "width",
        "height",
    ),
    *("points", "text-anchor", "stroke-dasharray", "id", "data-listed", "data-case"),
}
SCRIPT = re.compile(r"<script( [^>]*)?>(.*?)</script>", re.DOTALL)
EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></title></svg></details><script>",
    "<!-- ]]> --> &lt;b&gt; &#60;i&#62;",
    "javascript:alert(1)",
    "\x00\x08\x1b]0;owned\x07\x9b2J\x7f",
    "\u202etxt.exe\u2066\u200f\u2028\u2029\ufeff",
    "??\ufffd\ufffe\uffff",
    "\ud800\udfff",
)


def read(source: str) -> Element:
    """The page as a tree: every tag that is opened is closed, every value quoted."""
    assert source.startswith("<!doctype html>\n<html ")
    return ElementTree.fromstring(SCRIPT.sub("", source.removeprefix("<!doctype html>\n")))


def scripts(source: str) -> list[str]:
    """What the page runs."""
    return [body for attributes, body in SCRIPT.findall(source) if not attributes]


def held(source: str) -> tuple[Any, list[Any]]:
    """The index and the details that the page holds for its scripts."""
    (index,) = re.findall(r'<script type="application/json" id="index">(.*?)</script>', source)
    (lines,) = re.findall(r'<script type="text/plain" id="details">(.*?)</script>', source, re.DOTALL)
    details = [each for line in lines.split() for each in json.loads(gzip.decompress(b64decode(line)))]
    return json.loads(index), details


def words(tree: Element) -> str:
    """What can be read, a line for each piece of it."""
    lines = list[str]()

    def walk(each: Element) -> None:
        tag = each.tag.removeprefix(SVG)
        if tag in ("style", "head", "desc"):
            return
        text = "".join(each.itertext()) if tag in ("p", "summary", "li", "h1", "h2", "h3", "pre") else ""
        if tag in ("tr", "dl") and len(each):
            cells = ["".join(cell.itertext()) for cell in each]
            lines.extend(
                ["   ".join(cells)]
                if tag == "tr"
                else [f"{a}   {b}" for a, b in zip(cells[::2], cells[1::2], strict=True)]
                if each[0].tag != "div"
                else ["   ".join(tile.itertext()) for tile in each]
            )
        elif text:
            lines.append(text)
        else:
            for child in each:
                walk(child)

    walk(tree)
    return "\n".join(lines)


def outcome(text: str = "", **more: Any) -> Outcome:
    """A failed case, with a text of one's own in every place that comes from outside."""
    names = [f"{name}{text}" for name in ("audit", "backup", "cleaning")]
    actions = tuple(Action(letter, name, name) for letter, name in zip("abc", names, strict=True))
    constraints: tuple[Constraint, ...] = (Before("a", "b", 0), Given("c", {"k": text}))
    case = Case(
        CASE_VERSION,
        f"c1{text}",
        0,
        f"topic{text}",
        f"The audit comes\nfirst.{text}",
        actions,
        constraints,
        sentences=(text,),
        solution=(Planned("audit"),),
    )
    calls = (
        Call(names[1], {}, f"done{text}"),
        Call(names[0], {"k": text}),
        Call(f"x{text}", f"y{text}", ran=-1),
    )
    verdict = Verdict(
        case.id, "failed", "order", 1, (0, 1), (0,), (), ("a", "b", "c"), f"Step 1 came too early.{text}"
    )
    whole = Outcome(case, Transcript(case.id, calls, answer=text), verdict)
    return msgspec.structs.replace(whole, **more)


def summary(text: str = "", outcomes: Sequence[Outcome] = ()) -> Summary:
    tally = Tally()
    for each in outcomes:
        tally.add(each)
    tally.usage += Usage(1234, 567)
    return tally.summary(f"run1{text}", f"greedy{text}", f"model{text}", 0.5)


def dissection(text: str = "") -> Dissection:
    found = (
        Diagnosis(
            f"c1{text}", "terminal", 0.97, f"“prior to”{text}", (1,), f"9 of 9 against 0 of 9{text}", 18
        ),
        Diagnosis("c2", "undetermined", None, "", (), "nothing stood out", 30),
    )
    return Dissection(
        "r2", "run1", f"greedy{text}", None, f"sequential{text}", found, {"terminal": 1, "undetermined": 1}
    )


def book(*outcomes: Outcome) -> CaseBundle:
    archive = Archive()
    for each in outcomes:
        archive.add(detail_of(each, [CallEffect()] * len(each.transcript.calls), CaseOrigin("run1")))
    return bind([*map(digest_of, outcomes)], archive, "misstep show run1")


def findings(text: str = "") -> RunPage:
    passed = outcome(verdict=Verdict("c9", "passed"))
    failed = outcome(text)
    portions = (
        Portion(f"baker{text}", 4, 4, 0.0, (0.0, 0.49), 0.0004, True),
        Portion("waiter", 6, 1, 5 / 6, (0.44, 0.97), 1.0, False),
    )
    counts, shown = summary(text, [passed, passed, failed, failed]), book(failed, failed)
    curves = (falling(f"greedy{text}", range(2, 5), 3.2),)
    found = (capability_section(curves), errors_section(curves))
    parts = planning_parts(counts, found, (Breakdown("run1", "topic", portions),), shown)
    return RunPage(counts, tuple(parts), shown)


def dissected(text: str = "") -> RunPage:
    counted = summary(text, [outcome(text)])
    return RunPage(counted, (sections.counts(counted), causes_section((dissection(text),))))


def only(counts: Summary, **parts: Any) -> RunPage:
    return RunPage(counts, tuple(planning_parts(counts, **parts)))


PAGES = (findings, dissected)


def test_a_page_about_causes() -> None:
    page = words(read(run_page(dissected())))
    check_snapshot("page-causes", page)
    assert "judged cases passed" not in page  # the cases are of our own making: their rate says nothing


def test_a_whole_page() -> None:
    check_snapshot("page", words(read(run_page(findings()))))


def test_a_page_with_nothing_but_a_summary() -> None:
    source = run_page(only(Tally().summary("run1", "me")))
    text = words(read(source))
    assert "No case was judged" in text
    assert "Cases" not in text
    assert len(scripts(source)) == 1  # and no library


def test_nothing_is_fetched_and_nothing_is_run_but_our_own() -> None:
    source = run_page(findings())
    tree = read(source)
    head = next(iter(tree))
    (policy,) = [each.get("content") for each in head if each.get("http-equiv") == "Content-Security-Policy"]
    own = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts(source)]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{own[0]}' 'sha256-{own[1]}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    names = [each.tag for each in head]
    assert names.index("meta") == 0
    assert names.index("style") > 1
    for style in tree.iter():
        if style.tag.endswith("style"):
            assert not any(word in (style.text or "") for word in ("url(", "@import", "http"))


@pytest.mark.parametrize("about", PAGES)
@pytest.mark.parametrize("evil", EVIL)
def test_hostile_text_is_nothing_but_text(evil: str, about: Callable[[str], RunPage]) -> None:
    source = run_page(about(evil))
    source.encode()
    tree = read(source)
    for each in tree.iter():
        if each.tag == "link":  # to nothing but the icon, which is in the page
            assert {**each.attrib} == {"rel": "icon", "href": assets.icon()}
            assert each.attrib["href"].startswith("data:image/svg+xml;base64,")
            continue
        assert each.tag.removeprefix(SVG) in KNOWN
        assert set(each.attrib) <= HARMLESS
    assert structure(tree) == structure(read(run_page(about("harmless"))))
    assert len(scripts(source)) == len(scripts(run_page(about("harmless"))))
    assert not set(source) & set("\x00\x08\x1b\x07\x9b\x7f\u202e\u2066\u200f\u2028\u2029\ufeff")
    printable = "".join(letter for letter in evil if letter.isprintable() and letter not in "\ufffe\uffff")
    assert all(letter in words(tree) for letter in printable)


@pytest.mark.parametrize("evil", EVIL)
def test_hostile_text_reaches_the_scripts_as_harmless_text(evil: str) -> None:
    index, details = held(run_page(findings(evil)))
    seen = storable(plain(evil))
    assert index["topic"]["words"] == [f"topic{seen}"]
    assert index["id"] == [f"c1{seen}"] * 2
    assert details[0]["answer"] == seen
    assert details[0]["calls"][0]["tool"] == f"backup{seen}"
    assert details[0]["calls"][0]["result"] == f"done{seen}"
    spelt = storable(plain(json.dumps(f"y{evil}", ensure_ascii=False)))
    assert details[0]["calls"][2]["arguments"] == spelt
    assert details[0]["explanation"] == f"Step 1 came too early.{seen}"


def structure(tree: Element) -> list[str]:
    """Every element in its order."""
    return [each.tag for each in tree.iter()]


def test_whoever_says_too_much_is_cut_short() -> None:
    source = run_page(findings("z" * 1_000_000))
    assert len(source) < 750_000  # most of which is the library
    assert "more characters)" in words(read(source))


def test_how_much_is_left_out_is_said() -> None:
    portions = tuple(Portion(f"t{number}", 1, 0, 1.0, (0.2, 1.0), 1.0, False) for number in range(50))
    by_topic = Breakdown("run1", "topic", portions)
    text = words(read(run_page(only(summary(), breakdowns=[by_topic]))))
    assert "… and 30 more." in text
    assert "50 topics were compared" in text


def test_a_page_of_one_s_own() -> None:
    tree = read(page("Two & a half", [element("p", "1 < 2")]))
    assert words(tree) == "Two & a half\n1 < 2"
