"""Pictures of pipelines, to be read as a person reads them."""

from __future__ import annotations

from inline_snapshot import snapshot

from weft.render.graph import graph_text, mermaid

from .screens import DIAMOND

WRITING = {
    "content": [],
    "summary": ["content"],
    "ideas": ["summary"],
    "quotes": ["content", "summary"],
    "outline": ["ideas", "quotes"],
    "titles": ["summary", "outline"],
    "draft": ["outline", "quotes"],
    "check": ["draft", "content"],
    "kit": ["draft", "titles", "check"],
}


def test_a_chain() -> None:
    assert graph_text({"a": [], "b": ["a"], "c": ["b"]}, final="c", width=60) == snapshot("""\
┌───┐
│ a │
└─┬─┘
  │
┌─▼─┐
│ b │
└─┬─┘
  │
╔═▼═╗
║ c ║
╚═══╝\
""")


def test_a_diamond() -> None:
    labels = {step: f"{step}.json" for step in DIAMOND}
    assert graph_text(DIAMOND, labels=labels, final="kit", width=60) == snapshot("""\
        ┌───────────────┐
        │    summary    │
        │ summary.json  │
        └───────┬───────┘
       ┌────────┴────────┐
┌──────▼──────┐   ┌──────▼──────┐
│    ideas    │   │   quotes    │
│ ideas.json  │   │ quotes.json │
└──────┬──────┘   └──────┬──────┘
       └────────┬────────┘
          ╔═════▼═════╗
          ║    kit    ║
          ║ kit.json  ║
          ╚═══════════╝\
""")


def test_fan_out_and_join() -> None:
    steps = {"s": [], "a": ["s"], "b": ["s"], "c": ["s"], "d": ["s"], "kit": ["a", "b", "c", "d"]}
    assert graph_text(steps, final="kit", width=60) == snapshot("""\
            ┌───┐
            │ s │
            └─┬─┘
  ┌───────┬───┴───┬───────┐
┌─▼─┐   ┌─▼─┐   ┌─▼─┐   ┌─▼─┐
│ a │   │ b │   │ c │   │ d │
└─┬─┘   └─┬─┘   └─┬─┘   └─┬─┘
  └───────┴───┬───┴───────┘
           ╔══▼══╗
           ║ kit ║
           ╚═════╝\
""")


def test_an_edge_over_a_layer() -> None:
    steps = {"source": [], "mid": ["source"], "kit": ["mid", "source"]}
    assert graph_text(steps, final="kit", width=60) == snapshot("""\
┌─────────┐
│ source  │
└────┬────┘
  ┌──┴───┐
  │   ┌──▼──┐
  │   │ mid │
  │   └──┬──┘
  └──┬───┘
  ╔══▼══╗
  ║ kit ║
  ╚═════╝\
""")


def test_a_real_pipeline() -> None:
    labels = {step: f"{step}.md" for step in WRITING}
    assert graph_text(WRITING, labels=labels, final="kit", width=60) == snapshot("""\
        ┌─────────────┐
        │   content   │
        │ content.md  │
        └──────┬──────┘
┌──────────────┴────────┐
│                ┌──────▼──────┐
│                │   summary   │
│                │ summary.md  │
│                └──────┬──────┘
├───────┐   ┌───────────┴─┬─────────┐
│   ┌───▼───▼───┐   ┌─────▼─────┐   │
│   │  quotes   │   │   ideas   │   │
│   │ quotes.md │   │ ideas.md  │   │
│   └─────┬─────┘   └──┬────────┘   │
└──┐      ├────────┐   │            │
   │      │   ┌────▼───▼────┐       │
   │      │   │   outline   │       │
   │      │   │ outline.md  │       │
   │      │   └──────┬──────┘       │
   │      └┐   ┌─────┴─────┐   ┌────┘
   │   ┌───▼───▼───┐   ┌───▼───▼───┐
   │   │   draft   │   │  titles   │
   │   │ draft.md  │   │ titles.md │
   │   └─────┬─────┘   └─────┬─────┘
   └───┐   ┌─┴─────┐   ┌─────┘
   ┌───▼───▼───┐   │   │
   │   check   │   │   │
   │ check.md  │   │   │
   └─────┬─────┘   │   │
         └───────┬─┴───┘
            ╔════▼════╗
            ║   kit   ║
            ║ kit.md  ║
            ╚═════════╝\
""")


def test_ascii() -> None:
    assert graph_text(DIAMOND, final="kit", width=60, ascii=True) == snapshot("""\
     +---------+
     | summary |
     +----+----+
    +-----+------+
+---v---+   +----v----+
| ideas |   | quotes  |
+---+---+   +----+----+
    +-----+------+
       +==v==+
       | kit |
       +=====+\
""")


def test_wide_letters_and_marks_keep_the_boxes_straight() -> None:
    steps = {"要約": [], "re\u0301sume\u0301": ["要約"]}
    assert graph_text(steps, labels={"要約": "要約.json"}, width=60) == snapshot("""\
┌───────────┐
│   要約    │
│ 要約.json │
└─────┬─────┘
      │
 ┌────▼────┐
 │ résumé  │
 │         │
 └─────────┘\
""")


def test_what_does_not_fit_is_listed() -> None:
    steps = {"source": [], **{f"part-{n}": ["source"] for n in range(5)}, "kit": [f"part-{n}" for n in range(5)]}
    assert graph_text(steps, labels={"kit": "kit.md"}, final="kit", width=40) == snapshot("""\
• source
  • part-0
    requires: source
  • part-1
    requires: source
  • part-2
    requires: source
  • part-3
    requires: source
  • part-4
    requires: source
    • kit (kit.md, final)
      requires: part-0, part-1, part-2,
      part-3, part-4\
""")


def test_mermaid() -> None:
    assert mermaid(DIAMOND, {"kit": "kit.json"}, "kit") == snapshot("""\
flowchart TD
    s1["summary"]
    s2["ideas"]
    s3["quotes"]
    s4[["kit<br/>kit.json"]]
    s1 --> s2
    s1 --> s3
    s2 --> s4
    s3 --> s4
""")
