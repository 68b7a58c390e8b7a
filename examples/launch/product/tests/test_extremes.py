import math
import unittest
from datetime import datetime, timedelta, timezone

from tidemark.extremes import find_extremes
from tidemark.gauge import Reading

START = datetime(2025, 3, 1, tzinfo=timezone.utc)
PERIOD = 745.2


def tide(minutes: int, ripple: float = 0.0) -> Reading:
    height = 2 + 1.5 * math.cos(2 * math.pi * minutes / PERIOD) + ripple * math.sin(minutes)
    return Reading(START + timedelta(minutes=minutes), height)


class FindExtremes(unittest.TestCase):
    def test_times_are_better_than_the_interval(self) -> None:
        extremes = find_extremes([tide(minute) for minute in range(-100, 1500, 10)], 0.2)
        self.assertEqual([extreme.kind for extreme in extremes], ["high", "low", "high", "low"])
        for number, extreme in enumerate(extremes):
            expected = START + timedelta(minutes=number * PERIOD / 2)
            self.assertLess(abs(extreme.time - expected), timedelta(seconds=30))

    def test_ripples_are_ignored(self) -> None:
        readings = [tide(minute, ripple=0.04) for minute in range(-100, 1000, 10)]
        self.assertEqual(len(find_extremes(readings, 0.2)), 3)

    def test_prominence_must_be_positive(self) -> None:
        with self.assertRaises(ValueError):
            find_extremes([], 0)


if __name__ == "__main__":
    unittest.main()
