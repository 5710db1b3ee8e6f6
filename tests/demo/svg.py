"""Small plots over time as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 380, 120
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 22, 18


@dataclass(frozen=True)
class Line:
    """One line of a plot; a stepped line keeps each value until the next."""

    label: str
    colour: str
    times_s: Sequence[float]
    values: Sequence[float]
    stepped: bool = False
    filled: bool = False
    dashed: bool = False


@dataclass
class Plot:
    """Lines on shared axes."""

    title: str
    end_s: float
    top: float
    lines: list[Line]
    mark: float | None = None
    """A horizontal line, for a node's physical size."""

    _parts: list[str] = field(default_factory=list, repr=False)

    def svg(self) -> str:
        self._parts = []
        self._axes()
        for line in self.lines:
            self._draw(line)
        if self.mark is not None:
            y = self._y(self.mark)
            self._parts.append(
                f'<line class="mark" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
        body = "".join(self._parts)
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(self.title)}">{body}</svg>'
        )

    def _x(self, time_s: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(max(time_s / self.end_s, 0), 1)

    def _y(self, value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(max(value / self.top, 0), 1))

    def _axes(self) -> None:
        parts = self._parts
        parts.append(f'<text class="title" x="{LEFT}" y="11">{escape(self.title)}</text>')
        for value in (0, self.top / 2, self.top):
            y = self._y(value)
            parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            parts.append(f'<text class="y" x="{LEFT - 4}" y="{y + 3:.1f}">{tick(value)}</text>')
        for time_s in times(self.end_s):
            x = self._x(time_s)
            parts.append(f'<text class="x" x="{x:.1f}" y="{HEIGHT - 5}">{time_s:g}</text>')

    def _draw(self, line: Line) -> None:
        points = [(self._x(t), self._y(v)) for t, v in zip(line.times_s, line.values, strict=True)]
        if not points:
            return
        if line.stepped:
            points = _steps(points)
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        if line.filled:
            base = self._y(0)
            area = f"{path}L{points[-1][0]:.1f} {base:.1f}L{points[0][0]:.1f} {base:.1f}Z"
            self._parts.append(f'<path d="{area}" fill="{line.colour}" fill-opacity="0.22"/>')
        dashes = ' stroke-dasharray="4 3"' if line.dashed else ""
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{line.colour}" stroke-width="1.4"{dashes}/>'
        )


@dataclass(frozen=True)
class Bar:
    """One application: waits from `from_s` to `start_s`, and runs until `end_s`."""

    label: str
    from_s: float
    start_s: float
    end_s: float
    failed: bool


def gantt(bars: Sequence[Bar], end_s: float) -> str:
    """The applications of a round, one below the other."""
    width, left, row = 1160, 190, 20
    height = row * len(bars) + 22
    scale = (width - left - 10) / end_s
    parts = []
    for time_s in times(end_s, 12):
        x = left + time_s * scale
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - 18}"/>')
        parts.append(f'<text class="x" x="{x:.1f}" y="{height - 5}">{time_s:g} s</text>')
    for index, bar in enumerate(bars):
        y = index * row + 3
        parts.append(f'<text class="label" x="{left - 8}" y="{y + 11}">{escape(bar.label)}</text>')
        for begin, end, kind in (
            (bar.from_s, bar.start_s, "waits"),
            (bar.start_s, bar.end_s, "failed" if bar.failed else "runs"),
        ):
            parts.append(
                f'<rect class="{kind}" x="{left + begin * scale:.1f}" y="{y}" '
                f'width="{max(end - begin, 0) * scale:.1f}" height="14"/>'
            )
        x = left + bar.end_s * scale
        seconds = bar.end_s - bar.from_s
        parts.append(f'<text class="seconds" x="{x + 4:.1f}" y="{y + 11}">{seconds:.0f} s</text>')
    return (
        f'<svg class="gantt" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="applications over time">{"".join(parts)}</svg>'
    )


@dataclass(frozen=True)
class Measure:
    """One bar for each round, all on one scale."""

    title: str
    seconds: Sequence[tuple[str, float]]
    """By the round's name."""


def comparison(measures: Sequence[Measure], ours: str) -> str:
    """Horizontal bars, one for each round, for one measure below the other. The bars of the round
    `ours` stand out."""
    width, left, row, title = 1160, 190, 22, 24
    height = sum(title + row * len(measure.seconds) + 10 for measure in measures)
    parts = []
    y = 0
    for measure in measures:
        scale = (width - left - 80) / max(seconds for _, seconds in measure.seconds)
        parts.append(f'<text class="head" x="{left}" y="{y + 15}">{escape(measure.title)}</text>')
        y += title
        for name, seconds in measure.seconds:
            length = seconds * scale
            kind = "ours" if name == ours else "theirs"
            parts += [
                f'<text class="label" x="{left - 8}" y="{y + 12}">{escape(name)}</text>',
                f'<rect class="{kind}" x="{left}" y="{y}" width="{length:.1f}" height="16"/>',
                f'<text class="seconds" x="{left + length + 4:.1f}" y="{y + 12}">'
                f"{seconds:.0f} s</text>",
            ]
            y += row
        y += 10
    return (
        f'<svg class="comparison" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="the rounds compared">{"".join(parts)}</svg>'
    )


def tick(value: float) -> str:
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def times(end_s: float, most: int = 6) -> list[int]:
    """Round values in seconds along the axis, about `most` of them at most."""
    step = next(step for step in (10, 20, 30, 60, 120, 300, 600, 1200) if end_s / step <= most)
    return list(range(0, int(end_s) + 1, step))


def _steps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    stepped = points[:1]
    for (_, before), (x, y) in pairwise(points):
        stepped += [(x, before), (x, y)]
    return stepped
