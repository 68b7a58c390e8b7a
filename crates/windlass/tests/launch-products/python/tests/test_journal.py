from ledgerline import Journal


def test_an_empty_journal_renders_to_nothing():
    assert Journal.from_transactions([]).render() == ""
