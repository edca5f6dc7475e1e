"""Tools of a press office, where every article has an id that only results tell."""

_articles: dict[str, list[str]] = {}
_state: dict[str, str] = {}


def draft_article(headline: str) -> dict[str, str]:
    """Begin an article and get its id."""
    article = f"ART-{len(_articles) + 101}"
    _articles[article] = [headline]
    _state[article] = "draft"
    return {"article_id": article}


def publish(article_id: str) -> str:
    """Publish an article."""
    if _state.get(article_id) != "draft":
        return "Error: there is no such draft"
    _state[article_id] = "published"
    return "published"


def retract(article_id: str) -> str:
    """Retract an article that has been published."""
    if _state.get(article_id) != "published":
        return "Error: it has not been published"
    _state[article_id] = "retracted"
    _articles[article_id].clear()
    return "retracted"


def correct(article_id: str, text: str) -> str:
    """Add a correction to an article."""
    if article_id not in _articles:
        return "Error: there is no such article"
    if _state[article_id] == "retracted":
        return f"{_articles[article_id][0]}: {text}"
    return "corrected"


def count_articles() -> int:
    """How many articles there are."""
    return len(_articles)


tools = [correct, count_articles, retract, draft_article, publish]
