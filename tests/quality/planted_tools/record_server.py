"""An MCP server that names what it keeps and gets some of it wrong; started as `fixed`, it gets nothing wrong."""

import json
import random
import uuid

from contract_tools import Failure, planted, serve, tool

Record = dict[str, object]
RECORDS = dict[str, dict[str, Record]]()
NUMBERS = iter(range(random.randrange(100, 900), 100_000))


def keep(kind: str) -> dict[str, Record]:
    """What is kept of a kind, by id."""
    return RECORDS.setdefault(kind, {})


def find(kind: str, name: object) -> Record:
    if str(name) not in keep(kind):
        raise Failure(f"there is no {kind} {name}")
    return keep(kind)[str(name)]


def plant(kind: str, title: str, text: str, is_numbered: bool = False) -> None:
    """Tools that make, read and list records with two texts."""

    def create(**given: str) -> Record:
        name = next(NUMBERS) if is_numbered else uuid.uuid4().hex[:12]
        if kind == "recipe" and planted("nothing else, created"):
            for each in keep(kind).values():
                each[text] = given[text]
        kept = None if kind == "ticket" and planted("read back, a field") else given[text]
        keep(kind)[str(name)] = {"id": name, title: given[title], text: kept}
        return {"id": name, "status": "created"}

    def get(**given: object) -> Record:
        found = find(kind, given[f"{kind}_id"])
        if kind == "letter" and planted("read back, another"):
            return next(iter(keep(kind).values()))
        return found

    def listed() -> str:
        found = list(keep(kind).values())
        if kind == "reminder" and planted("listed, one missing"):
            found = found[:1]
        if kind == "event" and planted("listed, one twice"):
            found += found[1:]
        return json.dumps(found)

    create.__name__, get.__name__, listed.__name__ = f"create_{kind}", f"get_{kind}", f"list_{kind}s"
    tool(f"Create a {kind}. Returns its id.", title, text)(create)
    tool(f"Get a {kind}.", f"number:{kind}_id" if is_numbered else f"{kind}_id")(get)
    tool(f"List all {kind}s.")(listed)


# What is made is read back, and listed once

plant("ticket", "title", "description")
plant("letter", "subject", "body")
plant("reminder", "title", "note")
plant("event", "name", "comment")
plant("recipe", "name", "text")


# An update changes what it names, and nothing else

plant("goal", "title", "reason", is_numbered=True)
plant("gadget", "name", "note")
plant("invoice", "title", "summary")


@tool("Update the title of a goal.", "number:goal_id", "title")
def update_goal(goal_id: int, title: str) -> str:
    found = find("goal", goal_id)
    if not planted("read back, updated"):
        found["title"] = title
    return "updated"


@tool("Update the name of a gadget.", "gadget_id", "name")
def update_gadget(gadget_id: str, name: str) -> str:
    found = find("gadget", gadget_id)
    found["name"] = name
    if planted("nothing else, another field"):
        found["note"] = None
    return "updated"


@tool("Change the summary of an invoice.", "invoice_id", "summary")
def edit_invoice(invoice_id: str, summary: str) -> str:
    find("invoice", invoice_id)
    for each in keep("invoice") if planted("nothing else, another record") else [invoice_id]:
        keep("invoice")[each]["summary"] = summary
    return "changed"


# What is deleted is gone, and nothing else

plant("project", "name", "description")
plant("customer", "name", "comment", is_numbered=True)


@tool("Delete a project.", "project_id")
def delete_project(project_id: str) -> str:
    find("project", project_id)
    if not planted("deleted"):
        del keep("project")[project_id]
    return "deleted"


@tool("Remove a customer.", "number:customer_id")
def remove_customer(customer_id: int) -> str:
    find("customer", customer_id)
    del keep("customer")[str(customer_id)]
    if planted("nothing else, deleted"):
        keep("customer").clear()
    return "removed"


# An error leaves everything as it was

plant("ingredient", "name", "note")


@tool("Import an ingredient. If its shop is unknown, nothing is changed.", "name", "shop")
def import_ingredient(name: str, shop: str) -> str:
    if " " not in shop or planted("all or nothing"):
        keep("ingredient")[uuid.uuid4().hex[:12]] = {"name": name, "shop": shop}
    if " " in shop:
        raise Failure(f"the shop {shop} is unknown: it has two words")
    return "imported"


serve()
