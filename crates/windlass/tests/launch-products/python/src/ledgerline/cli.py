"""The command line."""

import sys

from ledgerline import Journal, read_statement


def main() -> int:
    """Print the journal of every statement that is named."""
    for path in sys.argv[1:]:
        sys.stdout.write(Journal.from_transactions(read_statement(path)).render())
    return 0
