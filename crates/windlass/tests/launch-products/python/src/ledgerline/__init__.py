"""Bank statements in, double-entry journals out."""

from ledgerline.journal import Journal
from ledgerline.reading import StatementError, Transaction, read_statement

__version__ = "2.3.1"

__all__ = ["Journal", "StatementError", "Transaction", "read_statement"]
