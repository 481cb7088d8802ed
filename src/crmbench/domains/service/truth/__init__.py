"""The right answers, computed in two ways that share no code, and the check that they agree."""

from crmbench.domains.service.truth.checked import Truth

__all__ = ["Truth"]
