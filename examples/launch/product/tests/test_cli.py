import contextlib
import io
import json
import unittest
from pathlib import Path

from tidemark.cli import main

GAUGE = str(Path(__file__).parent.parent / "examples" / "gauge.csv")


class CommandLine(unittest.TestCase):
    def run_it(self, *arguments: str) -> tuple[int, str]:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            return main(list(arguments)), shown.getvalue()

    def test_table(self) -> None:
        status, shown = self.run_it("table", GAUGE, "--prominence", "0.2", "--format", "json")
        self.assertEqual(status, 0)
        self.assertEqual([item["kind"] for item in json.loads(shown)], ["high", "low", "high", "low"])

    def test_check(self) -> None:
        self.assertEqual(self.run_it("check", GAUGE), (0, "157 readings, 0 gaps\n"))

    def test_a_missing_file(self) -> None:
        self.assertEqual(self.run_it("check", "none.csv")[0], 1)


if __name__ == "__main__":
    unittest.main()
