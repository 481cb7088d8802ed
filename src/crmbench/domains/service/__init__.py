"""The Salesforce-like org: its query languages, SOQL and SOSL."""
