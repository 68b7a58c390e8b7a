"""Read what a tide gauge wrote."""

import csv
from dataclasses import dataclass
from datetime import datetime, timedelta
from os import PathLike

from tidemark.errors import GaugeError

#: Readings farther apart than this are not joined.
MAX_GAP = timedelta(hours=2)


@dataclass(frozen=True, order=True)
class Reading:
    """One height of the water at one time."""

    time: datetime
    height: float


def read_gauge(
    path: str | PathLike[str],
    time_column: str = "time",
    height_column: str = "height",
) -> list[Reading]:
    """Read a CSV file and return its readings, sorted by time.

    Raises GaugeError when a column is missing, a value cannot be read, a time
    has no offset from UTC, or two readings have the same time.
    """
    readings = []
    with open(path, encoding="utf-8-sig", newline="") as source:
        rows = csv.DictReader(source)
        for column in (time_column, height_column):
            if column not in (rows.fieldnames or []):
                raise GaugeError(f"there is no column {column!r}", line=1)
        for row in rows:
            readings.append(_reading(row[time_column], row[height_column], rows.line_num))
    readings.sort()
    for earlier, later in zip(readings, readings[1:]):
        if earlier.time == later.time:
            raise GaugeError(f"two readings at {later.time.isoformat()}")
    return readings


def _reading(time: str | None, height: str | None, line: int) -> Reading:
    try:
        moment = datetime.fromisoformat(time or "")
        value = float(height or "")
    except ValueError as error:
        raise GaugeError(str(error), line) from error
    if moment.tzinfo is None:
        raise GaugeError("the time has no offset from UTC", line)
    return Reading(moment, value)


def split_at_gaps(readings: list[Reading]) -> list[list[Reading]]:
    """Split sorted readings wherever two are farther apart than MAX_GAP."""
    runs: list[list[Reading]] = []
    for reading in readings:
        if not runs or reading.time - runs[-1][-1].time > MAX_GAP:
            runs.append([])
        runs[-1].append(reading)
    return runs
