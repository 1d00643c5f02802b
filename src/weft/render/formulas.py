"""Formulas in markdown as MathML, which browsers draw themselves: no fonts, no script, nothing to fetch.

Between `$` and `$`, `$$` and `$$`, `\\(` and `\\)`, `\\[` and `\\]`, as models write them. An amount of money is none:
a sign next to a digit outside or a space inside begins nothing. What can't be made into MathML stands there as it was
written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any, Final

LONGEST: Final = 2_000
"""Characters of one formula; a longer one is shown as it is written."""
ELEMENTS: Final = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mo",
        "mn",
        "mtext",
        "ms",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mprescripts",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
        "menclose",
    ]
)
ATTRIBUTES: Final = {
    "math": {"display"},
    "mo": {"stretchy", "fence", "form", "separator", "accent", "movablelimits", "minsize", "maxsize"},
    "mi": {"mathvariant"},
    "mspace": {"width", "linebreak"},
    "mfrac": {"linethickness"},
    "mtable": {"displaystyle", "rowspacing", "columnspacing", "columnlines", "rowlines"},
    "mtd": {"columnalign"},
    "mstyle": {"displaystyle", "scriptlevel"},
}
_ENVIRONMENTS: Final = {"aligned": "split", "gathered": "matrix", "gather": "matrix", "eqnarray": "array"}
"""Names that LaTeX has for what the converter knows under another."""
_ENVIRONMENT: Final = re.compile(rf"\\(begin|end)\{{({'|'.join(_ENVIRONMENTS)})\*?\}}")
_UNKNOWN: Final = re.compile(r"<mi>(?:\\|&</mi>)")


def add_formulas(parser: Any) -> None:
    """To a markdown parser; one that has no packages for it shows them as they are written."""
    try:
        from mdit_py_plugins.dollarmath import dollarmath_plugin
        from mdit_py_plugins.texmath import texmath_plugin
    except ImportError:
        return
    dollarmath_plugin(parser, allow_space=False, allow_digits=False, double_inline=True)
    texmath_plugin(parser, delimiters="brackets")
    for kind in ("math_inline", "math_inline_double", "math_block", "math_block_label", "math_block_eqno"):
        parser.add_render_rule(kind, _drawn)


def _drawn(_: Any, tokens: Sequence[Any], index: int, __: Any, ___: Any) -> str:
    token = tokens[index]
    shown = formula(token.content, block=token.type != "math_inline")
    return f'<div class="formula">{shown}</div>' if token.block else shown


def formula(text: str, *, block: bool) -> str:
    """MathML of a formula; its own text where there is none."""
    written = f'<code class="formula">{html.escape(text.strip())}</code>'
    if len(text) > LONGEST:
        return written
    from latex2mathml.converter import convert

    try:
        made: str = convert(_ENVIRONMENT.sub(_known, text.strip()), display="block" if block else "inline")
    except Exception:  # noqa: BLE001 - whatever its many rules stumble over, the formula can still be read
        return written
    return written if _UNKNOWN.search(made) else made


def _known(found: re.Match[str]) -> str:
    return f"\\{found[1]}{{{_ENVIRONMENTS[found[2]]}}}"
