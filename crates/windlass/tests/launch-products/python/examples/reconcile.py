"""Compare a journal with a statement."""

import sys

from ledgerline import Journal, read_statement


def main(statement: str) -> int:
    """Print what is in the statement and not in the journal."""
    journal = Journal.from_transactions([])
    missing = journal.missing(read_statement(statement))
    for transaction in missing:
        print(transaction)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
