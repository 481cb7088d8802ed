"""Salesforce code as anybody has it, which knows nothing of us.

    crmbench launch -- python examples/salesforce_client.py

It logs in as to any org, takes the most urgent open case, comments on it and raises its priority.
Needs simple-salesforce.
"""

from __future__ import annotations

import os

from simple_salesforce import Salesforce, SalesforceMalformedRequest


def main() -> None:
    sf = Salesforce(
        username=os.environ["SALESFORCE_USERNAME"],
        password=os.environ["SALESFORCE_PASSWORD"],
        security_token=os.environ["SALESFORCE_SECURITY_TOKEN"],
    )
    case = sf.query(
        "SELECT Id, CaseNumber, Subject, Priority, Contact.Name FROM Case "
        "WHERE IsClosed = false ORDER BY CreatedDate LIMIT 1"
    )["records"][0]
    print(f"case {case['CaseNumber']} of {case['Contact']['Name']}: {case['Subject']}")
    sf.CaseComment.create({"ParentId": case["Id"], "CommentBody": "Looked at it."})
    sf.Case.update(case["Id"], {"Priority": "Critical"})
    print("priority:", case["Priority"], "->", sf.Case.get(case["Id"])["Priority"])
    try:
        sf.Case.update(case["Id"], {"Priority": "Whenever"})
    except SalesforceMalformedRequest as refused:
        print("refused:", refused.content[0]["message"])


if __name__ == "__main__":
    main()
