"""An org's records through Salesforce's eyes: describe, create, read, update, delete, upsert.

`open_org` gives a sandbox's org; `SpeaksSalesforce` is what its domain has to offer for that.
"""

from crmbench.salesforce.sobjects.errors import SobjectError
from crmbench.salesforce.sobjects.org import Org, SpeaksSalesforce, open_org
from crmbench.salesforce.sobjects.organization import ORGANIZATION_ID

__all__ = ["ORGANIZATION_ID", "Org", "SobjectError", "SpeaksSalesforce", "open_org"]
