"""New case routing: to whom a case goes, by the rules and from what the customer writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from crmbench.core.answer import Answer
from crmbench.core.schema import Row
from crmbench.domains.service.families.acts import OPEN, hand_over, hand_over_by_soql, owners_named
from crmbench.domains.service.families.desk import (
    MANAGER,
    Desk,
    find_product,
    ids_of,
    quoted,
    tally,
)
from crmbench.domains.service.families.draft import Candidate, Family, Step, Walker
from crmbench.domains.service.families.records import Records
from crmbench.domains.service.text import ISSUES, CaseFacts, compose_case
from crmbench.domains.service.text.model import Channel, Temper

NAME = "new_case_routing"
PREFIX = "005"
MOST_ABSENT = 5
TEMPERS: tuple[Temper, ...] = ("calm", "annoyed", "friendly")
CHANNELS: tuple[Channel, ...] = ("email", "chat")


@dataclass(frozen=True)
class Newcomer:
    """A case that is not in the org yet."""

    records: Records
    issue: str
    item: Row
    absent: tuple[str, ...]
    """Ids of agents who cannot take it."""

    @property
    def product(self) -> str:
        return str(self.item["Product2Id"])

    @property
    def product_name(self) -> str:
        return self.records.name(self.product)

    @property
    def issue_name(self) -> str:
        return self.records.name(self.issue)

    @property
    def account(self) -> Row:
        order = self.records.get("Order", self.item["OrderId"])
        return self.records.get("Account", order["AccountId"])

    @cached_property
    def about(self) -> str:
        return f"{self.item['Id']} {self.issue} {' '.join(sorted(self.absent))}"


def asked(desk: Desk) -> Iterator[Candidate]:
    while True:
        case = draw(desk)
        found = desk.truth.route(case.issue, case.product, case.absent)
        if len(found) == 1:
            build = partial(_asked, desk, case, found[0])
            yield Candidate(case.about, (found[0],), MANAGER, build)


def draw(desk: Desk) -> Newcomer:
    """A case about something that a customer has bought; some agents may be away."""
    rng, records = desk.rng, desk.records
    issue = rng.choice(records.rows["Issue__c"])["Id"]
    # Products that cases have been about, so that experience with a product can decide.
    cases = records.cases_about(rng.choice(desk.complained_of))
    item = records.get("OrderItem", rng.choice(cases)["OrderItemId__c"])
    absent: tuple[str, ...] = ()
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 4, MOST_ABSENT))):
        # Whoever would get it is away; then it goes to the next one.
        absent = (*absent, rng.choice(desk.truth.route(issue, item["Product2Id"], absent)))
    return Newcomer(records, issue, item, tuple(rng.sample(absent, len(absent))))


def _asked(desk: Desk, case: Newcomer, agent: str) -> tuple[Step, ...]:
    subject, text = letter(desk, case)
    form = "absent" if case.absent else "present"
    said = desk.say(
        NAME,
        form,
        MANAGER,
        subject=subject,
        text=text,
        product=case.product_name,
        away=away(desk.records, case.absent),
        customer=case.account["Name"],
    )
    return (question(said, case, agent),)


def letter(desk: Desk, case: Newcomer) -> tuple[str, str]:
    """What the customer writes: a subject and a text."""
    rng, account = desk.rng, case.account
    order = case.records.get("Order", case.item["OrderId"])
    key = next(issue.key for issue in ISSUES if issue.name == case.issue_name)
    facts = CaseFacts(
        customer_first=account["FirstName"],
        customer_last=account["LastName"],
        agent_first="",
        product=case.product_name,
        issue=key,
        order_date=order["EffectiveDate"],
        opened=desk.records.today.isoformat(),
        channel=rng.choice(CHANNELS),
        temper=rng.choice(TEMPERS),
    )
    written = compose_case(rng, facts)
    return written.subject, written.description


def away(records: Records, agents: tuple[str, ...]) -> str:
    """Agents by name and id, for whoever cannot look names up."""
    named = [f"{records.name(agent)} ({agent})" for agent in agents]
    return (
        named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}" if named else ""
    )


def question(said: str, case: Newcomer, agent: str) -> Step:
    def walk(walker: Walker) -> None:
        issue = next(i["Id"] for i in walker.call("get_issues") if i["Name"] == case.issue_name)
        walker.respond(route_by_tools(walker, issue, case.product_name, case.absent))

    def query(walker: Walker) -> None:
        walker.soql("SELECT Id, Name, Description__c FROM Issue__c")
        walker.respond(route_by_soql(walker, case.issue_name, case.product_name, case.absent))

    answer = Answer("id", (agent,), PREFIX)
    return Step(said, walk, query, answer, rules=("ROUTE-1", "ROUTE-2"))


def route_by_tools(walker: Walker, issue: str, product: str, absent: tuple[str, ...]) -> str:
    """The agent whom the rules name; looks no further than it has to."""
    closed = walker.call("get_cases", issue_ids=[issue], statuses=["Closed"])
    counted = [case for case in closed if case["OwnerId"] not in absent]
    agents = walker.call("get_agents_with_max_cases", subset_cases=ids_of(counted))
    if len(agents) > 1:
        product_id = find_product(walker, product)
        items = walker.call("get_order_item_ids_by_product", product_id=product_id)
        about = walker.call("get_cases", order_item_ids=items, statuses=["Closed"])
        agents = walker.call(
            "get_agents_with_max_cases", subset_cases=ids_of(about), agent_ids=agents
        )
    if len(agents) > 1:
        busy = walker.call("get_cases", agent_ids=agents, statuses=OPEN)
        agents = walker.call(
            "get_agents_with_min_cases", subset_cases=ids_of(busy), agent_ids=agents
        )
    return str(agents[0])


def route_by_soql(walker: Walker, issue: str, product: str, absent: tuple[str, ...]) -> str:
    count = "SELECT OwnerId, COUNT(Id) n FROM Case WHERE Status"
    by_issue = f"{count} = 'Closed' AND IssueId__r.Name = {quoted(issue)} GROUP BY OwnerId"
    counts = tally(walker.soql(by_issue), "OwnerId", "n")
    agents = _first({a: -n for a, n in counts.items() if a not in absent})
    if len(agents) > 1:
        name = f"OrderItemId__r.Product2.Name = {quoted(product)}"
        rows = walker.soql(f"{count} = 'Closed' AND {name} GROUP BY OwnerId")
        about = tally(rows, "OwnerId", "n")
        agents = _first({agent: -about.get(agent, 0) for agent in agents})
    if len(agents) > 1:
        busy = tally(walker.soql(f"{count} != 'Closed' GROUP BY OwnerId"), "OwnerId", "n")
        agents = _first({agent: busy.get(agent, 0) for agent in agents})
    return agents[0]


def _first(values: dict[str, float]) -> list[str]:
    least = min(values.values())
    return [agent for agent, value in values.items() if value == least]


def done(desk: Desk) -> Iterator[Candidate]:
    while True:
        case = desk.rng.choice(desk.records.open_cases)
        found = reroute(desk, case)
        absent: tuple[str, ...] = ()
        if found and desk.rng.random() < 0.5:
            absent = (found,)
            found = reroute(desk, case, absent)
        if found and found != case["OwnerId"]:
            build = partial(_done, desk, case, absent, found)
            yield Candidate(f"{case['Id']} {absent}", (found,), MANAGER, build)


def reroute(desk: Desk, case: Row, absent: tuple[str, ...] = ()) -> str | None:
    """To whom a case of the org should go; None if the rules leave that open."""
    product = desk.records.product_of(case)["Id"]
    found = desk.truth.route(case["IssueId__c"], product, absent)
    return found[0] if len(found) == 1 else None


def _done(desk: Desk, case: Row, absent: tuple[str, ...], agent: str) -> tuple[Step, ...]:
    form = "done_absent" if absent else "done"
    said = desk.order(NAME, form, case=case["Id"], away=away(desk.records, absent))
    return (assign(desk, said, case, absent, agent),)


def assign(desk: Desk, said: str, case: Row, absent: tuple[str, ...], agent: str) -> Step:
    """Give a case of the org to whom the rules name."""
    issue = desk.records.name(case["IssueId__c"])
    product = desk.records.product_of(case)["Name"]

    def walk(walker: Walker) -> None:
        walker.call("get_cases", case_ids=[case["Id"]])
        chosen = route_by_tools(walker, case["IssueId__c"], product, absent)
        hand_over(walker, case["Id"], chosen)

    def query(walker: Walker) -> None:
        walker.soql(
            "SELECT IssueId__r.Name, OrderItemId__r.Product2.Name FROM Case "
            f"WHERE Id = {quoted(case['Id'])}"
        )
        hand_over_by_soql(walker, case["Id"], route_by_soql(walker, issue, product, absent))

    notes = owners_named(desk.records, case["OwnerId"], agent)
    return Step(said, walk, query, note_facts=notes, rules=("ROUTE-1", "NOTE-1"))


def talked(desk: Desk) -> Iterator[Candidate]:
    while True:
        case = draw(desk)
        route = partial(desk.truth.route, case.issue, case.product)
        first = route(case.absent)
        second = route((*case.absent, *first)) if len(first) == 1 else []
        old = desk.rng.choice(desk.records.open_cases)
        away_now = (*case.absent, *first)
        third = reroute(desk, old, away_now)
        if len(second) == 1 and third and third != old["OwnerId"]:
            agents = (first[0], second[0], third)
            build = partial(_talked, desk, case, agents, old)
            yield Candidate(case.about, agents, MANAGER, build)


def _talked(desk: Desk, case: Newcomer, agents: tuple[str, str, str], old: Row) -> tuple[Step, ...]:
    told = partial(desk.follow, NAME)
    without = replace(case, absent=(*case.absent, agents[0]))
    return (
        *_asked(desk, case, agents[0]),
        question(told("next"), without, agents[1]),
        assign(desk, told("also", case=old["Id"]), old, without.absent, agents[2]),
    )


NEW_CASE_ROUTING = Family(NAME, "New Case Routing", asked, done, talked, with_empty=False)
