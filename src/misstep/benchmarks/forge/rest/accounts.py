"""People, apps, and how much anybody may ask."""

import time

from misstep.benchmarks.forge.ledger import told
from misstep.benchmarks.forge.rest.answers import Answer, Refusal, not_found
from misstep.benchmarks.forge.rest.call import Call
from misstep.benchmarks.forge.rest.views import View

APP, INSTALLATION = 1, 1
LIMIT = 5000  # requests an hour, which are not counted
PERMISSIONS = {"contents": "write", "issues": "write", "metadata": "read", "pull_requests": "write"}


def get_me(call: Call) -> Answer:
    if not call.visitor.may_see:
        raise Refusal(401, "Requires authentication")
    return Answer(call.views.profile(call.me.login))


def get_user(call: Call) -> Answer:
    login = call.place["login"]
    if login.lower() == call.house.project.owner.lower():
        return Answer(call.views.profile(call.house.project.owner))
    return Answer(call.views.profile(call.person(login).login))


def get_rate_limit(_: Call) -> Answer:
    ends = int(time.time()) + 3600
    core = {"limit": LIMIT, "used": 0, "remaining": LIMIT, "reset": ends}
    return Answer({"resources": {"core": core, "search": core, "graphql": core}, "rate": core})


def get_app(call: Call) -> Answer:
    _require_app(call)
    made = told(int(call.house.project.start.timestamp()))
    return Answer(
        {
            "id": APP,
            "slug": call.me.login,
            "name": call.me.name,
            "owner": call.views.user(call.house.project.owner),
            "description": "",
            "html_url": f"{call.views.url}/apps/{call.me.login}",
            "created_at": made,
            "updated_at": made,
            "permissions": PERMISSIONS,
            "events": [],
        }
    )


def list_installations(call: Call) -> Answer:
    _require_app(call)
    return Answer([_installation(call)], is_list=True)


def get_installation(call: Call) -> Answer:
    _require_app(call)
    if call.place.get("id", str(INSTALLATION)) != str(INSTALLATION):
        raise not_found()
    return Answer(_installation(call))


def create_access_token(call: Call) -> Answer:
    get_installation(call)
    token, ends = call.house.keys.lend()
    view = {"token": token, "expires_at": ends, "permissions": PERMISSIONS, "repository_selection": "all"}
    return Answer(view, 201)


def _require_app(call: Call) -> None:
    if call.visitor.kind != "app":
        raise Refusal(401, "A JSON web token could not be decoded")


def _installation(call: Call) -> View:
    url, made = call.views.url, told(int(call.house.project.start.timestamp()))
    return {
        "id": INSTALLATION,
        "app_id": APP,
        "app_slug": call.me.login,
        "account": call.views.user(call.house.project.owner),
        "target_type": "Organization",
        "repository_selection": "all",
        "access_tokens_url": f"{url}/app/installations/{INSTALLATION}/access_tokens",
        "repositories_url": f"{url}/installation/repositories",
        "html_url": f"{url}/settings/installations/{INSTALLATION}",
        "permissions": PERMISSIONS,
        "events": [],
        "created_at": made,
        "updated_at": made,
    }
