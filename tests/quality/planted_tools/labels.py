"""What is wrong with each of the tools beside this file, and the least that shows it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Label(NamedTuple):
    """One defect. `family` is the sort of mistake, `kinds` what it may be called.

    `error` is the type of the exception, empty where there is none. `at` is a piece of the line where it
    shows, in the tool's file; empty where that can't be seen. `calls` are the smallest that show it, the last
    one does.
    """

    module: str
    tool: str
    family: str
    calls: tuple[tuple[str, str], ...]
    error: str = ""
    at: str = ""
    kinds: tuple[str, ...] = ("crash",)

    @property
    def spec(self) -> str:
        return f"{HERE / self.module}.py:tools"

    @property
    def where(self) -> str:
        """The place as findings name it: `file.py:12`."""
        lines = (HERE / f"{self.module}.py").read_text(encoding="utf-8").splitlines()
        places = [number for number, line in enumerate(lines, 1) if self.at in line]
        assert len(places) == 1, f"{self.at!r} stands in {self.module}.py {len(places)} times"
        return f"{self.module}.py:{places[0]}"

    @property
    def size(self) -> int:
        return sum(len(arguments) for _, arguments in self.calls)


def _one(tool: str, **arguments: object) -> tuple[tuple[str, str], ...]:
    return ((tool, json.dumps(arguments)),)


def _label(module: str, tool: str, family: str, error: str, at: str, **arguments: object) -> Label:
    return Label(module, tool, family, _one(tool, **arguments), error, at)


_TEXTS = (
    _label("text_tools", "search_map", "long input", "AssertionError", "assert len(query)", query="x" * 100),
    _label("text_tools", "search_map", "prefix", "IndexError", 'query.split("query: ")', query=""),
    _label("text_tools", "find_ticket", "prefix", "ValueError", "int(ticket[4:])", ticket="TCK-"),
    _label("text_tools", "set_option", "key=value", "ValueError", 'setting.split("=")', setting="=="),
    _label("text_tools", "add_product", "CSV row", "ValueError", "float(cells[2])", row=",,"),
    _label("text_tools", "weekday", "date format", "ValueError", "datetime.date(int", date="0000-00-00"),
    _label("text_tools", "departure", "regex gate", "KeyError", "ROUTES[code", code="AA000"),
    _label("text_tools", "initials", "normalisation", "IndexError", "plain.split()[0]", name="\u0080"),
    _label("text_tools", "print_label", "encoding", "UnicodeEncodeError", "latin-1", text="\u0100"),
    _label("text_tools", "count_matches", "library", "error", "re.findall", text="", pattern="*"),
    _label("text_tools", "fill_template", "format", "KeyError", "template.format", template="{a}"),
    _label("text_tools", "host_port", "library", "ValueError", "urlsplit(url).port", url="http://["),
    _label("text_tools", "decode_token", "encoding", "UnicodeDecodeError", "data.decode()", token="gA=="),
    _label("text_tools", "feed_title", "format", "AttributeError", 'root.find("title")', document="<a/>"),
)
_NUMBERS = (
    _label("number_tools", "average", "empty", "ZeroDivisionError", "/ len(values)", values=[]),
    _label("number_tools", "share", "division", "ZeroDivisionError", "part / whole", part=0, whole=0),
    _label("number_tools", "nth_prime", "off by one", "IndexError", "PRIMES[n - 1]", n=26),
    _label("number_tools", "first_of_page", "relation", "IndexError", "(page - 1) * size", page=2, size=10),
    _label("number_tools", "book_room", "relation", "IndexError", "hours[0]", start=0, end=0),
    _label("number_tools", "root_of", "library", "ValueError", "math.sqrt", value=-1),
    _label("number_tools", "factorial", "recursion", "RecursionError", "k * times(k - 1)", n=1000),
    _label(
        "number_tools", "as_percent", "division", "ZeroDivisionError", "Fraction(fraction)", fraction="0/0"
    ),
    _label("number_tools", "days_later", "library", "OverflowError", "timedelta(days=days)", days=3000000),
)
_RECORDS = (
    _label("data_tools", "create_invoice", "missing key", "KeyError", "data['customer']", payload="{}"),
    _label(
        "data_tools", "main_port", "nested JSON", "IndexError", "ports[0]", config='{"server":{"ports":[]}}'
    ),
    _label("data_tools", "customer_city", "None", "TypeError", 'customer["city"]', customer_id=""),
    _label(
        "data_tools",
        "first_product",
        "empty",
        "IndexError",
        'order["lines"][0]',
        order={"customer": "", "lines": []},
    ),
    _label("data_tools", "convert", "enum", "KeyError", "RATES[currency]", amount=0, currency="JPY"),
    _label("data_tools", "may", "permissions", "KeyError", 'ROLES[role]["allow"]', role="guest", action=""),
    _label("data_tools", "first_entry", "empty result", "IndexError", "matches[0]", word="x"),
    _label("data_tools", "dearest", "empty result", "ValueError", "max(price", word="x"),
    Label("data_tools", "weather", "result", _one("weather", city="Rome"), kinds=("schema",)),
    Label("data_tools", "run_report", "wrapped into text", _one("run_report", name=""), "KeyError"),
)
_FILES = (
    _label("file_tools", "read_note", "NUL byte", "ValueError", 'open(f"notes/', name="\0"),
    _label("file_tools", "read_note", "encoding", "UnicodeEncodeError", 'open(f"notes/', name="\ud800"),
    _label("file_tools", "count_lines", "encoding", "UnicodeDecodeError", "readlines()", file="logo.png"),
)
_STATE = (
    Label(
        "state_tools",
        "read_ticket",
        "stale id",
        (
            ("open_ticket", '{"title": ""}'),
            ("close_ticket", '{"ticket_id": "T1"}'),
            ("read_ticket", '{"ticket_id": "T1"}'),
        ),
        "KeyError",
        "return _tickets[ticket_id]",
    ),
    Label(
        "state_tools",
        "sign_in",
        "second call",
        (("sign_in", '{"user": ""}'),) * 2,
        "KeyError",
        '_users[user]["visits"]',
    ),
    Label("state_tools", "next_task", "used up", (("next_task", "{}"),) * 4, "StopIteration", "next(_queue)"),
    Label("state_tools", "undo", "empty", (("undo", "{}"),), "IndexError", "_edits.pop()"),
)
_LIMITS = (
    Label("limit_tools", "job_state", "hang", _one("job_state", job="all"), kinds=("hang",)),
    Label("limit_tools", "collatz", "endless loop", _one("collatz", n=0), kinds=("hang", "blow-up")),
    Label("limit_tools", "pad", "memory", _one("pad", text="", width=2 * 10**9), kinds=("blow-up",)),
    Label(
        "limit_tools",
        "pages",
        "memory",
        _one("pages", selection="0-999999999"),
        kinds=("blow-up", "hang"),
    ),
    _label("limit_tools", "restart", "exit", "SystemExit", "sys.exit", service=""),
    Label("limit_tools", "stop_worker", "exit", _one("stop_worker", worker="main")),
    Label("limit_tools", "read_register", "segfault", _one("read_register", address=15)),
    _label(
        "limit_tools",
        "depth_of",
        "recursion",
        "RecursionError",
        "1 + _depth(brackets[1:])",
        brackets="(" * 1000,
    ),
)
_GATES = (
    _label(
        "gate_tools", "redeem", "several gates", "ZeroDivisionError", "number % 7", token="tok_000000000000"
    ),
    _label("gate_tools", "track_parcel", "several gates", "KeyError", "SHELVES[code", code="AAB00000-EU"),
    _label("gate_tools", "release_notes", "several gates", "ZeroDivisionError", "- 12)", version="2.12.0"),
    _label("gate_tools", "apply_coupon", "several gates", "IndexError", "BONUS[int", code="aaaa-400"),
    _label("gate_tools", "sum_of_squares", "number in a text", "IndexError", "SQUARES[int", span="0-1001"),
)
_TABLES = (
    _label("table_tools", "add_expenses", "CSV header", "ValueError", "total += float", table="amount\na"),
    _label("table_tools", "mail_domains", "CSV header", "IndexError", 'split("@")', people="name,mail\n,"),
    _label(
        "table_tools",
        "average_price",
        "CSV header",
        "ZeroDivisionError",
        "len(found)",
        prices="product;price",
    ),
    _label(
        "table_tools", "stock_value", "CSV cells", "ZeroDivisionError", "worth +=", stock="pieces,price\n0,0"
    ),
)
_LIVES = (
    Label(
        "shop_tools",
        "receipt",
        "four steps",
        (
            ("add_to_cart", '{"cart_id": "", "product": ""}'),
            ("checkout", '{"cart_id": ""}'),
            ("remove_from_cart", '{"cart_id": ""}'),
            ("receipt", '{"cart_id": ""}'),
        ),
        "StopIteration",
        "next(iter(",
    ),
    Label(
        "press_tools",
        "correct",
        "four steps",
        (
            ("draft_article", '{"headline": ""}'),
            ("publish", '{"article_id": "ART-101"}'),
            ("retract", '{"article_id": "ART-101"}'),
            ("correct", '{"article_id": "ART-101", "text": ""}'),
        ),
        "IndexError",
        "_articles[article_id][0]",
    ),
    Label(
        "room_tools",
        "bill",
        "four steps",
        (
            ("check_in", '{"room": 0, "guest": ""}'),
            ("order_meal", '{"room": 0}'),
            ("check_out", '{"room": 0}'),
            ("bill", '{"room": 0}'),
        ),
        "IndexError",
        "latest[3]",
    ),
)
PLANTED = (*_TEXTS, *_NUMBERS, *_RECORDS, *_FILES, *_STATE, *_LIMITS)
DEEP = (*_GATES, *_TABLES, *_LIVES)  # what takes more calls to get to

# The same and others behind LangChain and MCP, where a server hides the place.
LANGCHAIN = (
    *[
        label
        for label in PLANTED
        if label.tool in ("nth_prime", "set_option", "create_invoice", "customer_city", "average", "convert")
    ],
    Label("langchain_tools", "reserve_seats", "refused", _one("reserve_seats", seats=13), kinds=("schema",)),
)
SERVED = {
    "mcp_server": (
        Label("mcp_server", "customer_city", "None", _one("customer_city", customer_id="")),
        Label("mcp_server", "average", "empty", _one("average", values=[])),
        Label("mcp_server", "nth_prime", "off by one", _one("nth_prime", n=26)),
        Label("mcp_server", "find_ticket", "prefix", _one("find_ticket", ticket="TCK-")),
    ),
    "raw_server": (
        Label("raw_server", "measure", "result", _one("measure", sensor="outside"), kinds=("schema",)),
        Label("raw_server", "ration", "refused", _one("ration", pieces=11), kinds=("schema",)),
        Label("raw_server", "reading", "empty result", _one("reading", place=3)),
        Label("raw_server", "urgency", "enum", _one("urgency", level=""), kinds=("acceptance",)),
        Label("raw_server", "loudness", "range", _one("loudness", percent=-1), kinds=("acceptance",)),
        Label("raw_server", "signal", "protocol", _one("signal", colour="red"), kinds=("protocol",)),
    ),
}

# Functions that return "Error: …", which a server has to mark as such.
ANSWERS_ERRORS = ("find_ticket", "capital")

# What else is the matter with some of them, which nobody has to find.
POSSIBLE = frozenset(
    {
        *((tool, "ValueError") for tool in ("redeem", "release_notes", "apply_coupon", "sum_of_squares")),
        *((tool, "Error") for tool in ("add_expenses", "mail_domains", "average_price", "stock_value")),
        *((tool, "error flag") for tool in ANSWERS_ERRORS),
        ("add_expenses", "TypeError"),
        ("average_price", "ValueError"),
        ("stock_value", "OverflowError"),
        ("average", "OverflowError"),
        ("convert", "OverflowError"),
        ("count_matches", "OverflowError"),
        ("count_matches", "RecursionError"),
        ("count_matches", "hang"),
        ("count_matches", "CPU"),
        ("read_note", "UnicodeDecodeError"),
        ("read_note", "blow-up"),
        ("read_note", "hang"),
        ("root_of", "OverflowError"),
        ("share", "OverflowError"),
    }
)
INNOCENT = f"{HERE / 'innocent_tools.py'}:tools"


def modules(labels: Iterable[Label] = PLANTED) -> list[str]:
    """The modules with defects, each once, in order."""
    return list(dict.fromkeys(label.module for label in labels))
