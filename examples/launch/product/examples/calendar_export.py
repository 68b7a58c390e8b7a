"""Write the tides of a gauge file as a calendar."""

import sys

from tidemark import find_extremes, read_gauge, to_ical


def main(source: str, target: str) -> None:
    """Read a gauge file and write an iCalendar file."""
    extremes = find_extremes(read_gauge(source), prominence=0.2)
    with open(target, "w", encoding="utf-8", newline="") as calendar:
        calendar.write(to_ical(extremes, name="Tides"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
