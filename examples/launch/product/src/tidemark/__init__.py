"""Find high and low water in tide gauge readings."""

from tidemark.errors import GaugeError
from tidemark.export import to_csv, to_ical, to_json
from tidemark.extremes import Extreme, find_extremes
from tidemark.gauge import Reading, read_gauge

__version__ = "1.4.0"

__all__ = [
    "Extreme",
    "GaugeError",
    "Reading",
    "find_extremes",
    "read_gauge",
    "to_csv",
    "to_ical",
    "to_json",
]
