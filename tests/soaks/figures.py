"""What a soak has measured, held to what is promised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

_SLOWER = {"ms": 50.0, "s": 25.0, "%": 5.0}
"""So many times as much may it be beside all other tests, on any machine: a stall of a second is no lack of speed."""

Tell: TypeAlias = Callable[[str], None]
"""Says how far a soak is."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, and the most or the least that it may be; without either it is only told."""

    what: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None

    @property
    def missed(self) -> bool:
        """Whether the promise is not kept."""
        too_much = self.most is not None and self.value > self.most
        return too_much or (self.least is not None and self.value < self.least)


def broken_in_short(figures: Sequence[Figure]) -> list[Figure]:
    """What a short form has missed: speed is shown by the long forms alone, the suite holds it to what still moves."""
    return [figure for figure in figures if _in_the_suite(figure).missed]


def _in_the_suite(figure: Figure) -> Figure:
    slower = figure.unit in _SLOWER and figure.most is not None
    return replace(figure, most=(figure.most or 0) * _SLOWER[figure.unit]) if slower else figure


def table(figures: Sequence[Figure]) -> str:
    """The figures beside their bounds, a line each."""
    rows = [(figure.what, _number(figure.value, figure.unit), _bound(figure), _verdict(figure)) for figure in figures]
    rows.insert(0, ("figure", "measured", "promised", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{what:<{widths[0]}}  {value:>{widths[1]}}  {bound:>{widths[2]}}  {verdict}".rstrip()
        for what, value, bound, verdict in rows
    )


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of them lies; infinite where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def _number(value: float, unit: str) -> str:
    if value == float("inf"):
        return "never"
    whole = f"{value:,.0f}" if value == int(value) or abs(value) >= 1_000 else f"{value:,.3g}"
    return f"{whole} {unit}".rstrip()


def _bound(figure: Figure) -> str:
    if figure.most is not None:
        return f"≤ {_number(figure.most, figure.unit)}" if figure.most else _number(0, figure.unit)
    return f"≥ {_number(figure.least, figure.unit)}" if figure.least is not None else ""


def _verdict(figure: Figure) -> str:
    if figure.most is None and figure.least is None:
        return ""
    return "MISSED" if figure.missed else "kept"
