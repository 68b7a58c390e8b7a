import json
import unittest
from datetime import datetime, timezone

from tidemark import Extreme, to_csv, to_ical, to_json

HIGH = Extreme(datetime(2025, 3, 1, 12, tzinfo=timezone.utc), 3.5, "high")


class Export(unittest.TestCase):
    def test_csv(self) -> None:
        self.assertEqual(to_csv([HIGH]), "time,kind,height\n2025-03-01T12:00:00+00:00,high,3.500\n")

    def test_json(self) -> None:
        self.assertEqual(json.loads(to_json([HIGH]))[0]["height"], 3.5)

    def test_ical(self) -> None:
        text = to_ical([HIGH], name="Quay, north")
        self.assertIn("DTSTART:20250301T120000Z\r\n", text)
        self.assertIn("X-WR-CALNAME:Quay\\, north\r\n", text)


if __name__ == "__main__":
    unittest.main()
