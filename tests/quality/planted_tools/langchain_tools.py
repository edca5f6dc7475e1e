"""Some of the tools as LangChain has them."""

from data_tools import convert, create_invoice, customer_city
from innocent_tools import capital, pick
from langchain_core.tools import StructuredTool, tool
from number_tools import average, nth_prime
from pydantic import BaseModel, Field, field_validator
from text_tools import set_option


class Table(BaseModel):
    guests: int = Field(description="How many people come.")

    @field_validator("guests")
    @classmethod
    def fits_the_house(cls, guests: int) -> int:
        if guests > 12:
            raise ValueError("there is no table that large")
        return guests


def book_table(guests: int) -> str:
    """Book a table."""
    return f"a table for {guests}"


tools = [
    *map(tool, [nth_prime, set_option, create_invoice, customer_city, average, convert, capital, pick]),
    StructuredTool.from_function(book_table, args_schema=Table),
]
