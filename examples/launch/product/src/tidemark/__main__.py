"""Run the command line with ``python -m tidemark``."""

import sys

from tidemark.cli import main

if __name__ == "__main__":
    sys.exit(main())
