"""Does a confidence mean what it says: how often what was called 0.8 was right, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

Bin = tuple[float, float, float, int]
"""Where it begins, the mean of what was said, the share that was right, and how many there were."""


def bins(found: Sequence[tuple[float, bool, float]], width: float = 0.1) -> list[Bin]:
    """Of a confidence, whether it was right, and what it counts."""
    result: list[Bin] = []
    for number in range(round(1 / width)):
        low = number * width
        own = [one for one in found if low <= one[0] < low + width or (one[0] == 1 and number == round(1 / width) - 1)]
        whole = sum(count for _, _, count in own)
        if own:
            said = sum(value * count for value, _, count in own) / whole
            right = sum(count for _, good, count in own if good) / whole
            result.append((low, said, right, len(own)))
    return result


def table(found: Sequence[Bin]) -> str:
    lines = ["| confidence | questions | said | right |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {low:.1f} to {low + 0.1:.1f} | {count} | {said:.2f} | {right:.2f} |" for low, said, right, count in found
    ]
    return "\n".join(lines)


def picture(found: Sequence[Bin], size: int = 320) -> str:
    """An SVG: what was said to the right, what was right upwards; on the line both are the same."""
    margin = 40

    def at(x: float, y: float) -> tuple[float, float]:
        return margin + x * size, margin + (1 - y) * size

    most = max((count for _, _, _, count in found), default=1)
    marks = []
    for _, said, right, count in found:
        x, y = at(said, right)
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 + 8 * count / most:.1f}" fill="#2a6f97" fill-opacity="0.7"/>'
        )
    (x1, y1), (x2, y2) = at(0, 0), at(1, 1)
    whole = size + 2 * margin
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="sans-serif">',
        f'<rect width="{whole}" height="{whole}" fill="#fff"/>',
        f'<rect x="{margin}" y="{margin}" width="{size}" height="{size}" fill="none" stroke="#999"/>',
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#999" stroke-dasharray="4"/>',
        *marks,
        f'<text x="{whole / 2}" y="{whole - 12}" text-anchor="middle">confidence said</text>',
        f'<text x="14" y="{whole / 2}" text-anchor="middle" transform="rotate(-90 14 {whole / 2})">share right</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
