"""Print every turning point of a gauge file."""

import sys

from tidemark import find_extremes, read_gauge


def main(path: str) -> None:
    """Read one file and print its turning points."""
    for extreme in find_extremes(read_gauge(path), prominence=0.2):
        print(f"{extreme.time:%Y-%m-%d %H:%M} {extreme.kind:<4} {extreme.height:6.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
