"""The command line: ``tidemark table`` and ``tidemark check``."""

import argparse
import sys

from tidemark import __version__
from tidemark.errors import GaugeError
from tidemark.export import to_csv, to_ical, to_json
from tidemark.extremes import find_extremes
from tidemark.gauge import read_gauge, split_at_gaps

#: The writer of each output format.
WRITERS = {"csv": to_csv, "json": to_json, "ical": to_ical}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (GaugeError, OSError) as error:
        print(f"tidemark: {options.file}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tidemark", description="High and low water from gauge readings.")
    parser.add_argument("--version", action="version", version=f"tidemark {__version__}")
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser("table", help="write a tide table")
    table.add_argument("file")
    table.add_argument("--prominence", type=float, default=0.1, help="in the unit of the heights")
    table.add_argument("--format", choices=sorted(WRITERS), default="csv")
    table.set_defaults(run=_table)
    check = commands.add_parser("check", help="count readings and gaps")
    check.add_argument("file")
    check.set_defaults(run=_check)
    return parser


def _table(options: argparse.Namespace) -> int:
    extremes = find_extremes(read_gauge(options.file), options.prominence)
    sys.stdout.write(WRITERS[options.format](extremes))
    return 0


def _check(options: argparse.Namespace) -> int:
    readings = read_gauge(options.file)
    runs = split_at_gaps(readings)
    print(f"{len(readings)} readings, {max(len(runs) - 1, 0)} gaps")
    return 0
