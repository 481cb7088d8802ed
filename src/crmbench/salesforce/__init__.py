"""A Salesforce org on SQL: ids, catalog, SOQL and SOSL. Knows no org of ours."""
