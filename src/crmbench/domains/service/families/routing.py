"""New case routing: to whom a case goes, by the rules and from what the customer writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from crmbench.core.answer import Answer
from crmbench.core.schema import Row
from crmbench.domains.service.families.acts import OPEN, hand_over, hand_over_by_soql, owners_named
from crmbench.domains.service.families.context import (
    MANAGER,
    TaskContext,
    find_product,
    ids_of,
    quoted,
    tally,
)
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step
from crmbench.domains.service.families.forms import ServiceFamily
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
        """Id of the product that the new case is about."""
        return str(self.item["Product2Id"])

    @property
    def product_name(self) -> str:
        """Its name."""
        return self.records.name(self.product)

    @property
    def issue_name(self) -> str:
        """Name of the issue."""
        return self.records.name(self.issue)

    @property
    def account(self) -> Row:
        """Id of the customer's account."""
        order = self.records.get("Order", self.item["OrderId"])
        return self.records.get("Account", order["AccountId"])

    @cached_property
    def about(self) -> str:
        """What no other task may be about as well."""
        return f"{self.item['Id']} {self.issue} {' '.join(sorted(self.absent))}"


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    while True:
        case = draw(context)
        found = context.truth.route(case.issue, case.product, case.absent)
        if len(found) == 1:
            build = partial(_asked, context, case, found[0])
            yield Candidate(case.about, (found[0],), MANAGER, build)


def draw(context: TaskContext) -> Newcomer:
    """A case about something that a customer has bought; some agents may be away."""
    rng, records = context.rng, context.records
    issue = rng.choice(records.rows["Issue__c"])["Id"]
    # Products that cases have been about, so that experience with a product can decide.
    cases = records.cases_about(rng.choice(context.complained_of))
    item = records.get("OrderItem", rng.choice(cases)["OrderItemId__c"])
    absent: tuple[str, ...] = ()
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 4, MOST_ABSENT))):
        # Whoever would get it is away; then it goes to the next one.
        absent = (*absent, rng.choice(context.truth.route(issue, item["Product2Id"], absent)))
    return Newcomer(records, issue, item, tuple(rng.sample(absent, len(absent))))


def _asked(context: TaskContext, case: Newcomer, agent: str) -> tuple[Step, ...]:
    subject, text = letter(context, case)
    form = "absent" if case.absent else "present"
    said = context.say(
        NAME,
        form,
        MANAGER,
        subject=subject,
        text=text,
        product=case.product_name,
        away=away(context.records, case.absent),
        customer=case.account["Name"],
    )
    return (question(said, case, agent),)


def letter(context: TaskContext, case: Newcomer) -> tuple[str, str]:
    """What the customer writes: a subject and a text."""
    rng, account = context.rng, case.account
    order = case.records.get("Order", case.item["OrderId"])
    key = next(issue.key for issue in ISSUES if issue.name == case.issue_name)
    facts = CaseFacts(
        customer_first=account["FirstName"],
        customer_last=account["LastName"],
        agent_first="",
        product=case.product_name,
        issue=key,
        order_date=order["EffectiveDate"],
        opened=context.records.today.isoformat(),
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
    """The turn that asks for the agent."""

    def gold_path(recorder: ServiceRecorder) -> None:
        issue = next(i["Id"] for i in recorder.call("get_issues") if i["Name"] == case.issue_name)
        recorder.respond(route_by_tools(recorder, issue, case.product_name, case.absent))

    def query_path(recorder: ServiceRecorder) -> None:
        recorder.soql("SELECT Id, Name, Description__c FROM Issue__c")
        recorder.respond(route_by_soql(recorder, case.issue_name, case.product_name, case.absent))

    answer = Answer("id", (agent,), PREFIX)
    return Step(said, gold_path, query_path, answer, rules=("ROUTE-1", "ROUTE-2"))


def route_by_tools(
    recorder: ServiceRecorder, issue: str, product: str, absent: tuple[str, ...]
) -> str:
    """The agent whom the rules name; looks no further than it has to."""
    closed = recorder.call("get_cases", issue_ids=[issue], statuses=["Closed"])
    counted = [case for case in closed if case["OwnerId"] not in absent]
    agents = recorder.call("get_agents_with_max_cases", subset_cases=ids_of(counted))
    if len(agents) > 1:
        product_id = find_product(recorder, product)
        items = recorder.call("get_order_item_ids_by_product", product_id=product_id)
        about = recorder.call("get_cases", order_item_ids=items, statuses=["Closed"])
        agents = recorder.call(
            "get_agents_with_max_cases", subset_cases=ids_of(about), agent_ids=agents
        )
    if len(agents) > 1:
        busy = recorder.call("get_cases", agent_ids=agents, statuses=OPEN)
        agents = recorder.call(
            "get_agents_with_min_cases", subset_cases=ids_of(busy), agent_ids=agents
        )
    return str(agents[0])


def route_by_soql(
    recorder: ServiceRecorder, issue: str, product: str, absent: tuple[str, ...]
) -> str:
    """Who should get the case, by SOQL."""
    count = "SELECT OwnerId, COUNT(Id) n FROM Case WHERE Status"
    by_issue = f"{count} = 'Closed' AND IssueId__r.Name = {quoted(issue)} GROUP BY OwnerId"
    counts = tally(recorder.soql(by_issue), "OwnerId", "n")
    agents = _first({a: -n for a, n in counts.items() if a not in absent})
    if len(agents) > 1:
        name = f"OrderItemId__r.Product2.Name = {quoted(product)}"
        rows = recorder.soql(f"{count} = 'Closed' AND {name} GROUP BY OwnerId")
        about = tally(rows, "OwnerId", "n")
        agents = _first({agent: -about.get(agent, 0) for agent in agents})
    if len(agents) > 1:
        busy = tally(recorder.soql(f"{count} != 'Closed' GROUP BY OwnerId"), "OwnerId", "n")
        agents = _first({agent: busy.get(agent, 0) for agent in agents})
    return agents[0]


def _first(values: dict[str, float]) -> list[str]:
    least = min(values.values())
    return [agent for agent, value in values.items() if value == least]


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    while True:
        case = context.rng.choice(context.records.open_cases)
        found = reroute(context, case)
        absent: tuple[str, ...] = ()
        if found and context.rng.random() < 0.5:
            absent = (found,)
            found = reroute(context, case, absent)
        if found and found != case["OwnerId"]:
            build = partial(_done, context, case, absent, found)
            yield Candidate(f"{case['Id']} {absent}", (found,), MANAGER, build)


def reroute(context: TaskContext, case: Row, absent: tuple[str, ...] = ()) -> str | None:
    """To whom a case of the org should go; None if the rules leave that open."""
    product = context.records.product_of(case)["Id"]
    found = context.truth.route(case["IssueId__c"], product, absent)
    return found[0] if len(found) == 1 else None


def _done(context: TaskContext, case: Row, absent: tuple[str, ...], agent: str) -> tuple[Step, ...]:
    form = "done_absent" if absent else "done"
    said = context.order(NAME, form, case=case["Id"], away=away(context.records, absent))
    return (assign(context, said, case, absent, agent),)


def assign(context: TaskContext, said: str, case: Row, absent: tuple[str, ...], agent: str) -> Step:
    """Give a case of the org to whom the rules name."""
    issue = context.records.name(case["IssueId__c"])
    product = context.records.product_of(case)["Name"]

    def gold_path(recorder: ServiceRecorder) -> None:
        recorder.call("get_cases", case_ids=[case["Id"]])
        chosen = route_by_tools(recorder, case["IssueId__c"], product, absent)
        hand_over(recorder, case["Id"], chosen)

    def query_path(recorder: ServiceRecorder) -> None:
        recorder.soql(
            "SELECT IssueId__r.Name, OrderItemId__r.Product2.Name FROM Case "
            f"WHERE Id = {quoted(case['Id'])}"
        )
        hand_over_by_soql(recorder, case["Id"], route_by_soql(recorder, issue, product, absent))

    notes = owners_named(context.records, case["OwnerId"], agent)
    return Step(said, gold_path, query_path, note_facts=notes, rules=("ROUTE-1", "NOTE-1"))


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    while True:
        case = draw(context)
        route = partial(context.truth.route, case.issue, case.product)
        first = route(case.absent)
        second = route((*case.absent, *first)) if len(first) == 1 else []
        old = context.rng.choice(context.records.open_cases)
        away_now = (*case.absent, *first)
        third = reroute(context, old, away_now)
        if len(second) == 1 and third and third != old["OwnerId"]:
            agents = (first[0], second[0], third)
            build = partial(_talked, context, case, agents, old)
            yield Candidate(case.about, agents, MANAGER, build)


def _talked(
    context: TaskContext, case: Newcomer, agents: tuple[str, str, str], old: Row
) -> tuple[Step, ...]:
    told = partial(context.follow, NAME)
    without = replace(case, absent=(*case.absent, agents[0]))
    return (
        *_asked(context, case, agents[0]),
        question(told("next"), without, agents[1]),
        assign(context, told("also", case=old["Id"]), old, without.absent, agents[2]),
    )


NEW_CASE_ROUTING = ServiceFamily(NAME, "New Case Routing", asked, done, talked, with_empty=False)
