"""Tools that read tables out of texts."""

import csv
import io


def add_expenses(table: str) -> str:
    """Add up expenses, given as CSV."""
    total = 0.0
    reader = csv.DictReader(io.StringIO(table))
    if "amount" not in (reader.fieldnames or []):
        raise ValueError("a column is missing: amount")
    for row in reader:
        total += float(row["amount"])
    return f"{total:.2f}"


def mail_domains(people: str) -> str:
    """List the mail servers of people, given as CSV."""
    domains = []
    for row in csv.DictReader(people.splitlines()):
        if row.get("name") is None or row.get("mail") is None:
            raise ValueError("every row has a name and a mail")
        domains.append(row["mail"].split("@")[1])
    return ", ".join(domains)


def average_price(prices: str) -> str:
    """The average of prices, given as a table with semicolons."""
    buffer = io.StringIO(prices.strip())
    rows = list(csv.reader(buffer, delimiter=";"))
    if not rows or rows[0] != ["product", "price"]:
        raise ValueError("the table has two columns, product and price")
    found = [float(row[1]) for row in rows[1:] if len(row) == 2 and row[1].isdigit()]
    return f"{sum(found) / len(found):.2f}"


def stock_value(stock: str) -> str:
    """What the stock is worth in all, given as CSV."""
    worth = 0.0
    for row in csv.DictReader(io.StringIO(stock)):
        try:
            pieces, price = int(row["pieces"]), float(row["price"])
        except (KeyError, TypeError, ValueError):
            raise ValueError("every row has pieces and a price") from None
        worth += price / pieces
    return f"{worth:.2f}"


tools = [add_expenses, mail_domains, average_price, stock_value]
