"""Org, AsciiDoc, reStructuredText, LaTeX and notebooks as markdown: headings stay headings, code code, words words.

What a reader would see is kept; of what only steers the setting, what is not known here stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import dedent
from typing import Any, Final

from weft.documents.document import Draft, RefusedError
from weft.documents.markdown import raised
from weft.documents.prose import read_markdown
from weft.documents.rst_tables import read_table
from weft.protocol.json_text import json_value

_ORG_HEADING: Final = re.compile(r"(\*+) +(.*?)(?:\s+:[\w@:]+:)?\s*$")
_ORG_BLOCK: Final = re.compile(r"\s*#\+(begin|end)_(\w+)\s*(\S*)", re.IGNORECASE)
_ORG_TITLE: Final = re.compile(r"#\+title:\s*(.+)", re.IGNORECASE)
_ORG_SETTING: Final = re.compile(
    r"\s*(?:#\+(?:options|startup|property|setupfile|latex\w*|html\w*|export\w*)\w*:.*|:\w+:.*)", re.IGNORECASE
)
_ORG_RULE: Final = re.compile(r"\s*\|[-+]+\|?\s*$")
_ORG_CODE: Final = frozenset(("src", "example", "export"))
_ADOC_HEADING: Final = re.compile(r"(={1,6}) +(\S.*)")
_ADOC_SOURCE: Final = re.compile(r"\[source(?:%\w+)*(?:,\s*(\w+))?.*\]\s*$")
_ADOC_SETTING: Final = re.compile(r"\[(?:\[[\w.-]+\]|[a-z]+)\]\s*$")
"""What a place is called for references, and what is set how: `[[knots]]`, `[preface]`."""
_ADOC_FENCE: Final = re.compile(r"(-{4,}|\.{4,})\s*$")
_RST_LINE: Final = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}\s*$")
_RST_UNSEEN: Final = re.compile(
    r"\s*\.\. (?:_[^:]+:(?:\s.*)?|\|[^|]+\| .*|(?:contents|index|highlight|currentmodule|default-role|role|meta)::.*)$"
)
_RST_DIRECTIVE: Final = re.compile(r"(\s*)\.\. ([\w:-]+)::\s*(.*)$")
_RST_CODE: Final = frozenset(("code-block", "code", "sourcecode", "parsed-literal", "prompt", "doctest"))
_RST_NOTES: Final = frozenset(
    (
        *("note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error", "seealso"),
        *("admonition", "versionadded", "versionchanged", "deprecated"),
    )
)
_RST_AGAIN: Final = 20
"""How often a text is read again for what stands in blocks inside of blocks; what is deeper stays as it is written."""
_RST_OPTION: Final = re.compile(r"\s+:[\w-]+:(?:\s.*)?$")
_RST_INLINE: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"``([^`\n]+)``"), r"`\1`"),
    (
        re.compile(r"(?:\\ )?:(su[pb])(?:(?:er)?script)?:`([^`]{1,100})`(?:\\ )?"),
        lambda found: raised(found[2], found[1]),
    ),
    (re.compile(r"^(\s*)\| (?!.*\|\s*$)", re.MULTILINE), r"\1"),
    (re.compile(r"\\ "), ""),
    (re.compile(r":[\w:+.-]+:`[~!]?([^`<]{1,300}?)\s*<[^`>]+>`"), r"\1"),
    (re.compile(r":[\w:+.-]+:`[~!]?([^`<]+)`"), r"\1"),
    (re.compile(r"`([^`<]{1,300}?)\s*<(https?://[^`>\s]+)>`__?"), r"[\1](\2)"),
    (re.compile(r"(?<!`)`([^`<]{1,300}?)(?:\s*<[^`>]+>)?`__?(?!\w)"), r"\1"),
)
_TEX_HEADING: Final = re.compile(
    r"\\(part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]{0,200}\}){0,300}+)\}"
)
_TEX_LEVELS: Final = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_TEX_CODE: Final = re.compile(r"\\begin\{(verbatim\*?|lstlisting|minted)\}[^\n]*\n(.*?)\\end\{\1\}", re.DOTALL)
_TEX_COMMENT: Final = re.compile(r"(?<!\\)%.*")
_TEX_TITLE: Final = re.compile(r"\\title(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]{0,200}\}){0,300}+)\}")
_TEX_STYLE: Final = re.compile(
    r"\\(?:emph|text\w\w|texttt|underline|textsc|textsf|mbox|footnote|caption|url)\{([^{}]*)\}"
)
_TEX_FRAME: Final = re.compile(
    r"\\(?:begin|end)\{[^{}]*\}(?:\[[^\]\n]*\]|\{[^{}\n]*\})*|\\(?:maketitle|centering|noindent|hline|label\{[^{}]*\})"
)
_TEX_SIGNS: Final = (
    ("\\\\", "\n"),
    ("~", " "),
    ("---", "—"),
    ("--", "–"),
    ("``", "“"),
    ("''", "”"),
    *((f"\\{sign}", sign) for sign in "&%_$#{}"),
)


def read_other_markup(text: str, name: str) -> Draft:
    """`name` ends in one of `kinds.OTHER_MARKUPS`."""
    reader = next(reader for ending, reader in _READERS.items() if name.lower().endswith(ending))
    return read_markdown(reader(text))


def _org(text: str) -> str:
    title = _ORG_TITLE.search(text)
    deeper = "#" if title else ""
    lines, code = [f"# {title[1].strip()}", ""] if title else [], False
    for line in text.split("\n"):
        block = _ORG_BLOCK.match(line)
        if block and block[2].lower() in _ORG_CODE:
            code = block[1].lower() == "begin"
            lines.append(f"```{block[3]}" if code else "```")
        elif code:
            lines.append(line)
        elif block or _ORG_SETTING.fullmatch(line) or _ORG_TITLE.match(line):
            continue
        elif heading := _ORG_HEADING.match(line):
            lines += ["", f"{(deeper + '#' * len(heading[1]))[:6]} {heading[2]}", ""]
        else:
            lines.append(line.replace("+", "|") if _ORG_RULE.match(line) else line)
    return "\n".join(lines)


def _asciidoc(text: str) -> str:
    lines, fence, language = [], "", ""
    for line in text.split("\n"):
        edge = _ADOC_FENCE.match(line)
        if fence:
            ends = line.rstrip() == fence
            lines.append("```" if ends else line)
            fence = "" if ends else fence
        elif edge:
            fence = edge[1]
            lines.append(f"```{language}")
            language = ""
        elif source := _ADOC_SOURCE.match(line):
            language = source[1] or ""
        elif _ADOC_SETTING.match(line):
            continue
        elif heading := _ADOC_HEADING.match(line):
            lines += ["", f"{'#' * len(heading[1])} {heading[2]}", ""]
        else:
            lines.append(line)
    return "\n".join([*lines, "```"] if fence else lines)


def _rst(text: str) -> str:
    """Headings have the level in which their underline first occurs; what belongs to a block is indented under it."""
    lines = [line.expandtabs() for line in text.split("\n")]
    out: list[str] = []
    prose: list[str] = []
    levels: list[str] = []
    at = read_again = 0

    def end_prose(*following: str) -> None:
        said = "\n".join(prose)
        for written, meant in _RST_INLINE:
            said = written.sub(meant, said)
        out.extend((said, *following))
        prose.clear()

    while at < len(lines):
        line = lines[at]
        directive = _RST_DIRECTIVE.match(line)
        table = read_table(lines, at) if read_again < _RST_AGAIN * len(text) else None
        heading = _rst_heading(lines, at, levels)
        if table:
            shown, at = table
            read_again += sum(map(len, shown))
            lines[at:at] = shown
        elif heading:
            end_prose("", heading[0], "")
            at = heading[1]
        elif _RST_UNSEEN.match(line):
            _, at = _rst_block(lines, at)
        elif directive and directive[2] in _RST_CODE:
            block, at = _rst_block(lines, at)
            end_prose("", f"```{directive[3]}", *block, "```", "")
        elif directive:
            # what an admonition is called, or what is described, is said; what stands in it is text as any other
            named = directive[2].replace("version", "version ").capitalize() + ":" if directive[2] in _RST_NOTES else ""
            told = f"`{directive[3]}`" if not named and ":" not in directive[3] and directive[3] else directive[3]
            prose += ["", f"{named} {told}".strip(), ""]
            block, at = _rst_block(lines, at)
            read_again += sum(map(len, block))
            if read_again < _RST_AGAIN * len(text):
                lines[at:at] = ["", *block, ""]
            else:
                prose += block
        elif line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            prose.append(re.sub(r"(?:^|(?<=\s)|(?<=:)):{1,2}$", "", line.rstrip()))
            block, at = _rst_block(lines, at)
            end_prose(*(("", "```", *block, "```", "") if block else ()))
        else:
            prose.append(line)
            at += 1
    end_prose()
    return "\n".join(out)


def _rst_heading(lines: Sequence[str], at: int, levels: list[str]) -> tuple[str, int] | None:
    """The heading that begins at a line, with a rule below it or around it, and the line behind it."""
    line, under, last = (*lines[at : at + 3], "", "")[:3]
    if _RST_LINE.match(line):
        title, style, end = under, f"{line[0]} over", at + 3
        found = last.rstrip() == line.rstrip() and bool(under.strip())
    else:
        title, style, end = line, under[:1], at + 2
        fits = len(under.rstrip()) >= len(line.rstrip())
        found = bool(line.strip()) and line[0] != " " and bool(_RST_LINE.match(under)) and fits
    if not found:
        return None
    if style not in levels:
        levels.append(style)
    return f"{'#' * min(6, 1 + levels.index(style))} {title.strip()}", end


def _rst_block(lines: list[str], at: int) -> tuple[list[str], int]:
    """What is indented under a line, without its options and its indentation, and where it ends."""
    depth = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > depth):
        end += 1
    block = lines[at + 1 : end]
    while block and _RST_OPTION.match(block[0]):
        block = block[1:]
    return dedent("\n".join(block)).strip("\n").split("\n") if "".join(block).strip() else [], end


def _latex(text: str) -> str:
    title = _TEX_TITLE.search(text)
    begun = text.find("\\begin{document}")
    body = text[begun:] if begun >= 0 else text
    used = [level for level in _TEX_LEVELS if re.search(rf"\\{level}\*?(?:\[|\{{)", body)]
    pieces: list[str] = [f"# {_tex_words(title[1])}\n\n"] if title else []
    at = 0
    for code in _TEX_CODE.finditer(body):
        pieces += [_tex_prose(body[at : code.start()], used), f"\n```\n{code[2]}\n```\n"]
        at = code.end()
    return "".join([*pieces, _tex_prose(body[at:], used)])


def _tex_prose(text: str, used: list[str]) -> str:
    text = _TEX_COMMENT.sub("", text)
    text = _TEX_TITLE.sub("", text)
    text = _TEX_HEADING.sub(lambda found: f"\n\n{'#' * (2 + used.index(found[1]))} {found[2]}\n\n", text)
    text = re.sub(r"\\item\b ?", "\n- ", text)
    text = re.sub(r"(?<!\\) ?& ?", " | ", text)
    return _tex_words(text)


def _tex_words(text: str) -> str:
    for _ in range(3):  # one inside the other
        text = _TEX_STYLE.sub(r"\1", text)
    text = _TEX_FRAME.sub("", text)
    for written, meant in _TEX_SIGNS:
        text = text.replace(written, meant)
    return text


def _notebook(text: str) -> str:
    """The cells in their order: what was written, the code, and what it printed."""
    try:
        found = json_value(text)
        language = found.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        parts = [part for cell in found["cells"] for part in _cell(cell, str(language))]
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise RefusedError("is no notebook that can be read", "Save it again, in version 4 of the format") from error
    return "\n\n".join(part for part in parts if part.strip())


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", ""))
    if cell.get("cell_type") != "code":
        yield source
        return
    if source.strip():
        yield f"```{language}\n{source}\n```"
    for output in cell.get("outputs", []):
        printed = _joined(output.get("text", "")) or _joined(output.get("data", {}).get("text/plain", ""))
        if printed.strip():
            yield f"```\n{printed}\n```"


def _joined(lines: Any) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)


_READERS: Final[Mapping[str, Callable[[str], str]]] = {
    ".org": _org,
    ".adoc": _asciidoc,
    ".asciidoc": _asciidoc,
    ".tex": _latex,
    ".ipynb": _notebook,
    ".rst": _rst,
    ".rst.txt": _rst,
}
