"""Double-entry journals."""

import json

from ledgerline.reading import Transaction


class Journal:
    """A list of balanced entries."""

    def __init__(self, entries: "list[Transaction]") -> None:
        self.entries = list(entries)

    @classmethod
    def from_transactions(cls, transactions: "list[Transaction]") -> "Journal":
        """Build a journal from transactions."""
        return cls(transactions)

    def missing(self, transactions: "list[Transaction]") -> "list[Transaction]":
        """Return the transactions that the journal does not have."""
        return [item for item in transactions if item not in self.entries]

    def render(self) -> str:
        """Return the journal as plain text."""
        return "".join(f"{item.date} {item.payee} {item.amount}\n" for item in self.entries)

    def to_json(self) -> str:
        """Return the journal as JSON."""
        return json.dumps([[str(item.date), item.payee, str(item.amount)] for item in self.entries])
