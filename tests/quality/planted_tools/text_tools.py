"""Tools that take texts with a form of their own."""

import base64
import datetime
import re
import unicodedata
import xml.etree.ElementTree
from urllib.parse import urlsplit

PLACES = {"library": ["City Library", "Law Library"], "coffee": ["Bean There"]}
TICKETS = {17: "printer on fire", 42: "lost badge"}
ROUTES = {"NW": "north-west line", "SE": "south-east line"}
DEFAULTS = {"theme": "dark", "lang": "en"}


def search_map(query: str) -> str:
    """Locate places by name.

    The queries must start with 'query: ', an example is 'query: library in San Francisco'.
    """
    assert len(query) < 100, "Query is too long."
    wanted = query.split("query: ")[1]
    found = [place for word, places in PLACES.items() if word in wanted for place in places]
    return ", ".join(found) or "nothing found"


def find_ticket(ticket: str) -> str:
    """Look up a support ticket by its number, for example TCK-17."""
    if not ticket.startswith("TCK-"):
        return "Error: ticket numbers start with TCK-"
    number = int(ticket[4:])
    return TICKETS.get(number, "no such ticket")


def set_option(setting: str) -> str:
    """Change an option of the editor. Takes key=value."""
    if "=" not in setting:
        return "Error: expected key=value"
    key, value = setting.split("=")
    return f"{key} is now {value} (was {DEFAULTS.get(key, 'not set')})"


def add_product(row: str) -> str:
    """Add a product to the catalogue, given as a CSV row: name,category,price"""
    cells = row.split(",")
    if len(cells) < 3:
        return "Error: a row has three cells: name,category,price"
    price = float(cells[2])
    return f"added {cells[0]} at {price:.2f}"


def weekday(date: str) -> str:
    """Tell the day of the week of a date.

    Args:
        date: The date as YYYY-MM-DD.
    """
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", date):
        return "Error: dates are written YYYY-MM-DD"
    year, month, day = date.split("-")
    return datetime.date(int(year), int(month), int(day)).strftime("%A")


def departure(code: str) -> str:
    """Next departure of a line, by its code: two capital letters and three digits."""
    if not re.fullmatch("[A-Z]{2}[0-9]{3}", code):
        raise ValueError("a code has two capital letters and three digits")
    return f"{ROUTES[code[:2]]}: 5 minutes past the hour"


def initials(name: str) -> str:
    """The initials of somebody's name, in plain letters."""
    if not name.strip():
        raise ValueError("the name is empty")
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return plain.split()[0][0].upper()


def print_label(text: str) -> str:
    """Send a text to the label printer, which knows Western European letters."""
    data = text.encode("latin-1")
    return f"{len(data)} bytes printed"


def count_matches(text: str, pattern: str) -> int:
    """Count how often a pattern occurs in a text."""
    return len(re.findall(pattern, text))


def fill_template(template: str) -> str:
    """Fill in a letter, e.g. 'Dear {name}'."""
    if template.count("{") != 1 or template.count("}") != 1 or template.index("{") > template.index("}"):
        return "Error: a template has one {field}"
    field = template[template.index("{") + 1 : template.index("}")]
    if not field.isidentifier():
        return "Error: that is no name of a field"
    return template.format(name="Ada", city="London")


def host_port(url: str) -> str:
    """The port that a web address names, for http:// and https:// addresses."""
    if not url.startswith(("http://", "https://")):
        return "Error: not a web address"
    port = urlsplit(url).port
    return str(port or "the usual one")


def decode_token(token: str) -> str:
    """Show what is in a base64 token."""
    try:
        data = base64.b64decode(token, validate=True)
    except ValueError:
        return "Error: not base64"
    return data.decode()


def feed_title(document: str) -> str:
    """The title of a news feed, given its XML."""
    try:
        root = xml.etree.ElementTree.fromstring(document)
    except (xml.etree.ElementTree.ParseError, ValueError):
        return "Error: not XML"
    return root.find("title").text


tools = [
    search_map,
    find_ticket,
    set_option,
    add_product,
    weekday,
    departure,
    initials,
    print_label,
    count_matches,
    fill_template,
    host_port,
    decode_token,
    feed_title,
]
