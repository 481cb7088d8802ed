"""Random SOQL queries, each with its answer worked out in plain Python over the records.

Nothing of the parser or the compiler is used: a query is drawn as a structure, written as text,
and evaluated by functions over dicts. The rules are those of the language: no third truth value,
text without regard to the case of ASCII letters, empty values first, ties by Id.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from tests.salesforce.soql_org import NOW, Data

Record = dict[str, Any]
Get = Callable[[Record], Any]


class Pick(NamedTuple):
    """A field as it is written and as it is read."""

    text: str
    kind: str
    get: Get


class Test(NamedTuple):
    """A condition as it is written and as it is tested."""

    text: str
    holds: Callable[[Record], bool]
    joined: str
    """``and``, ``or``, ``not`` or "" if it needs no parentheses inside another."""


FIELDS: dict[str, dict[str, str]] = {
    "User": {"Id": "id", "LastName": "string", "IsActive": "boolean"},
    "Account": {
        "Id": "id", "Name": "string", "City__c": "string", "Score__c": "number",
        "Active__c": "boolean", "Since__c": "date", "CreatedDate": "datetime", "OwnerId": "id",
    },
    "Contact": {
        "Id": "id", "LastName": "string", "Email": "string", "AccountId": "id",
        "CreatedDate": "datetime",
    },
    "Issue__c": {"Id": "id", "Name": "string"},
    "Case": {
        "Id": "id", "Subject": "string", "Status": "string", "Priority": "string",
        "Cost__c": "number", "Reopened__c": "integer", "CreatedDate": "datetime",
        "ClosedDate": "datetime", "ContactId": "id", "AccountId": "id", "OwnerId": "id",
        "IssueId__c": "id",
    },
    "Order": {"Id": "id", "AccountId": "id", "Status": "string", "EffectiveDate": "date"},
    "OrderItem": {"Id": "id", "OrderId": "id", "Quantity": "integer", "UnitPrice": "number"},
}  # fmt: skip
PARENTS = {
    "Account": {"Owner": ("OwnerId", "User")},
    "Contact": {"Account": ("AccountId", "Account")},
    "Case": {
        "Contact": ("ContactId", "Contact"), "Account": ("AccountId", "Account"),
        "Owner": ("OwnerId", "User"), "Issue__r": ("IssueId__c", "Issue__c"),
    },
    "Order": {"Account": ("AccountId", "Account")},
    "OrderItem": {"Order": ("OrderId", "Order")},
}  # fmt: skip
CHILDREN = {
    "Account": {"Contacts": ("Contact", "AccountId"), "Cases": ("Case", "AccountId"),
                "Orders": ("Order", "AccountId")},
    "Contact": {"Cases": ("Case", "ContactId")},
    "User": {"Cases": ("Case", "OwnerId"), "Accounts": ("Account", "OwnerId")},
    "Issue__c": {"Cases__r": ("Case", "IssueId__c")},
    "Order": {"OrderItems": ("OrderItem", "OrderId")},
}  # fmt: skip
TODAY = NOW.date()


def fold(text: str) -> str:
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def key_of(kind: str, value: Any) -> Any:
    return fold(value) if kind == "string" and value is not None else value


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def like(pattern: list[str | None], text: str) -> bool:
    """Whether `text` fits a pattern of characters, ``""`` for any one and None for any number."""
    if not pattern:
        return text == ""
    head, rest = pattern[0], pattern[1:]
    if head is None:
        return any(like(rest, text[i:]) for i in range(len(text) + 1))
    return text != "" and (head == "" or head == text[0]) and like(rest, text[1:])


def month_start(day: date, months: int) -> date:
    count = day.year * 12 + day.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def sunday(day: date) -> date:
    while day.strftime("%a") != "Sun":
        day -= timedelta(days=1)
    return day


def ranges(rng: random.Random) -> tuple[str, date, date]:
    """A date literal and the days from and up to which it goes."""
    n, one = rng.randint(1, 9), timedelta(days=1)
    quarter = month_start(TODAY, -((TODAY.month - 1) % 3))
    year, week = date(TODAY.year, 1, 1), sunday(TODAY)
    seven = timedelta(days=7)
    return rng.choice(
        [
            ("TODAY", TODAY, TODAY + one),
            ("Yesterday", TODAY - one, TODAY),
            ("THIS_WEEK", week, week + seven),
            ("LAST_WEEK", week - seven, week),
            ("THIS_MONTH", month_start(TODAY, 0), month_start(TODAY, 1)),
            ("last_month", month_start(TODAY, -1), month_start(TODAY, 0)),
            ("THIS_QUARTER", quarter, month_start(quarter, 3)),
            ("LAST_QUARTER", month_start(quarter, -3), quarter),
            ("THIS_YEAR", year, date(TODAY.year + 1, 1, 1)),
            ("LAST_FISCAL_YEAR", date(TODAY.year - 1, 1, 1), year),
            ("LAST_90_DAYS", TODAY - 90 * one, TODAY + one),
            (f"LAST_N_DAYS:{n * 20}", TODAY - n * 20 * one, TODAY + one),
            (f"NEXT_N_DAYS:{n * 5}", TODAY + one, TODAY + (n * 5 + 1) * one),
            (f"N_DAYS_AGO:{n}", TODAY - n * one, TODAY - (n - 1) * one),
            (f"LAST_N_WEEKS:{n}", week - n * seven, week),
            (f"LAST_N_MONTHS:{n}", month_start(TODAY, -n), month_start(TODAY, 0)),
            (f"NEXT_N_MONTHS:{n}", month_start(TODAY, 1), month_start(TODAY, n + 1)),
            (f"N_MONTHS_AGO:{n}", month_start(TODAY, -n), month_start(TODAY, 1 - n)),
            (f"LAST_N_QUARTERS:{n}", month_start(quarter, -3 * n), quarter),
            (f"N_QUARTERS_AGO:{n}", month_start(quarter, -3 * n), month_start(quarter, 3 - 3 * n)),
            (f"LAST_N_YEARS:{n}", date(TODAY.year - n, 1, 1), year),
        ]
    )


DATE_FUNCTIONS: dict[str, Callable[[date], int]] = {
    "CALENDAR_YEAR": lambda d: d.year,
    "CALENDAR_QUARTER": lambda d: 1 + (d.month - 1) // 3,
    "CALENDAR_MONTH": lambda d: d.month,
    "DAY_IN_MONTH": lambda d: d.day,
    "DAY_IN_WEEK": lambda d: d.isoweekday() % 7 + 1,
    "DAY_IN_YEAR": lambda d: (d - date(d.year, 1, 1)).days + 1,
    "WEEK_IN_MONTH": lambda d: (d.day + 6) // 7,
    "WEEK_IN_YEAR": lambda d: ((d - date(d.year, 1, 1)).days + 7) // 7,
    "FISCAL_YEAR": lambda d: d.year,
}


class Drawer:
    """Draws queries over one set of records."""

    def __init__(self, data: Data, seed: int) -> None:
        self.rng = random.Random(seed)
        self.data = data
        self.by_id = {name: {r["Id"]: r for r in rows} for name, rows in data.items()}

    # --- fields -------------------------------------------------------------------------------

    def pick(self, name: str, kinds: tuple[str, ...] = (), deep: bool = True) -> Pick | None:
        """A field of the object or, now and then, of a parent."""
        parents = PARENTS.get(name, {})
        if deep and parents and self.rng.random() < 0.3:
            relation = self.rng.choice(sorted(parents))
            field, target = parents[relation]
            inner = self.pick(target, kinds, deep=self.rng.random() < 0.4)
            if inner is None:
                return None
            records = self.by_id[target]

            def through(row: Record) -> Any:
                parent = records.get(row[field])
                return None if parent is None else inner.get(parent)

            return Pick(f"{relation}.{inner.text}", inner.kind, through)
        fitting = [f for f, kind in FIELDS[name].items() if not kinds or kind in kinds]
        if not fitting:
            return None
        chosen = self.rng.choice(fitting)
        return Pick(chosen, FIELDS[name][chosen], lambda row: row[chosen])

    def some(self, name: str, kinds: tuple[str, ...] = (), deep: bool = True) -> Pick:
        while True:
            found = self.pick(name, kinds, deep)
            if found is not None:
                return found

    def sample(self, name: str, pick: Pick) -> Any:
        values = [v for v in map(pick.get, self.data[name]) if v is not None]
        return self.rng.choice(values) if values else None

    # --- conditions ---------------------------------------------------------------------------

    def where(self, name: str, depth: int = 2) -> Test:
        if depth and self.rng.random() < 0.45:
            return self.logic(name, depth)
        return self.atom(name)

    def logic(self, name: str, depth: int) -> Test:
        op = self.rng.choice(["and", "or", "not"])
        if op == "not":
            inner = self.where(name, depth - 1)
            body = f"({inner.text})" if inner.joined else inner.text
            return Test(f"NOT {body}", lambda row: not inner.holds(row), "not")
        items = [self.where(name, depth - 1) for _ in range(self.rng.randint(2, 3))]
        texts = [f"({i.text})" if i.joined not in ("",) else i.text for i in items]
        word = self.rng.choice([op, op.upper()])
        combine = all if op == "and" else any
        return Test(f" {word} ".join(texts), lambda row: combine(i.holds(row) for i in items), op)

    def atom(self, name: str) -> Test:
        pick = self.some(name)
        if self.rng.random() < 0.12:
            return self.empty(pick)
        draw = {
            "string": self.of_text, "id": self.of_id, "boolean": self.of_boolean,
            "date": self.of_date, "datetime": self.of_date,
        }.get(pick.kind, self.of_number)  # fmt: skip
        return draw(name, pick)

    def empty(self, pick: Pick) -> Test:
        op = self.rng.choice(["=", "!="])
        unset: tuple[Any, ...] = (None, False) if pick.kind == "boolean" else (None,)
        return Test(
            f"{pick.text} {op} {self.rng.choice(['null', 'NULL'])}",
            lambda row: (pick.get(row) in unset) == (op == "="),
            "",
        )

    def compared(self, pick: Pick, op: str, literal: str, value: Any) -> Test:
        def holds(row: Record) -> bool:
            got = key_of(pick.kind, pick.get(row))
            if op in ("!=", "<>"):
                return bool(got is None or got != value)
            if got is None:
                return False
            return bool(
                {"=": got == value, "<": got < value, "<=": got <= value, ">": got > value,
                 ">=": got >= value}[op]
            )  # fmt: skip

        return Test(f"{pick.text} {op} {literal}", holds, "")

    def of_text(self, name: str, pick: Pick) -> Test:
        sample = self.sample(name, pick) or "x"
        way = self.rng.random()
        if way < 0.35:
            return self.pattern(pick, sample)
        if way < 0.6:
            return self.among(name, pick)
        value = self.rng.choice([sample, sample.upper(), sample.lower(), "nothing"])
        op = self.rng.choice(["=", "=", "!=", "<>", "<", "<=", ">", ">="])
        return self.compared(pick, op, quoted(value), fold(value))

    def pattern(self, pick: Pick, sample: str) -> Test:
        start = self.rng.randint(0, len(sample) - 1)
        piece = sample[start : start + self.rng.randint(1, 5)]
        parts: list[str | None] = list(piece)
        if self.rng.random() < 0.3:
            parts[self.rng.randint(0, len(parts) - 1)] = ""
        parts = [None] * self.rng.randint(0, 1) + parts + [None] * self.rng.randint(0, 1)
        written = "".join(
            "%" if p is None else "_" if p == "" else "\\" + p if p in "%_'\\" else p for p in parts
        )
        # A backslash for LIKE itself is written twice more; keep to what one reading decides.
        folded = [p if not p else fold(p) for p in parts]
        op = self.rng.choice(["LIKE", "like"])
        return Test(
            f"{pick.text} {op} '{written}'",
            lambda row: pick.get(row) is not None and like(folded, fold(pick.get(row))),
            "",
        )

    def among(self, name: str, pick: Pick) -> Test:
        values = [self.sample(name, pick) for _ in range(self.rng.randint(1, 4))]
        values = [v for v in values if v is not None] or ["003000000000099AAA"]
        negated = self.rng.random() < 0.4
        wanted = {key_of(pick.kind, v) for v in values}
        literals = ", ".join(quoted(v) if isinstance(v, str) else repr(v) for v in values)
        word = "NOT IN" if negated else "IN"
        return Test(
            f"{pick.text} {word} ({literals})",
            lambda row: (key_of(pick.kind, pick.get(row)) in wanted) != negated,
            "",
        )

    def of_id(self, name: str, pick: Pick) -> Test:
        if self.rng.random() < 0.5:
            return self.among(name, pick)
        value = self.sample(name, pick) or "003000000000099AAA"
        written = value[:15] if self.rng.random() < 0.5 else value
        return self.compared(pick, self.rng.choice(["=", "!="]), quoted(written), value)

    def of_boolean(self, name: str, pick: Pick) -> Test:
        del name
        op, value = self.rng.choice(["=", "!="]), self.rng.random() < 0.5
        word = self.rng.choice([str(value).upper(), str(value).lower()])
        return Test(
            f"{pick.text} {op} {word}",
            lambda row: (bool(pick.get(row)) == value) == (op == "="),
            "",
        )

    def of_number(self, name: str, pick: Pick) -> Test:
        value = self.sample(name, pick) or 0
        if self.rng.random() < 0.3:
            return self.among(name, pick) if value else self.compared(pick, "=", "0", 0)
        value = self.rng.choice([value, round(value), value + 1])
        op = self.rng.choice(["=", "!=", "<", "<=", ">", ">="])
        return self.compared(pick, op, repr(value), value)

    def of_date(self, name: str, pick: Pick) -> Test:
        way = self.rng.random()
        if way < 0.2:
            return self.of_part(name, pick)
        op = self.rng.choice(["=", "!=", "<", "<=", ">", ">="])
        if way < 0.6:
            return self.of_range(pick, op)
        value = self.sample(name, pick) or "2026-01-01T00:00:00.000+0000"
        if pick.kind == "date":
            return self.compared(pick, op, value[:10], value[:10])
        moment = datetime.fromisoformat(value)
        hours = self.rng.choice([0, 2, -8])
        local = moment + timedelta(hours=hours)
        zone = "Z" if hours == 0 else f"{'-' if hours < 0 else '+'}{abs(hours):02d}:00"
        return self.compared(pick, op, f"{local:%Y-%m-%dT%H:%M:%S}{zone}", value)

    def of_part(self, name: str, pick: Pick) -> Test:
        function = self.rng.choice(sorted(DATE_FUNCTIONS))
        part = DATE_FUNCTIONS[function]

        def get(row: Record) -> Any:
            value = pick.get(row)
            return None if value is None else part(date.fromisoformat(value[:10]))

        call = Pick(f"{function}({pick.text})", "integer", get)
        value = self.sample(name, call) or 1
        op = self.rng.choice(["=", "!=", "<", ">="])
        return self.compared(call, op, str(value), value)

    def of_range(self, pick: Pick, op: str) -> Test:
        literal, start, end = ranges(self.rng)

        def holds(row: Record) -> bool:
            value = pick.get(row)
            if value is None:
                return op == "!="
            day = date.fromisoformat(value[:10])
            inside = start <= day < end
            return {
                "=": inside, "!=": not inside, "<": day < start, "<=": day < end,
                ">": day >= end, ">=": day >= start,
            }[op]  # fmt: skip

        return Test(f"{pick.text} {op} {literal}", holds, "")

    def semi_join(self, name: str) -> Test | None:
        """``Id [NOT] IN (SELECT reference FROM child WHERE ...)``."""
        ways = sorted(CHILDREN.get(name, {}).items())
        if not ways:
            return None
        _, (child, field) = self.rng.choice(ways)
        inner = self.where(child, 1) if self.rng.random() < 0.7 else None
        negated = self.rng.random() < 0.4
        found = {
            r[field] for r in self.data[child] if r[field] and (inner is None or inner.holds(r))
        }
        where = f" WHERE {inner.text}" if inner is not None else ""
        word = "NOT IN" if negated else "IN"
        return Test(
            f"Id {word} (SELECT {field} FROM {child}{where})",
            lambda row: (row["Id"] in found) != negated,
            "",
        )

    # --- whole queries ------------------------------------------------------------------------

    def query(self) -> tuple[str, Any]:
        """A query and its answer: records, or for COUNT() a number."""
        name = self.rng.choice(sorted(FIELDS))
        way = self.rng.random()
        if way < 0.08:
            where, rows = self.filtered(name)
            return f"SELECT COUNT() FROM {name}{where}", len(rows)
        if way < 0.4:
            return self.grouped(name)
        return self.plain(name)

    def filtered(self, name: str) -> tuple[str, list[Record]]:
        if self.rng.random() < 0.15:
            return "", self.data[name]
        test = self.where(name)
        if self.rng.random() < 0.15:
            join = self.semi_join(name)
            if join is not None:
                texts = [f"({test.text})" if test.joined else test.text, join.text]
                rows = [r for r in self.data[name] if test.holds(r) and join.holds(r)]
                return f" WHERE {' AND '.join(texts)}", rows
        return f" WHERE {test.text}", [r for r in self.data[name] if test.holds(r)]

    def ordered(self, name: str, rows: list[Record], deep: bool = True) -> tuple[str, list[Record]]:
        rows = sorted(rows, key=lambda r: r["Id"])
        texts = []
        picks = [self.some(name, deep=deep) for _ in range(self.rng.randint(0, 2))]
        for pick in reversed(picks):
            down, last = self.rng.random() < 0.4, self.rng.random() < 0.3
            rows = sort_by(rows, keyed(pick), down, last)
            texts.append(pick.text + (" DESC" if down else "") + (" NULLS LAST" if last else ""))
        return (f" ORDER BY {', '.join(reversed(texts))}" if texts else ""), rows

    def cut(self, rows: list[Any]) -> tuple[str, list[Any]]:
        text = ""
        limit, offset = self.rng.randint(0, 12), self.rng.randint(0, 5)
        way = self.rng.random()
        if way < 0.35:
            text += f" LIMIT {limit}"
        if way < 0.15:
            text += f" OFFSET {offset}"
            rows = rows[offset:]
        return text, rows[:limit] if way < 0.35 else rows

    def plain(self, name: str) -> tuple[str, list[Record]]:
        picks = {p.text: p for p in (self.some(name) for _ in range(self.rng.randint(1, 4)))}
        children = sorted(CHILDREN.get(name, {}))
        child = self.child(name, self.rng.choice(children)) if (
            children and self.rng.random() < 0.25
        ) else None  # fmt: skip
        where, rows = self.filtered(name)
        order, rows = self.ordered(name, rows)
        window, rows = self.cut(rows)
        fields = [*picks, *([child[0]] if child else [])]
        records = []
        for row in rows:
            record: Record = {}
            for pick in picks.values():
                self.put(record, name, row, pick)
            if child is not None:
                record[child[1]] = child[2](row)
            records.append(record)
        alias = self.rng.random() < 0.1
        text = (
            f"SELECT {', '.join(fields)} FROM {name}{' x' if alias else ''}{where}{order}{window}"
        )
        return text, records

    def put(self, record: Record, name: str, row: Record, pick: Pick) -> None:
        """Set the value where the REST API has it: parents are records in records."""
        *relations, field = pick.text.split(".")
        for relation in relations:
            reference, name = PARENTS[name][relation]
            parent = self.by_id[name].get(row[reference])
            if parent is None:
                record[relation] = None
                return
            record = record.setdefault(relation, {})
            row = parent
        record[field] = row[field]

    def child(self, name: str, relation: str) -> tuple[str, str, Get]:
        child, reference = CHILDREN[name][relation]
        picks = {p.text: p for p in (self.some(child) for _ in range(self.rng.randint(1, 3)))}
        test = self.where(child, 1) if self.rng.random() < 0.5 else None
        rows = [r for r in self.data[child] if test is None or test.holds(r)]
        order, rows = self.ordered(child, rows)
        limit = self.rng.randint(1, 3) if self.rng.random() < 0.4 else None
        where = f" WHERE {test.text}" if test else ""
        window = f" LIMIT {limit}" if limit else ""

        def get(row: Record) -> Any:
            own = [r for r in rows if r[reference] == row["Id"]][:limit]
            records: list[Record] = [{} for _ in own]
            for record, child_row in zip(records, own, strict=True):
                for pick in picks.values():
                    self.put(record, child, child_row, pick)
            if not records:
                return None
            return {"totalSize": len(records), "done": True, "records": records}

        return f"(SELECT {', '.join(picks)} FROM {relation}{where}{order}{window})", relation, get

    # --- groups -------------------------------------------------------------------------------

    def aggregate(self, name: str) -> tuple[str, Callable[[list[Record]], Any]]:
        function = self.rng.choice(["COUNT", "COUNT_DISTINCT", "SUM", "AVG", "MIN", "MAX"])
        kinds: tuple[str, ...] = {"SUM": ("number", "integer"), "AVG": ("number", "integer")}.get(
            function, ("number", "integer", "date", "datetime", "string")
        )
        if not any(k in kinds for k in FIELDS[name].values()):
            function, kinds = "COUNT", ("id",)
        pick = self.some(name, kinds, deep=False)

        def over(rows: list[Record]) -> Any:
            values = [v for v in map(pick.get, rows) if v is not None]
            if function == "COUNT":
                return len(values)
            if function == "COUNT_DISTINCT":
                return len(set(values))
            if not values:
                return None
            if function == "AVG":
                return sum(values) / len(values)
            if function == "SUM":
                return sum(values)
            return min(values) if function == "MIN" else max(values)

        return f"{function}({pick.text})", over

    def grouped_by(self, name: str) -> Pick:
        dated = any(k in ("date", "datetime") for k in FIELDS[name].values())
        if dated and self.rng.random() < 0.3:
            pick = self.some(name, ("date", "datetime"), deep=False)
            function = self.rng.choice(["CALENDAR_YEAR", "CALENDAR_MONTH", "DAY_IN_WEEK"])
            part = DATE_FUNCTIONS[function]
            return Pick(
                f"{function}({pick.text})",
                "integer",
                lambda r: part(date.fromisoformat(pick.get(r)[:10])) if pick.get(r) else None,
            )
        return self.some(name, ("string", "integer", "id"))

    def grouped(self, name: str) -> tuple[str, list[Record]]:
        count = self.rng.randint(0, 2)
        by = list({p.text: p for p in (self.grouped_by(name) for _ in range(count))}.values())
        kind = self.rng.choice(["", "", "ROLLUP", "CUBE"]) if by else ""
        aggregates = dict(self.aggregate(name) for _ in range(self.rng.randint(1, 3)))
        where, rows = self.filtered(name)
        groups = list(self.groups(by, kind, rows))
        having = ""
        if by and self.rng.random() < 0.3:
            least = self.rng.randint(1, 4)
            having = f" HAVING COUNT(Id) >= {least}"
            groups = [g for g in groups if len(g[1]) >= least]
        order, groups = self.order_groups(by, kind, groups, aggregates)
        window, groups = self.cut(groups) if by else ("", groups)
        fields = [f"{p.text} g{i}" for i, p in enumerate(by)]
        fields += list(aggregates)
        text = f"SELECT {', '.join(fields)} FROM {name}{where}"
        if by:
            inner = ", ".join(p.text for p in by)
            text += f" GROUP BY {f'{kind}({inner})' if kind else inner}"
        records = []
        for values, members, _ in groups:
            record: Record = {f"g{i}": v for i, v in enumerate(values)}
            record |= {f"expr{i}": over(members) for i, over in enumerate(aggregates.values())}
            records.append(record)
        return f"{text}{having}{order}{window}", records

    def groups(self, by: list[Pick], kind: str, rows: list[Record]) -> Any:
        """Values, members and level of each group."""
        if not by:
            yield (), rows, 0
            return
        size = len(by)
        sets = [tuple(range(size))]
        if kind == "ROLLUP":
            sets += [tuple(range(n)) for n in range(size - 1, -1, -1)]
        if kind == "CUBE":
            sets += [(0,), (1,), ()] if size == 2 else [()]
        for level, kept in enumerate(sets):
            members: dict[tuple[Any, ...], list[Record]] = {}
            for row in rows:
                values = tuple(p.get(row) if i in kept else None for i, p in enumerate(by))
                members.setdefault(values, []).append(row)
            for values, group in members.items():
                yield values, group, level

    def order_groups(
        self, by: list[Pick], kind: str, groups: list[Any], aggregates: dict[str, Any]
    ) -> tuple[str, list[Any]]:
        del kind
        if not by:
            return "", groups
        groups = sort_by(groups, lambda g: g[2], False, False)
        for exact in (True, False):
            for i in reversed(range(len(by))):
                kind_of = "" if exact else by[i].kind
                groups = sort_by(groups, value_at(i, kind_of), False, False)
        numeric = [t for t in aggregates if t.startswith("COUNT")]
        if numeric and self.rng.random() < 0.5:
            down = self.rng.random() < 0.5
            over = aggregates[numeric[0]]
            groups = sort_by(groups, lambda g: over(g[1]), down, False)
            return f" ORDER BY {numeric[0]}{' DESC' if down else ''}", groups
        return "", groups


def keyed(pick: Pick) -> Get:
    return lambda row: key_of(pick.kind, pick.get(row))


def value_at(index: int, kind: str) -> Callable[[Any], Any]:
    return lambda group: key_of(kind, group[0][index])


def sort_by(rows: list[Any], key: Callable[[Any], Any], down: bool, last: bool) -> list[Any]:
    """A stable sort in which empty values come first, or last."""
    full = sorted((r for r in rows if key(r) is not None), key=key, reverse=False)
    if down:
        # Stable also downwards: equal ones keep their order.
        full = sorted((r for r in rows if key(r) is not None), key=key, reverse=True)
    empty = [r for r in rows if key(r) is None]
    return full + empty if last else empty + full
