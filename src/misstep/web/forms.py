"""What browsers send with forms of ours."""

import secrets
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

LONGEST_FORM = 1_000  # bytes
MOST_FIELDS = 10


class Secret:
    """What every form carries in its field `token`, so that no other page can send one."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)

    def check(self, form: dict[str, str]) -> None:
        """That a form is one of those that were handed out since the server started."""
        if not secrets.compare_digest(form.get("token", "").encode(), self.token.encode()):
            raise HTTPException(403, "this form is of an earlier session: go back and reload the page")


async def read_form(
    request: Request, longest: int = LONGEST_FORM, fields: int = MOST_FIELDS
) -> dict[str, str]:
    """What a form says, each name once."""
    body = await read_body(request, longest)
    try:
        given = parse_qs(body.decode(errors="replace"), max_num_fields=fields)
    except ValueError:
        raise HTTPException(400, "that is more than a form of ours holds") from None
    return {name: values[0] for name, values in given.items()}


async def read_body(request: Request, longest: int) -> bytes:
    """What was sent, if it is no more than that."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > longest:
            raise HTTPException(413, "that is more than a form of ours holds")
    return body
