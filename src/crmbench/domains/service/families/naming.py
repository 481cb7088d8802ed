"""Named entity disambiguation: the product of an order that a customer's loose words mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.core.schema import Row
from crmbench.domains.service.families.context import AGENT, TaskContext, quoted
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.families.mention import CATEGORY_OF, Mention, MentionedGoods, mentions

NAME = "named_entity_disambiguation"
PREFIX = "01t"
FEWEST = 2
"""Products that the customer ordered on the day."""
NONE_SHARE = 0.25


@dataclass(frozen=True)
class Purchase:
    """A customer's day of shopping, and words for something."""

    account: str
    day: str
    mention: Mention
    product: str | None
    """What the words fit."""

    @property
    def about(self) -> str:
        """What no other task may be about as well."""
        return f"{self.account} {self.day} {self.product}"


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    while True:
        found = draw(context)
        if found:
            answer = found.product or "None"
            build = partial(_asked, context, found)
            yield Candidate(found.about, (answer,), AGENT, build, empty=found.product is None)


def draw(context: TaskContext, account: str | None = None) -> Purchase | None:
    """Words that fit one product of a day, or none of them; None if this draw has no such."""
    rng, records = context.rng, context.records
    account = account or str(rng.choice(records.rows["Account"])["Id"])
    days = [day for day, items in records.items_of(account).items() if len(items) >= FEWEST]
    day = rng.choice(days) if days else ""
    bought = context.truth.bought(account, day) if day else {}
    if len(bought) < FEWEST or not (_alike(bought) or rng.random() < 0.4):
        return None
    empty = rng.random() < NONE_SHARE
    names = _others(context, bought) if empty else bought
    if not names:
        return None
    key = rng.choice(sorted(names))
    wanted = [] if empty else [key]
    for mention in mentions(MentionedGoods.read(names[key]), rng):
        if empty and not _plainly_none(mention, bought):
            continue
        if context.truth.fitting(account, day, mention) == wanted:
            return Purchase(account, day, mention, None if empty else key)
    return None


def _alike(bought: dict[str, str]) -> bool:
    """Whether two of the products are of one category, and so easily taken for each other."""
    categories = [CATEGORY_OF[MentionedGoods.read(name).kind] for name in bought.values()]
    return len(set(categories)) < len(categories)


def _plainly_none(mention: Mention, bought: dict[str, str]) -> bool:
    """Whether nothing of the same category could be meant after all, however loosely."""
    categories = {CATEGORY_OF[kind] for kind in mention.kinds}
    kinds = {MentionedGoods.read(name).kind for name in bought.values()}
    return all(CATEGORY_OF[kind] not in categories or kind in mention.kinds for kind in kinds)


def _others(context: TaskContext, bought: dict[str, str]) -> dict[str, str]:
    """Products that were not bought: mostly of a kind that was."""
    kinds = {MentionedGoods.read(name).kind for name in bought.values()}
    near = context.rng.random() < 0.6
    products = {row["Id"]: row["Name"] for row in context.records.rows["Product2"]}
    return {
        key: name
        for key, name in products.items()
        if key not in bought and (MentionedGoods.read(name).kind in kinds) == near
    }


def _asked(context: TaskContext, found: Purchase) -> tuple[Step, ...]:
    by_contact = context.rng.random() < 0.5
    return (question(context, phrased(context, "asked", found, by_contact), found, by_contact),)


def phrased(context: TaskContext, form: str, found: Purchase, by_contact: bool, **more: str) -> str:
    """The question in words."""
    account = context.records.get("Account", found.account)
    key = (
        f"contact {contact_of(context, found.account)}"
        if by_contact
        else f"account {found.account}"
    )
    return context.say(
        NAME,
        form,
        AGENT,
        customer=f"{account['Name']} ({key})",
        words=found.mention.words,
        day=day_words(context, found.day),
        **more,
    )


def contact_of(context: TaskContext, account: str) -> str:
    """A contact of the account."""
    contacts = context.records.rows["Contact"]
    return str(next(row["Id"] for row in contacts if row["AccountId"] == account))


def day_words(context: TaskContext, day: str) -> str:
    """A date in one of the forms that people write."""
    when = date.fromisoformat(day)
    forms = (
        f"{when:%B} {when.day}, {when.year}",
        f"{when.day} {when:%B} {when.year}",
        f"{when:%a}, {when:%b} {when.day}, {when.year}",
        day,
    )
    return context.rng.choice(forms)


def question(context: TaskContext, said: str, found: Purchase, by_contact: bool) -> Step:
    """The turn that asks for the product."""
    contact = contact_of(context, found.account)

    def gold_path(recorder: ServiceRecorder) -> None:
        account = found.account
        if by_contact:
            account = recorder.call("get_account_id_by_contact_id", contact_id=contact)
        rows = recorder.call("get_purchase_history", account_id=account, purchase_date=found.day)
        recorder.respond(_meant(found.mention, [(r["Product2Id"], r["ProductName"]) for r in rows]))

    def query_path(recorder: ServiceRecorder) -> None:
        whose = f"Order.AccountId = {quoted(found.account)}"
        if by_contact:
            rows = recorder.soql(f"SELECT AccountId FROM Contact WHERE Id = {quoted(contact)}")
            whose = f"Order.AccountId = {quoted(rows[0]['AccountId'])}"
        rows = recorder.soql(
            "SELECT Product2Id, Product2.Name, Product2.Description FROM OrderItem "
            f"WHERE {whose} AND Order.EffectiveDate = {found.day}"
        )
        recorder.respond(
            _meant(found.mention, [(r["Product2Id"], r["Product2"]["Name"]) for r in rows])
        )

    answer = Answer("id", (found.product,) if found.product else (), PREFIX)
    return Step(said, gold_path, query_path, answer, rules=("NAME-1",))


def _meant(mention: Mention, bought: list[tuple[str, str]]) -> str | None:
    return next((key for key, name in bought if mention.fits(MentionedGoods.read(name))), None)


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    while True:
        found = draw(context)
        wrong = misfiled(context, found) if found else None
        if found and wrong:
            build = partial(_done, context, found, wrong)
            yield Candidate(wrong[0]["Id"], (str(found.product),), AGENT, build)


def misfiled(context: TaskContext, found: Purchase) -> tuple[Row, Row] | None:
    """A later case of the customer about something else of the same order, and the one order line
    that is meant: two things that came in one parcel are mixed up, not a tent and a kayak of years
    apart.
    """
    records = context.records
    lines = records.items_of(found.account)[found.day]
    meant = [item for item in lines if item["Product2Id"] == found.product]
    wrong = [
        case
        for case in records.cases
        if case["AccountId"] == found.account
        and case["CreatedDate"][:10] > found.day
        and records.product_of(case)["Id"] != found.product
        and any(item["Id"] == case["OrderItemId__c"] for item in lines)
    ]
    return (context.rng.choice(wrong), meant[0]) if len(meant) == 1 and wrong else None


def _done(context: TaskContext, found: Purchase, wrong: tuple[Row, Row]) -> tuple[Step, ...]:
    name = context.records.name(found.account)
    said = context.order(
        NAME,
        "done",
        case=wrong[0]["Id"],
        customer=name,
        words=found.mention.words,
        day=day_words(context, found.day),
    )
    return (correct(context, said, found, wrong),)


def correct(context: TaskContext, said: str, found: Purchase, wrong: tuple[Row, Row]) -> Step:
    """Record the right order line on a case, with the comment that NOTE-2 asks for."""
    case, item = wrong
    product = context.records.name(item["Product2Id"])

    def gold_path(recorder: ServiceRecorder) -> None:
        rows = recorder.call("get_cases", case_ids=[case["Id"]])
        account = rows[0]["AccountId"]
        lines = recorder.call("get_purchase_history", account_id=account, purchase_date=found.day)
        meant = _meant(found.mention, [(r["OrderItemId"], r["ProductName"]) for r in lines])
        _record(recorder, case["Id"], meant, product)

    def query_path(recorder: ServiceRecorder) -> None:
        rows = recorder.soql(f"SELECT AccountId FROM Case WHERE Id = {quoted(case['Id'])}")
        lines = recorder.soql(
            "SELECT Id, Product2.Name FROM OrderItem WHERE Order.EffectiveDate = "
            f"{found.day} AND Order.AccountId = {quoted(rows[0]['AccountId'])}"
        )
        meant = _meant(found.mention, [(r["Id"], r["Product2"]["Name"]) for r in lines])
        _record(recorder, case["Id"], meant, product)

    note = Fact("name", product, "right product")
    return Step(said, gold_path, query_path, note_facts=(note,), rules=("NAME-1", "NOTE-2"))


def _record(recorder: ServiceRecorder, case: str, item: str | None, product: str) -> None:
    recorder.call("update_case", case_id=case, order_item_id=item)
    recorder.call("comment_on_case", case_id=case, comment=f"The right product is {product}.")


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    while True:
        found = draw(context)
        wrong = misfiled(context, found) if found else None
        other = another(context, found) if found and wrong else None
        if found and wrong and other:
            build = partial(_talked, context, found, other, wrong)
            answers = (str(found.product), str(other.product))
            yield Candidate(found.about, answers, AGENT, build)


def another(context: TaskContext, found: Purchase) -> Purchase | None:
    """Words for something of another day of the same customer."""
    for _ in range(40):
        other = draw(context, found.account)
        if other and other.day != found.day:
            return other
    return None


def _talked(
    context: TaskContext, found: Purchase, other: Purchase, wrong: tuple[Row, Row]
) -> tuple[Step, ...]:
    second = context.follow(
        NAME, "and_other", words=other.mention.words, day=day_words(context, other.day)
    )
    third = context.follow(NAME, "correct", case=wrong[0]["Id"])
    return (
        *_asked(context, found),
        question(context, second, other, by_contact=False),
        correct(context, third, found, wrong),
    )


NAMED_ENTITY_DISAMBIGUATION = ServiceFamily(
    NAME, "Named Entity Disambiguation", asked, done, talked
)
