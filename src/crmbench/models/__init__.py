"""Models: what they are asked and answer, and the wire formats that reach them.

Knows nothing of CRM, tasks or agents. Start with `open_model`.
Costs are in `crmbench.models.prices`, which loads pydantic and is therefore not loaded here.
"""

from crmbench.models.base import (
    NO_TOKENS,
    Carried,
    Message,
    Model,
    Reply,
    Settings,
    ToolCall,
    ToolSpec,
    Usage,
    system,
    tool_result,
    user,
)
from crmbench.models.errors import FinalModelError, ModelError, TransientModelError
from crmbench.models.limits import Limits
from crmbench.models.request_log import RawLog
from crmbench.models.resolve import open_model
from crmbench.models.scripted import ScriptedModel

__all__ = [
    "NO_TOKENS",
    "Carried",
    "FinalModelError",
    "Limits",
    "Message",
    "Model",
    "ModelError",
    "RawLog",
    "Reply",
    "ScriptedModel",
    "Settings",
    "ToolCall",
    "ToolSpec",
    "TransientModelError",
    "Usage",
    "open_model",
    "system",
    "tool_result",
    "user",
]
