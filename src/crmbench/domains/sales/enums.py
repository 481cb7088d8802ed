"""The values that the enumerated fields take; matched exactly, case and spaces included."""

from __future__ import annotations

from typing import Literal

ClientStatus = Literal["Active", "Prospect", "Inactive"]
OpportunityStage = Literal[
    "Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost"
]
QuoteStatus = Literal["Draft", "Sent", "Approved", "Rejected", "Canceled"]
ContractStatus = Literal["Active", "Pending", "Expired"]
CompanyType = Literal["Partner", "Vendor", "Competitor"]
DocumentEntity = Literal["Opportunity", "Contract", "Quote", "Client"]
NoteEntity = Literal["Opportunity", "Client", "Contact", "Quote", "Contract"]

CLOSED_STAGES = ("Closed-Won", "Closed-Lost")
FILE_EXTENSIONS = ("pdf", "doc", "docx", "ppt", "pptx", "xlsx", "csv", "txt", "key")
