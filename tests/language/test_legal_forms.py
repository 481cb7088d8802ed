"""Names with and without the legal form."""

from __future__ import annotations

import pytest

from crmbench.language.legal_forms import without_legal_forms


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Moorhen Ltd.", "Moorhen"),
        ("Oksanen Paper, Inc", "Oksanen Paper"),
        ("Oksanen Paper Inc - Dock Scheduling", "Oksanen Paper - Dock Scheduling"),
        ("Vestergaard A/S", "Vestergaard"),
        ("Co Design - Pilot", "Co Design - Pilot"),
        ("Ag Machines", "Ag Machines"),
        ("Incorporated Ideas", "Incorporated Ideas"),
        ("Spa Resort Gdynia", "Spa Resort Gdynia"),
    ],
)
def test_only_a_form_at_the_end_of_a_name_goes(name: str, said: str) -> None:
    assert without_legal_forms(name) == said
