"""Some of the tools as LangChain has them."""

from typing import Annotated

from data_tools import convert, create_invoice, customer_city
from innocent_tools import capital, pick
from langchain_core.tools import StructuredTool, tool
from number_tools import average, nth_prime
from pydantic import BaseModel, Field, WithJsonSchema, field_validator
from text_tools import set_option


class Table(BaseModel):
    guests: int = Field(description="How many people come.")

    @field_validator("guests")
    @classmethod
    def fits_the_house(cls, guests: int) -> int:
        if guests > 12:
            raise ValueError("there is no table that large")
        return guests


class Seats(BaseModel):
    """What is checked is more than what is advertised."""

    seats: Annotated[int, Field(le=12), WithJsonSchema({"type": "integer"})]


def book_table(guests: int) -> str:
    """Book a table. A rule of its own that it puts into words is no defect."""
    return f"a table for {guests}"


def reserve_seats(seats: int) -> str:
    """Reserve seats."""
    return f"{seats} seats"


tools = [
    *map(tool, [nth_prime, set_option, create_invoice, customer_city, average, convert, capital, pick]),
    StructuredTool.from_function(book_table, args_schema=Table),
    StructuredTool.from_function(reserve_seats, args_schema=Seats),
]
