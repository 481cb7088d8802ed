"""The CRM without a conversation: an empty one of your own, and the published service org.

    python examples/python_crm.py

A refused call raises, and has changed nothing.
"""

from crmbench import CRM, SalesCRM
from crmbench.errors import ToolError

with SalesCRM() as crm:
    client = crm.create_new_client(name="Acme", email="ops@acme.example", status="Active")
    deal = crm.create_new_opportunity(
        name="Acme - Renewal", client_id=client.client_id, amount=125_000, stage="Negotiation"
    )
    crm.create_quote(opportunity_id=deal.opportunity_id, amount=120_000, status="Draft")
    print("deals in negotiation:", crm.opportunity_search(stage="negot").total_count)
    try:
        crm.modify_opportunity(opportunity_id=deal.opportunity_id, amount=-1)
    except ToolError as refused:
        print("refused:", refused)

with CRM("service") as org:
    found = org.issue_soql_query(query="SELECT Status, COUNT(Id) n FROM Case GROUP BY Status")
    print(found)
