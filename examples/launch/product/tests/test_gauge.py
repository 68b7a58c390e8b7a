import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

from tidemark.errors import GaugeError
from tidemark.gauge import Reading, read_gauge, split_at_gaps

NOON = datetime(2025, 3, 1, 12, tzinfo=timezone.utc)


class ReadGauge(unittest.TestCase):
    def read(self, text: str) -> list[Reading]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "gauge.csv")
            path.write_text(text, encoding="utf-8")
            return read_gauge(path)

    def test_readings_are_sorted(self) -> None:
        readings = self.read("time,height\n2025-03-01T12:10:00+00:00,2\n2025-03-01T12:00:00+00:00,1\n")
        self.assertEqual(readings[0], Reading(NOON, 1.0))

    def test_bad_files_are_refused(self) -> None:
        for text, message in [
            ("when,height\n", "line 1: there is no column 'time'"),
            ("time,height\n2025-03-01T12:00:00,1\n", "line 2: the time has no offset from UTC"),
            ("time,height\n2025-03-01T12:00:00+00:00,1\n2025-03-01T12:00:00+00:00,2\n", "two readings at"),
        ]:
            with self.subTest(text), self.assertRaises(GaugeError) as caught:
                self.read(text)
            self.assertIn(message, str(caught.exception))

    def test_a_gap_splits(self) -> None:
        readings = [Reading(NOON + timedelta(hours=hour), 0.0) for hour in (0, 2, 5)]
        self.assertEqual([len(run) for run in split_at_gaps(readings)], [2, 1])


if __name__ == "__main__":
    unittest.main()
