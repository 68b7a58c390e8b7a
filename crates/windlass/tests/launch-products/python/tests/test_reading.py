from ledgerline import read_statement


def test_rows_are_sorted_by_date(tmp_path):
    """Transactions come in order of date."""
    path = tmp_path / "a.csv"
    path.write_text("date,amount,payee\n2025-03-02,1,B\n2025-03-01,2,A\n")
    assert [item.payee for item in read_statement(str(path))] == ["A", "B"]
