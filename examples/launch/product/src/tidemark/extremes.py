"""Find the turning points of a curve of readings."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidemark.gauge import Reading, split_at_gaps


@dataclass(frozen=True, order=True)
class Extreme:
    """High or low water: when, how high, and which of the two."""

    time: datetime
    height: float
    kind: str


def find_extremes(readings: list[Reading], prominence: float = 0.1) -> list[Extreme]:
    """Return every high and low water, in order of time.

    A turning point counts when the water moves by at least the prominence on
    both sides of it. The ends of a run of readings are no turning points.
    """
    if prominence <= 0:
        raise ValueError("prominence must be more than zero")
    found: list[Extreme] = []
    for run in split_at_gaps(sorted(readings)):
        found.extend(_turning_points(run, prominence))
    return found


def _turning_points(run: list[Reading], prominence: float) -> list[Extreme]:
    found: list[Extreme] = []
    low = high = 0
    direction = 0
    for index, reading in enumerate(run):
        if reading.height > run[high].height:
            high = index
        if reading.height < run[low].height:
            low = index
        if direction >= 0 and run[high].height - reading.height >= prominence:
            if direction > 0:
                found.append(_refined(run, high, "high"))
            direction, low = -1, index
        elif direction <= 0 and reading.height - run[low].height >= prominence:
            if direction < 0:
                found.append(_refined(run, low, "low"))
            direction, high = 1, index
    return found


def _refined(run: list[Reading], index: int, kind: str) -> Extreme:
    """The vertex of the parabola through a reading and its two neighbours."""
    middle = run[index]
    if not 0 < index < len(run) - 1:
        return Extreme(middle.time, middle.height, kind)
    before, after = run[index - 1], run[index + 1]
    x0 = (before.time - middle.time).total_seconds()
    x2 = (after.time - middle.time).total_seconds()
    y0 = before.height - middle.height
    y2 = after.height - middle.height
    # y = a x² + b x through (x0, y0), (0, 0) and (x2, y2).
    determinant = x0 * x2 * (x0 - x2)
    a = (y0 * x2 - y2 * x0) / determinant
    b = (y2 * x0 * x0 - y0 * x2 * x2) / determinant
    if a == 0:
        return Extreme(middle.time, middle.height, kind)
    shift = -b / (2 * a)
    height = middle.height + b * shift / 2
    return Extreme(middle.time + timedelta(seconds=round(shift)), round(height, 3), kind)
