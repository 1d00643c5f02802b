"""Org, AsciiDoc, reStructuredText, LaTeX, notebooks: headings, code and words come through; what is none is refused."""

from __future__ import annotations

import json

import pytest

from tests.lanes import lives
from weft.documents import DocumentError, read_document

ORG = """#+TITLE: Harbour notes
#+OPTIONS: toc:nil
* Tides :water:
The spring tide reaches 6.4 metres.
** Neap
| port  | height |
|-------+--------|
| Brisk | 3.1    |
#+BEGIN_SRC python
* not a heading
#+END_SRC
"""
RST = """.. _lamps:

=====
Lamps
=====

Lit at dusk (see :ref:`using-oil` and :doc:`the log </log/use>`), with ``lamp --on``; ask `the keeper`_ or
`the port <https://port.example/a>`_.

.. _the keeper: https://keeper.example

.. contents::
   :local:

Oil
---

Say how much, for example::

    oil: 2
      # no heading

.. note::
   It is looked at
   :ref:`twice <times>` a day.

.. option:: --dim

   Half as bright.

   .. code-block:: python
      :linenos:

      dim()

Wicks
~~~~~

.. versionadded:: 1.2
"""
RST_READ = """# Lamps

Lit at dusk (see using-oil and the log), with `lamp --on`; ask the keeper or
[the port](https://port.example/a).

## Oil

Say how much, for example:

```
oil: 2
  # no heading
```

Note:

It is looked at
twice a day.

`--dim`

Half as bright.

```python
dim()
```

### Wicks

Version added: 1.2"""
ADOC = """= Rope guide
== Knots
A bowline holds well.

[source,ruby]
----
== not a heading
----
"""
TEX = r"""\documentclass{article} % a comment
\title{On \emph{tides}}
\begin{document}
\maketitle
\section{Range}\label{range}
The range at Brisk is \emph{6.4~metres}, 5\% more than at Loam % nobody reads this
\subsection*{Why}
\begin{itemize}\item The moon \item The \textbf{\emph{sun}}\end{itemize}
\begin{verbatim}
\section{not a heading}
\end{verbatim}
\end{document}
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Tide model\n", "\n", "M2 dominates."]},
        {
            "cell_type": "code",
            "source": ["print(amplitude)"],
            "outputs": [{"text": ["2.31\n"]}, {"data": {"text/plain": "<Figure>", "image/png": "AAAA"}}],
        },
    ],
    "nbformat": 4,
}


RST_TABLES = """
+----------------------------+
| Is 2\\ :sup:`8` | or all of |
| it lit?                    |
+----------------------------+
| Half of it is. For example |
| ::                         |
|                            |
|    dim                     |
+----------------------------+

+------------+-------------+
| Lamp       | Light       |
+============+=============+
| the oldest | six metres, |
| of all     | dim         |
+------------+-------------+
| Both go out at dawn.     |
+------------+-------------+

======  =====  ====
Inputs         Out
-------------  ----
A       B      A|B
======  =====  ====
False   False  no
True    False  yes,
               dimly
======  =====  ====

| Roses of
| the port
"""
RST_TABLES_READ = """Is 2⁸ | or all of
it lit?

Half of it is. For example

```
dim
```

| Lamp | Light |
| --- | --- |
| the oldest of all | six metres, dim |
| Both go out at dawn. |  |

| Inputs A | B | Out A\\|B |
| --- | --- | --- |
| False | False | no |
| True | False | yes, dimly |

Roses of
the port"""


def test_tables_of_restructured_text_are_rows_and_a_box_is_the_text_in_it() -> None:
    assert read_document(RST_TABLES.encode(), "tables.rst").text == RST_TABLES_READ


@pytest.mark.parametrize("name", ["lamps.rst", "_sources/lamps.rst.txt"])
def test_restructured_text(name: str) -> None:
    document = read_document(RST.encode(), name)
    assert (document.title, document.text) == ("Lamps", RST_READ)


@pytest.mark.parametrize(
    ("name", "text", "kept", "dropped"),
    [
        (
            "a.org",
            ORG,
            ["# Harbour notes", "\n## Tides\n", "6.4", "\n### Neap\n", "|-------|--------|", "```python\n* not"],
            ["toc:nil", ":water:"],
        ),
        ("a.adoc", ADOC, ["# Rope guide", "\n## Knots\n", "A bowline", "```ruby\n== not a heading\n```"], ["[source"]),
        (
            "a.tex",
            TEX,
            ["# On tides", "\n## Range\n", "6.4 metres, 5% more than at Loam", "\n### Why\n", "- The moon", "- The sun",
             "```\n\\section{not a heading}"],
            ["documentclass", "nobody reads", "begin{", "label"],
        ),
        (
            "a.ipynb",
            json.dumps(NOTEBOOK),
            ["# Tide model", "M2 dominates.", "```python\nprint(amplitude)\n```", "```\n2.31", "<Figure>"],
            ["AAAA", "cell_type"],
        ),
    ],
)  # fmt: skip
def test_what_a_reader_sees_is_there(name: str, text: str, kept: list[str], dropped: list[str]) -> None:
    document = read_document(text.encode(), name)
    for words in kept:
        assert words in document.text
    for words in dropped:
        assert words not in document.text
    assert document.title in ("Harbour notes", "Rope guide", "On tides", "Tide model")


def test_asciidoc_is_read_as_such_whatever_its_file_is_called() -> None:
    text = (
        "= Rope guide\n\n[preface]\n== Knots\n\nA bowline holds.\n\n[[hitches]]\n== Hitches\n\nA clove hitch slips.\n"
    )
    document = read_document(text.encode(), "rope.txt")
    assert document.title == "Rope guide"
    assert document.text == "# Rope guide\n\n## Knots\n\nA bowline holds.\n\n## Hitches\n\nA clove hitch slips."
    wiki = "= Rope guide =\n\n== Knots ==\n\nA bowline holds.\n"
    assert "## Knots" not in read_document(wiki.encode(), "rope.txt").text


@pytest.mark.parametrize("text", ["{}", "[1, 2]", "no notebook", '{"cells": 5}', '{"cells": [7]}'])
def test_what_is_no_notebook_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="no notebook"):
        read_document(text.encode(), "a.ipynb")


@pytest.mark.parametrize("name", ["a.org", "a.adoc", "a.tex"])
@pytest.mark.parametrize(
    ("part", "times"),
    [
        ("\\section{", 20_000),
        ("\\begin{verbatim}\n", 2_000),
        ("#+BEGIN_SRC\n", 20_000),
        ("----\n", 19_999),
        ("*", 99_999),
    ],
)
def test_markup_that_never_ends_ends(name: str, part: str, times: int) -> None:
    assert read_document(f"Words. {part * lives(times, times)} x".encode(), name).text
