"""What a person needs to solve a hard service task with a spreadsheet; no ground truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crmbench.authoring.sheet import Sheet
from crmbench.core.schema import Row
from crmbench.core.task import Task
from crmbench.domains.service.hard.schema import HARD
from crmbench.domains.service.hard.world import world_from_name

_HANDBOOK = (
    'Handbook: open the articles on the matter, "How we talk here" and "How memos work"; search '
    "every name of every question, and the words of their answers; open all memos found."
)
_CHANGES = (
    "Memos: one line each (number, name, day of writing, first day, condition, what it says). For "
    "each that could decide a row search its number, its names, its days and its condition (in "
    "quotes); so for each memo that changes one, and again. Strike out what has ended, last memo "
    "first."
)
_ROUTING = (
    (
        "Cases: sort by priority, then by the moment opened; write beside each the issue that its "
        "letter reports, who is asked for and who is not wanted."
    ),
    (
        "Agents: keep their load as a running total by what each open case adds; strike out who is "
        "away by a record or by a notice of this year."
    ),
    (
        "Case by case: who has the skill at the level, the shift and room; then wish, who knows "
        "the customer, load, and what decides at equal load. Give it, and add it to the load."
    ),
)
_DUPLICATES = (
    (
        "Customers: join accounts with one last name and one telephone number, and cases without "
        "an account by the address, without capitals and without what follows a plus sign."
    ),
    (
        "Cases: sort by customer, order line (from the letter where it is empty), issue of the "
        "letter and moment; apply to each first case of a group what the memos say of it."
    ),
    "Each group of two or more: which remains, which priority stays. Merge, set the priority.",
)
_CENSUS = (
    (
        "Cases: from letters and comments the day promised, the day of arrival and who noted it, "
        "what was told, and whether it was declined; then the working days between."
    ),
    (
        "Rates: the table in force on the day of purchase; one column each for base, share, lid, "
        "membership, sale, method, region and what memos add."
    ),
    "Subtract what is booked in any case of the order; what is left says the outcome.",
)
_COLUMNS = ("kind", "id", "number or name", "opened", "closed", "filed as", "about", "letters")


class _Records:
    """The rows of a task's world, looked up by what they hang on."""

    def __init__(self, task: Task) -> None:
        self.rows: Mapping[str, Sequence[Row]] = {
            name: [dict.fromkeys(HARD.tables[name].columns.keys()) | row for row in rows]
            for name, rows in world_from_name(task.world).stream()
        }
        self.by_id = {row["Id"]: row for rows in self.rows.values() for row in rows if "Id" in row}
        self.letters: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows["EmailMessage"]:
            self.letters[row["ParentId"]].append(row)

    def case(self, key: str, kind: str = "case") -> tuple[Any, ...]:
        """A case on a line."""
        case = self.by_id[key]
        issue = self.by_id.get(case["IssueId__c"] or "", {}).get("Name")
        filed = [issue or "no issue", case["Priority"], case["Status"], case["Origin"]]
        letters = sorted(self.letters[key], key=lambda row: row["MessageDate"])
        return (
            kind,
            key,
            case["CaseNumber"],
            case["CreatedDate"],
            case["ClosedDate"],
            ", ".join(map(str, filed)),
            "; ".join(self._about(case)),
            "\n---\n".join(row["TextBody"] for row in letters),
        )

    def _about(self, case: Row) -> Iterator[str]:
        account = self.by_id.get(case["AccountId"] or "")
        if account is None:
            yield f"no account, from {case['SuppliedEmail']}"
        else:
            yield (
                f"{account['Name']} ({account['Id']}, {account['ShippingState']}, "
                f"{account['Phone']}, {account['PersonEmail']}, {account['Membership__c']} from "
                f"{account['MemberSince__c']} to {account['MemberUntil__c']})"
            )
        line = self.by_id.get(case["OrderItemId__c"] or "")
        if line is None:
            yield "no order line"
            return
        order, product = self.by_id[line["OrderId"]], self.by_id[line["Product2Id"]]
        yield f"{line['Quantity']} x {product['Name']} at {line['UnitPrice']} ({line['Id']})"
        yield f"order {order['Id']} of {order['EffectiveDate']}"
        shown = ("Carrier__c", "Method__c", "SaleType__c", "PromisedDate__c", "DeliveredDate__c")
        yield ", ".join(f"{name.removesuffix('__c')} {line[name]}" for name in shown)

    def of_kin(self, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The other cases about the same orders."""
        orders = {self._order(self.by_id[key]) for key in keys} - {None}
        for case in self.rows["Case"]:
            if case["Id"] not in keys and self._order(case) in orders:
                owner = self.by_id[case["OwnerId"]]["Name"]
                yield self.case(case["Id"], f"other case, of {owner}")

    def _order(self, case: Row) -> str | None:
        line = self.by_id.get(case["OrderItemId__c"] or "")
        return None if line is None else str(line["OrderId"])

    def agents(self) -> Iterator[tuple[Any, ...]]:
        """The agents with their skills, absences and open cases."""
        found: Mapping[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for row in self.rows["Skill__c"]:
            issue = self.by_id[row["Issue__c"]]["Name"]
            found[row["User__c"]]["skills"].append(
                f"{issue} {row['Level__c']} (until {row['ExpiresOn__c']})"
            )
        for row in self.rows["Absence__c"]:
            days = f"{row['FirstDay__c']} to {row['LastDay__c']}"
            found[row["User__c"]]["away"].append(days)
        for row in self.rows["Case"]:
            if row["Status"] != "Closed":
                what = f"{row['Status']}/{row['Priority']}/{row['Origin']}"
                found[row["OwnerId"]]["open cases"].append(what)
        for user in self.rows["User"]:
            if user["Title"] == "Service Agent" and user["IsActive"]:
                own = found[user["Id"]]
                said = "; ".join(f"{name}: {', '.join(own[name])}" for name in sorted(own))
                shift = f"shift {user['Shift__c']}, cap {user['MaxOpen__c']}"
                yield ("agent", user["Id"], user["Name"], "", "", shift, said, "")

    def credits(self, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The credits of the cases' customers, and what was commented on the cases."""
        accounts = {self.by_id[key]["AccountId"] for key in keys}
        for row in self.rows["Credit__c"]:
            case = self.by_id[row["Case__c"]]
            if case["AccountId"] in accounts:
                said = f"{row['Type__c']}, {row['Status__c']}, {row['Amount__c']}"
                what = f"of case {case['CaseNumber']}, booked {row['BookedDate__c']}"
                yield ("credit", row["Id"], "", "", "", said, what, "")
        for row in self.rows["CaseComment"]:
            if row["ParentId"] in keys:
                number = self.by_id[row["ParentId"]]["CaseNumber"]
                wrote = self.by_id[row["CreatedById"]]["Name"]
                yield (
                    "comment", row["Id"], "", row["CreatedDate"], "", wrote, f"on {number}",
                    row["CommentBody"],
                )  # fmt: skip


def _keys(task: Task) -> list[str]:
    return [key for item in task.gold.items for _, key in item.records]


def routing_sheet(task: Task) -> Sheet:
    """The waiting cases, the other cases about their orders, and the agents."""
    records, keys = _Records(task), _keys(task)
    rows = [*map(records.case, keys), *records.of_kin(keys), *records.agents()]
    return Sheet(_COLUMNS, tuple(rows), (_HANDBOOK, _CHANGES, *_ROUTING))


def duplicates_sheet(task: Task) -> Sheet:
    """The open web cases."""
    rows = map(_Records(task).case, _keys(task))
    return Sheet(_COLUMNS, tuple(rows), (_HANDBOOK, _CHANGES, *_DUPLICATES))


def census_sheet(task: Task) -> Sheet:
    """The cases to be reviewed, the other cases about their orders, credits and comments."""
    records, keys = _Records(task), _keys(task)
    rows = [*map(records.case, keys), *records.of_kin(keys), *records.credits(keys)]
    return Sheet(_COLUMNS, tuple(rows), (_HANDBOOK, _CHANGES, *_CENSUS))


SHEETS = {"routing": routing_sheet, "duplicates": duplicates_sheet, "census": census_sheet}
