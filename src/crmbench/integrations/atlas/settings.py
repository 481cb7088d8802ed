"""The library's settings, as the file that it reads for every conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crmbench.integrations.atlas.relay import MODEL

KEY = "CRMBENCH_ATLAS_KEY"
"""The environment variable that the library wants a key in; the relay asks for none."""
PACKAGE = "crmbench.integrations.atlas.bridge"


def settings(
    teacher_url: str, tools: Sequence[str], *, learning: bool, database: str | None = None
) -> dict[str, Any]:
    """What the library is to do.

    Args:
        teacher_url: The relay's address for the teacher.
        tools: Names that an entry of its playbook may name.
        learning: Whether the teacher looks at attempts and may have a second one.
        database: Where sessions are kept; None: nowhere.
    """
    llm = {
        "provider": "openai",
        "model": f"openai/{MODEL}",
        "api_base": teacher_url,
        "api_key_env": KEY,
    }
    made: dict[str, Any] = {
        "agent": {
            "type": "python",
            "name": "crmbench",
            "system_prompt": "You keep a company's CRM.",
            "import_path": PACKAGE,
            "attribute": "play",
        },
        "teacher": {"llm": llm},
        # Demanded by the library; with a reward of our own it asks neither.
        "rim": {"small_model": llm, "large_model": llm},
        # Learning is made after the conversation, by `AtlasLearner.observe`.
        "learning": {
            "llm": llm,
            "schema": {"allowed_runtime_handles": list(tools)},
        },
        "orchestration": {"max_retries": int(learning)},
        "adaptive_teaching": {
            # Else a model chooses from the second conversation on, and no two are comparable.
            "mode_override": "paired",
            "reward": {"type": "python", "import_path": PACKAGE, "attribute": "reward"},
            "probe": {"llm": llm},
        },
    }
    if database is not None:
        # The wheel lacks its own schema file; `Telemetry` makes the tables.
        made["storage"] = {
            "database_url": database,
            "min_connections": 1,
            "max_connections": 1,
            "apply_schema_on_connect": False,
        }
    return made
