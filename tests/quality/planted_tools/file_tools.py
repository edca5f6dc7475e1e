"""Tools that work with files in the folder where they start."""

import os
from pathlib import Path

Path("notes").mkdir(exist_ok=True)
Path("notes/todo").write_text("buy milk\n", encoding="utf-8")
Path("readme.txt").write_text("Hello\nworld\n", encoding="utf-8")
Path("logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")


def read_note(name: str) -> str:
    """Read a note, for example 'todo'."""
    try:
        with open(f"notes/{name}", encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        return f"Error: can't read {name}: {error.strerror}"


def count_lines(file: str) -> str:
    """Count the lines of a file in the folder, such as readme.txt or logo.png."""
    if file not in os.listdir():
        return "Error: no such file"
    if not os.path.isfile(file):
        return "Error: that is a folder"
    with open(file, encoding="utf-8") as lines:
        return f"{len(lines.readlines())} lines"


tools = [read_note, count_lines]
