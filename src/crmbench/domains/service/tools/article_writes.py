"""Writing knowledge articles: a draft first, then published."""

from __future__ import annotations

import re
import unicodedata

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg
from crmbench.domains.service.records import create, must_exist, required_text
from crmbench.domains.service.tools.arguments import Id
from crmbench.errors import ToolError

DRAFT, ONLINE = "Draft", "Online"
MAX_LINE = 255
MAX_SUMMARY = 1_000
MAX_ANSWER = 32_000
_URL_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@tool(writes=True)
def draft_article(
    org: ServiceOrg, title: str, summary: str, answer: str, url_name: str | None = None
) -> Row:
    """Write a new knowledge article. It is a Draft until publish_article puts it online. Returns
    the article.

    Args:
        title: one line; no other article may have the same
        summary: one or two sentences
        answer: the text of the article, stored as FAQ_Answer__c
        url_name: the article's name in links, lower-case words joined by hyphens, such as
            return-of-opened-goods; made from the title if left out
    """
    title = required_text(title, "Title", MAX_LINE)
    name = required_text(_slug(title) if url_name is None else url_name, "Url name", MAX_LINE)
    if not _URL_NAME.fullmatch(name):
        raise ToolError(
            f"Url name must be lower-case words joined by hyphens, such as "
            f"return-of-opened-goods (got '{name[:40]}')."
        )
    for field, value in (("Title", title), ("UrlName", name)):
        found = org.database.find("Knowledge__kav", field, value)
        if found:
            raise ToolError(
                f"The article {found[0]['Id']} already has the {field} '{value}'.", "duplicate"
            )
    fields: Row = {
        "Title": title,
        "Summary": required_text(summary, "Summary", MAX_SUMMARY),
        "FAQ_Answer__c": required_text(answer, "Answer", MAX_ANSWER),
        "UrlName": name,
        "PublishStatus": DRAFT,
    }
    return create(org, "Knowledge__kav", fields)


@tool(writes=True)
def publish_article(org: ServiceOrg, article_id: Id) -> Row:
    """Put a drafted knowledge article online. Returns the article.

    Args:
        article_id: id of the article
    """
    article = _must_be_draft(org, article_id, "published")
    return org.database.update("Knowledge__kav", article, {"PublishStatus": ONLINE})


@tool(writes=True)
def delete_article_draft(org: ServiceOrg, article_id: Id) -> Row:
    """Delete a knowledge article that was never published. Returns the id of what was deleted.

    Args:
        article_id: id of the article
    """
    _must_be_draft(org, article_id, "deleted")
    org.database.delete("Knowledge__kav", article_id)
    return {"deleted": article_id}


def _must_be_draft(org: ServiceOrg, article_id: str, action: str) -> Row:
    article = must_exist(org, "Knowledge__kav", article_id)
    if article["PublishStatus"] != DRAFT:
        raise ToolError(
            f"The article {article_id} is online; only a draft can be {action}.", "rule"
        )
    return article


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))


TOOLS = (draft_article, publish_article, delete_article_draft)
