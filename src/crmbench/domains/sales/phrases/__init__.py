"""What users say: phrasings kept as data, filled with values written as people write them."""

from crmbench.domains.sales.phrases.bank import Bank, load_bank
from crmbench.domains.sales.phrases.render import VOICES, Voice, Wording
from crmbench.domains.sales.phrases.values import Slot, count, day, money, noun, percent, plain

__all__ = [
    "VOICES",
    "Bank",
    "Slot",
    "Voice",
    "Wording",
    "count",
    "day",
    "load_bank",
    "money",
    "noun",
    "percent",
    "plain",
]
