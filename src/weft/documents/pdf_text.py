"""What a page of a PDF paints as text: pieces with their place, size and kind of font, in the order they are painted.

Only the operators that move or show text are followed, in content streams and the forms they use. The objects, the
streams and their limits are pypdf's; so are the fonts, by the one private name that is imported here. pypdf's own
`extract_text` gives lines but no places, and takes three times as long.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Final, NamedTuple, cast

from weft.documents.pdf_stream import tokens

Matrix = tuple[float, float, float, float, float, float]

_FORM_DEPTH: Final = 12
_FORM_COUNT: Final = 2_000
_PIECE_LIMIT: Final = 200_000
_PAGE_BYTES: Final = 64 * 2**20
_WORD_GAP: Final = 0.16
_COLUMN_GAP: Final = 1.5
_FIXED: Final = re.compile(r"mono|courier|consolas|typewriter|cmtt|menlo|fixed", re.IGNORECASE)
_BOLD: Final = re.compile(r"bold|black|heavy|semibold|cmbx|demi", re.IGNORECASE)
_START: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class PdfText(NamedTuple):
    """Text from `x` to `end` on the line at `y`; y grows upwards."""

    text: str
    x: float
    end: float
    y: float
    size: float
    fixed: bool = False
    bold: bool = False


class Painted(NamedTuple):
    pieces: list[PdfText]
    unreadable: int
    """Characters of fonts that do not say which letters they are."""
    turned: int
    """Characters that run in another direction than most of the page."""
    artifacts: int
    """Characters that the file itself marks as header or footer."""
    followed: int
    """Bytes of content that were followed: what the page cost."""


class Glyphs:
    """A font as it is needed here: what a code shows and how wide it is."""

    def __init__(self, font: Any, *, readable: bool) -> None:
        self.encoding = font.encoding
        self.map = font.character_map
        self.widths = font.character_widths
        self.default = float(self.widths.get("default", 500))
        self.readable = readable and font.interpretable
        flags = font.font_descriptor.flags
        self.fixed = (isinstance(flags, int) and bool(flags & 1)) or bool(_FIXED.search(font.name))
        self.bold = bool(_BOLD.search(font.name))
        self.known: dict[str, tuple[str, float]] = {}

    def show(self, data: bytes) -> tuple[list[tuple[str, float]], int]:
        """Each character with its width in thousandths, and how many are a space of one byte."""
        if isinstance(self.encoding, str):
            try:
                codes = data.decode(self.encoding, "surrogatepass" if self.encoding.startswith("utf") else "replace")
            except (UnicodeDecodeError, LookupError):
                codes = data.decode("utf-16-be", "replace")
            spaces = 0
        else:
            codes = data.decode("latin-1")
            spaces = codes.count(" ")
        known = self.known
        return [known.get(code) or self._learn(code) for code in codes], spaces

    def _learn(self, code: str) -> tuple[str, float]:
        shown = self.encoding.get(ord(code), code) if isinstance(self.encoding, dict) else code
        text = self.map.get(shown, self.map.get(code, shown))
        width = self.widths.get(code, self.default)
        found = (
            text if isinstance(text, str) else code,
            float(width) if isinstance(width, int | float) else self.default,
        )
        self.known[code] = found
        return found


def times(left: Matrix, right: Matrix) -> Matrix:
    a, b, c, d, e, f = left
    g, h, i, j, k, m = right
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


class _State:
    """What `q` saves and `Q` brings back."""

    __slots__ = ("font", "leading", "matrix", "rise", "scale", "size", "spacing", "word_spacing")

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.font: Glyphs | None = None
        self.size = self.leading = self.spacing = self.word_spacing = self.rise = 0.0
        self.scale = 1.0


class Painter:
    """Follows one page. `fonts` outlives it: pages share fonts, and reading one is slow."""

    def __init__(self, fonts: dict[Any, Glyphs | None]) -> None:
        self.fonts = fonts
        self.pieces: list[tuple[int, PdfText]] = []
        self.unreadable = self.artifacts = self.forms = self.followed = 0
        self.state = _State(_START)
        self.saved: list[_State] = []
        self.text = self.line = _START
        self.marked: list[bool] = []
        self.numbers = {b"Tc": "spacing", b"Tw": "word_spacing", b"TL": "leading", b"Ts": "rise"}
        self.operators: dict[bytes, Callable[[list[Any]], None]] = {
            b"BT": self._begin,
            b"Td": lambda operands: self._move(float(operands[-2]), float(operands[-1])),
            b"TD": self._move_and_lead,
            b"Tm": self._set_matrix,
            b"T*": lambda _: self._move(0.0, -self.state.leading),
            b"Tj": self._show,
            b"TJ": self._show,
            b"'": self._show_on_next_line,
            b'"': self._show_spaced,
            b"Tz": self._set_scale,
            b"cm": self._transform,
            b"q": self._save,
            b"Q": self._restore,
            b"BDC": self._mark,
            b"BMC": self._mark,
            b"EMC": self._unmark,
        }

    def page(self, page: Any) -> Painted:
        contents = page.get_contents()
        if contents is not None:
            self._stream(contents.get_data(), _object(page.get("/Resources")), 0)
        counts = [0, 0, 0, 0]
        for turn, piece in self.pieces:
            counts[turn] += len(piece.text)
        upright = counts.index(max(counts))
        pieces = [piece for turn, piece in self.pieces if turn == upright]
        return Painted(pieces, self.unreadable, sum(counts) - counts[upright], self.artifacts, self.followed)

    def _stream(self, data: bytes, resources: Any, depth: int) -> None:
        fonts = _object(resources.get("/Font")) if isinstance(resources, dict) else None
        self.followed += len(data)
        if self.followed > _PAGE_BYTES:
            return
        for operator, operands in tokens(data):
            if len(self.pieces) > _PIECE_LIMIT:
                return
            try:
                if operator in self.operators:
                    self.operators[operator](operands)
                elif operator == b"Tf":
                    self.state.font, self.state.size = self._font(fonts, operands[-2]), float(operands[-1])
                elif operator == b"Do":
                    self._form(resources, operands[-1], depth)
                elif operator in self.numbers:
                    setattr(self.state, self.numbers[operator], float(operands[-1]))
            except (ValueError, TypeError, IndexError, OverflowError):
                continue  # an operator with the wrong operands is passed over, as every viewer does

    def _begin(self, _: list[Any]) -> None:
        self.text = self.line = _START

    def _set_matrix(self, operands: list[Any]) -> None:
        self.text = self.line = _matrix(operands)

    def _set_scale(self, operands: list[Any]) -> None:
        self.state.scale = float(operands[-1]) / 100

    def _transform(self, operands: list[Any]) -> None:
        self.state.matrix = times(_matrix(operands), self.state.matrix)

    def _save(self, _: list[Any]) -> None:
        if len(self.saved) < 1000:
            self.saved.append(copy(self.state))

    def _restore(self, _: list[Any]) -> None:
        if self.saved:
            self.state = self.saved.pop()

    def _mark(self, operands: list[Any]) -> None:
        self.marked.append("Artifact" in operands and "Pagination" in operands)

    def _unmark(self, _: list[Any]) -> None:
        del self.marked[-1:]

    def _move(self, x: float, y: float) -> None:
        self.text = self.line = times((1.0, 0.0, 0.0, 1.0, x, y), self.line)

    def _move_and_lead(self, operands: list[Any]) -> None:
        self.state.leading = -float(operands[-1])
        self._move(float(operands[-2]), float(operands[-1]))

    def _font(self, fonts: Any, name: str) -> Glyphs | None:
        if not isinstance(fonts, dict) or f"/{name}" not in fonts:
            return None
        raw = cast(Any, fonts).raw_get(f"/{name}")
        key = getattr(raw, "idnum", None) or id(_object(raw))
        if key not in self.fonts:
            self.fonts[key] = _glyphs(_object(raw))
        return self.fonts[key]

    def _form(self, resources: Any, name: str, depth: int) -> None:
        forms = _object(resources.get("/XObject")) if isinstance(resources, dict) else None
        form = _object(forms.get(f"/{name}")) if isinstance(forms, dict) else None
        if form is None or form.get("/Subtype") != "/Form" or depth >= _FORM_DEPTH or self.forms >= _FORM_COUNT:
            return
        self.forms += 1
        before = (self.state, self.saved, self.text, self.line)
        self.state, self.saved = copy(self.state), []
        matrix = form.get("/Matrix")
        if isinstance(matrix, list) and len(matrix) == 6:
            self.state.matrix = times(_matrix(matrix), self.state.matrix)
        own = _object(form.get("/Resources"))
        self._stream(form.get_data(), own if isinstance(own, dict) else resources, depth + 1)
        self.state, self.saved, self.text, self.line = before

    # -- showing

    def _show_on_next_line(self, operands: list[Any]) -> None:
        self._move(0.0, -self.state.leading)
        self._show(operands)

    def _show_spaced(self, operands: list[Any]) -> None:
        self.state.word_spacing, self.state.spacing = float(operands[-3]), float(operands[-2])
        self._show_on_next_line(operands)

    def _show(self, operands: list[Any]) -> None:
        font, size = self.state.font, self.state.size
        if font is None:
            return
        run = _Run(self, self.state, font)
        for part in operands[-1] if isinstance(operands[-1], list) else [operands[-1]]:
            if isinstance(part, bytes):
                run.show(part)
            elif isinstance(part, float):
                run.x -= part / 1000 * size * self.state.scale
        run.flush()
        self.text = times((1.0, 0.0, 0.0, 1.0, run.x, 0.0), self.text)

    def add(self, text: str, start: float, end: float, font: Glyphs) -> None:
        if not text.strip():
            return
        if any(self.marked):
            self.artifacts += len(text)
        elif not font.readable:
            self.unreadable += len(text)
        else:
            state = self.state
            matrix = times(self.text, state.matrix)
            self.pieces.append(_placed(text, start, end, state.rise, state.size, matrix, font))


class _Run:
    """One string or list of strings being shown: letters until a gap so wide that another column begins."""

    def __init__(self, painter: Painter, state: _State, font: Glyphs) -> None:
        self.painter = painter
        self.state = state
        self.font = font
        self.x = self.start = self.end = 0.0
        self.letters: list[str] = []

    def show(self, data: bytes) -> None:
        state = self.state
        glyphs, spaces = self.font.show(data)
        self._space()
        width = sum(glyph[1] for glyph in glyphs) / 1000 * state.size + state.spacing * len(glyphs)
        self.letters += [glyph[0] for glyph in glyphs]
        self.x += (width + state.word_spacing * spaces) * state.scale
        self.end = self.x

    def _space(self) -> None:
        gap, size = self.x - self.end, abs(self.state.size) or 1.0
        if not self.letters:
            self.start = self.x
        elif abs(gap) > _COLUMN_GAP * size:
            self.flush()
            self.start = self.x
        elif gap > _WORD_GAP * size and self.letters[-1] != " ":
            self.letters.append(" ")

    def flush(self) -> None:
        if self.letters:
            self.painter.add("".join(self.letters), self.start, self.end, self.font)
            self.letters = []


def _placed(
    text: str, start: float, end: float, rise: float, size: float, matrix: Matrix, font: Glyphs
) -> tuple[int, PdfText]:
    """A piece in the coordinates of a reader who turns the page so that it stands upright, and how often they turn."""
    a, b, c, d, e, f = matrix
    x1, y1 = start * a + rise * c + e, start * b + rise * d + f
    x2, y2 = end * a + rise * c + e, end * b + rise * d + f
    height = abs(size) * (math.hypot(c, d) or math.hypot(a, b))
    turn = round(math.atan2(b, a) / (math.pi / 2)) % 4
    for _ in range(turn):
        x1, y1, x2, y2 = y1, -x1, y2, -x2
    if x2 < x1:
        x1, x2 = x2, x1
    return turn, PdfText(text, x1, x2, y1, height, font.fixed, font.bold)


def _glyphs(font: Any) -> Glyphs | None:
    from pypdf.errors import PyPdfError
    from pypdf.generic._font import Font

    if not isinstance(font, dict):
        return None
    try:
        # a composite font without a map to letters has only numbers of shapes
        mapped = (
            "/ToUnicode" in font or font.get("/Subtype") != "/Type0" or "Identity" not in str(font.get("/Encoding"))
        )
        return Glyphs(Font.from_font_resource(font), readable=mapped)  # type: ignore[arg-type]
    except (PyPdfError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError):
        return None


def _matrix(values: Sequence[Any]) -> Matrix:
    a, b, c, d, e, f = (float(value) for value in values[-6:])
    return a, b, c, d, e, f


def _object(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value
