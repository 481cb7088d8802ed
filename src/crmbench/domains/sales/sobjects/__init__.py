"""The sales CRM through Salesforce's APIs: its records as accounts, opportunities, quotes.

The CRM's tables have names and ids of their own, which tools and published tasks use. For queries
its records are copied into tables named as Salesforce names them, when they are first asked for,
and the copy follows the journal of writes. What is written goes to the CRM, by its own rules.
"""
