"""Write turning points as CSV, JSON and iCalendar text."""

import csv
import io
import json
from datetime import timezone

from tidemark.extremes import Extreme


def to_csv(extremes: list[Extreme]) -> str:
    """Return the extremes as CSV with the columns time, kind and height."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["time", "kind", "height"])
    for extreme in extremes:
        rows.writerow([extreme.time.isoformat(), extreme.kind, f"{extreme.height:.3f}"])
    return text.getvalue()


def to_json(extremes: list[Extreme]) -> str:
    """Return the extremes as a JSON array of objects."""
    items = [
        {"time": extreme.time.isoformat(), "kind": extreme.kind, "height": extreme.height}
        for extreme in extremes
    ]
    return json.dumps(items, indent=2) + "\n"


def to_ical(extremes: list[Extreme], name: str = "Tides") -> str:
    """Return the extremes as an iCalendar file with one event each."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tidemark//EN", f"X-WR-CALNAME:{_text(name)}"]
    for extreme in extremes:
        start = extreme.time.astimezone(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        lines += [
            "BEGIN:VEVENT",
            f"UID:{start}-{extreme.kind}@tidemark",
            f"DTSTAMP:{start}",
            f"DTSTART:{start}",
            f"SUMMARY:{extreme.kind.capitalize()} water {extreme.height:.2f}",
            "END:VEVENT",
        ]
    lines.append("END:VCALENDAR")
    return "".join(f"{line}\r\n" for line in lines)


def _text(value: str) -> str:
    """Escape what iCalendar would read as syntax."""
    for mark in ("\\", ";", ","):
        value = value.replace(mark, f"\\{mark}")
    return value.replace("\n", "\\n")
