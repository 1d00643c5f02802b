"""A page as its reader's browser takes it: a strict parser (no tag may be left open) and questions to the tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}
PHRASES = {"a", "b", "bdi", "cite", "code", "em", "mark", "rect", "span", "strong", "svg"}
ONLY_PHRASES = {"p", "h1", "h2", "h3", "h4", "span", "a", "b", "mark", "dt", "caption", "pre", "strong", "em", "cite"}
CHILDREN = {
    "ol": {"li"},
    "ul": {"li"},
    "dl": {"div"},
    "table": {"caption", "thead", "tbody"},
    "thead": {"tr"},
    "tbody": {"tr"},
    "tr": {"th", "td"},
    "figure": {"blockquote", "figcaption", "p"},
}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str) -> list[Node]:
        return [node for node in self.walk() if node.tag == tag]

    def first(self, tag: str) -> Node:
        return self.all(tag)[0]

    def by_class(self, name: str) -> list[Node]:
        return [node for node in self.walk() if name in node.attributes.get("class", "").split()]

    def by_id(self, id: str) -> Node:
        (found,) = [node for node in self.walk() if node.attributes.get("id") == id]
        return found

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def line(self) -> str:
        return " ".join(self.text.split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("#root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        parent = self.open[-1]
        if parent.tag in ONLY_PHRASES:
            assert tag in PHRASES, f"<{tag}> in <{parent.tag}>"
        assert tag in CHILDREN.get(parent.tag, {tag}), f"<{tag}> in <{parent.tag}>"
        assert not (tag == "a" and any(node.tag == "a" for node in self.open)), "a link in a link"
        node = Node(tag, {name: value or "" for name, value in attrs})
        parent.children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def read_page(html: str) -> Node:
    assert html.startswith("<!DOCTYPE html>\n")
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert [node.tag for node in reader.open] == ["#root"], "something is left open"
    ids = [node.attributes["id"] for node in reader.root.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids)), "an id twice"
    dead = {node.attributes["href"] for node in reader.root.walk() if node.attributes.get("href", "").startswith("#")}
    assert {link[1:] for link in dead} <= set(ids), "a link that leads nowhere"
    return reader.root
