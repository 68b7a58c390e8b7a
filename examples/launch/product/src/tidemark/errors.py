"""The error that everything here raises."""


class GaugeError(ValueError):
    """A gauge file that cannot be used, with the line that is wrong."""

    def __init__(self, message: str, line: int | None = None) -> None:
        where = "" if line is None else f"line {line}: "
        super().__init__(f"{where}{message}")
        self.line = line
