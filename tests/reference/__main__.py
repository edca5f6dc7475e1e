"""`python -m tests.reference` writes anew whatever pages have of the code."""

from tests.documents.pages import PAGES, ROOT, text_of
from tests.reference.filling import filled

for page in PAGES:
    text = text_of(page)
    if filled(text) != text:
        (ROOT / page).write_text(filled(text), encoding="utf-8")
        print(page)
