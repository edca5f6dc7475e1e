"""Runs a cell in a real kernel, and prints as JSON what it displayed and how that changed."""

import json
import sys
from typing import Any

import nbclient
import nbformat


class Client(nbclient.NotebookClient):
    seen: list[tuple[str, str]] = []  # noqa: RUF012

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.seen.append((msg["msg_type"], msg["content"]["data"].get("text/html", "")))
        return super().process_message(msg, cell, cell_index)


notebook = nbformat.v4.new_notebook()
notebook.cells = [nbformat.v4.new_code_cell(sys.stdin.read())]
client = Client(notebook, kernel_name="python3")
client.execute()
outputs = [output["output_type"] for output in notebook.cells[0].outputs]
print(json.dumps({"seen": client.seen, "outputs": outputs}))
