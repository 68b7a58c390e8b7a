"""This example was left unfinished."""

from ledgerline import read_statement

for transaction in read_statement("march.csv")
    print(transaction
