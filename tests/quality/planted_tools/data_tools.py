"""Tools that take and give records."""

import json
import traceback
from typing import Annotated, Literal, TypedDict

from pydantic import Field

CUSTOMERS = {"C-100": {"name": "Ada", "city": "London"}, "C-101": {"name": "Alan", "city": "Wilmslow"}}
RATES = {"USD": 1.0, "EUR": 0.9, "GBP": 0.8}
ROLES = {"admin": {"allow": ["read", "write"]}, "editor": {"allow": ["write"]}, "guest": {}}
LOG = ["10:01 started", "10:02 user ada logged in", "10:07 backup done"]
PRODUCTS = {"lamp": 20, "desk": 150, "chair": 80}


class Line(TypedDict):
    product: str
    pieces: int


class Order(TypedDict):
    customer: str
    lines: list[Line]


class Weather(TypedDict):
    city: str
    degrees: float


def create_invoice(payload: str) -> str:
    """Create an invoice.

    Args:
        payload: JSON with the customer and the total.
    """
    try:
        data = json.loads(payload)
    except (ValueError, RecursionError):
        return "Error: the payload is not JSON"
    if not isinstance(data, dict):
        return "Error: the payload is not an object"
    return f"invoice for {data['customer']}"


def main_port(config: str) -> str:
    """The first port that a server listens on, read from its configuration in JSON."""
    try:
        data = json.loads(config)
    except (ValueError, RecursionError):
        return "Error: not JSON"
    server = data.get("server") if isinstance(data, dict) else None
    ports = server.get("ports") if isinstance(server, dict) else None
    if not isinstance(ports, list):
        return "Error: there is no server.ports"
    return f"port {ports[0]}"


def customer_city(customer_id: str) -> str:
    """The city where a customer lives."""
    customer = CUSTOMERS.get(customer_id)
    return customer["city"]


def first_product(order: Order) -> str:
    """Name the first product of an order."""
    return order["lines"][0]["product"]


def convert(amount: float, currency: Literal["USD", "EUR", "GBP", "JPY"]) -> str:
    """Convert an amount of US dollars.

    Args:
        amount: How many dollars.
        currency: The currency to convert to.
    """
    if currency not in ("USD", "EUR", "GBP", "JPY"):
        raise ValueError(f"unknown currency {currency}")
    return f"{amount * RATES[currency]:.2f} {currency}"


def may(role: str, action: str) -> bool:
    """Whether somebody with a role may do something. Roles are admin, editor and guest."""
    if role not in ROLES:
        raise ValueError("roles are admin, editor and guest")
    return action in ROLES[role]["allow"]


def first_entry(word: str) -> str:
    """The first entry of the log with a word in it."""
    matches = [entry for entry in LOG if word in entry]
    return matches[0]


def dearest(word: str) -> str:
    """The dearest product with a word in its name."""
    return str(max(price for name, price in PRODUCTS.items() if word in name))


def set_priority(level: Literal["low", "medium", "high"]) -> str:
    """Set how urgent the ticket is."""
    return f"the priority is {level} now"


def set_volume(percent: Annotated[int, Field(ge=0, le=100)]) -> str:
    """Set how loud the speaker is."""
    return f"the volume is {percent} % now"


def weather(city: str) -> Weather:
    """The weather in London, Paris or Rome."""
    known = {"London": 11.5, "Paris": 14.0, "Rome": "mild"}
    if city not in known:
        raise ValueError("only London, Paris and Rome have a station")
    return {"city": city, "degrees": known[city]}


def run_report(name: str) -> str:
    """Run one of the reports: sales or stock."""
    try:
        return {"sales": "42 sold", "stock": "7 left"}[name]
    except Exception:
        return traceback.format_exc()


tools = [
    create_invoice,
    main_port,
    customer_city,
    first_product,
    convert,
    may,
    first_entry,
    dearest,
    set_priority,
    set_volume,
    weather,
    run_report,
]
