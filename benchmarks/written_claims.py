"""Claims written by hand on forty-one documents, through the whole door: each is looked for in a collection.

    mkdir deb && cd deb && apt-get download mdadm r-cran-janeaustenr jargon-text r-cran-tm anarchism \\
        kstars-data debian-handbook doc-debian sqlite3-doc r-doc-html chrony rrdtool \\
        miscfiles fonts-sil-gentium cfi-en gnushogi qbrew debian-policy postfix-doc crawl-common lilypond-doc-html \\
        mcl-doc astronomical-almanac debian-history moria gnu-standards fetchmail slrn libsm-doc primer3 \\
        gitmagic golang-1.19-src git-doc enigma-doc nethack-common xboard linux-doc-6.1 png-definitive-guide debian-faq
    for file in *.deb; do dpkg -x $file ../packages; done; cd ..
    python -m benchmarks.written_claims --packages packages [--misses] [NAME]...

A claim (`claims/NAME.tsv`) is *near* (the document says it: another function word, inflection, order, voice, marks, a
pronoun's noun, a clause of a sentence), *changed* (one number, unit, date, name, negation, modal word, quantifier or
condition is another), *subtle* (the document says otherwise, in other words) or *unstated* (true, and not said there).
They were written from the documents before any of them was held against anything. All are what the rules were developed
on by now; README.md has what each gave when it was held against them for the first time.
"""

from __future__ import annotations

import argparse
import html
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.verification import table
from weft.app import Collections

CLAIMS: Final = Path(__file__).with_name("claims")
RIGHT: Final = {"near": ("quoted",), "changed": ("contradicted",), "subtle": ("contradicted",), "unstated": ()}
Files = dict[str, bytes]


def read_manual(packages: Path) -> Files:
    page = packages / "usr/share/man/man4/md.4.gz"
    shown = subprocess.run(
        ["man", "-l", str(page)],
        capture_output=True,
        check=True,
        env={"MANWIDTH": "80", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    return {"md.txt": shown.stdout}


def read_novel(packages: Path) -> Files:
    """The first eight chapters of Emma, which R keeps as a compressed vector of lines."""
    kept = (packages / "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb").read_bytes()
    lines: list[str] = []
    data = zlib.decompress(kept[4 : 4 + int.from_bytes(kept[:4], "big")])
    mark, at = b"\x00\x04\x00\x09", data.find(b"\x00\x04\x00\x09")
    while data[at : at + 4] == mark:
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        lines.append(data[at + 8 : at + 8 + size].decode())
        at += 8 + size
    text = "\n".join(lines)
    chapters = [found.start() for found in re.finditer(r"^CHAPTER ", text, re.MULTILINE)]
    return {"emma.txt": text[: chapters[8]].encode()}


def read_lexicon(packages: Path) -> Files:
    return {"jargon.txt": zlib.decompress((packages / "usr/share/doc/jargon-text/jargon.txt.gz").read_bytes(), 31)}


def read_news(packages: Path) -> Files:
    found: Files = {}
    for file in sorted((packages / "usr/lib/R/site-library/tm/texts").glob("[ac]*/*.xml")):
        text = file.read_text("latin-1")
        title, body = (re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL) for tag in ("TITLE", "BODY"))
        if body is not None:
            shown = html.unescape(html.unescape(f"{title[1] if title else ''}\n\n{body[1]}"))
            found[f"{file.parent.name}-{file.stem}.txt"] = shown.encode()
    return found


def read_essay(packages: Path) -> Files:
    folder = packages / "usr/share/doc/anarchism/html"
    return {name: (folder / name).read_bytes() for name in ("secA4.html", "secA5.html", "secB7.html")}


def read_astronomy(packages: Path) -> Files:
    found: Files = {}
    for name in ("stars", "blackbody", "darkmatter", "ellipticalgalaxies", "leapyear"):
        text = (packages / f"usr/share/doc/HTML/en/kstars/{name}.docbook").read_text("utf-8")
        text = html.unescape(re.sub(r"<!--.*?-->|<[^>]+>", "", text, flags=re.DOTALL))
        found[f"{name}.txt"] = text.replace("&ie;", "i.e.").replace("&kstars;", "KStars").encode()
    return found


def read_handbook(packages: Path) -> Files:
    name = "sect.release-lifecycle.html"
    return {name: (packages / "usr/share/doc/debian-handbook/html/en-US" / name).read_bytes()}


def read_manifesto(packages: Path) -> Files:
    kept = (packages / "usr/share/doc/debian/debian-manifesto.gz").read_bytes()
    return {"manifesto.txt": zlib.decompress(kept, 31)}


def read_file(name: str, called: str = "") -> Callable[[Path], Files]:
    """A document as it stands in its package, unpacked; `called` where its name does not say what it is."""

    def read(packages: Path) -> Files:
        data = (packages / "usr/share/doc" / name).read_bytes()
        told = zlib.decompress(data, 31) if name.endswith(".gz") else data
        return {called or Path(name.removesuffix(".gz")).name: told}

    return read


DOCUMENTS: Final[Mapping[str, Callable[[Path], Files]]] = {
    "md": read_manual, "emma": read_novel, "jargon": read_lexicon, "news": read_news, "anarchism": read_essay,
    "stars": read_astronomy, "handbook": read_handbook, "manifesto": read_manifesto,
    "sqlite": read_file("sqlite3/testing.html"), "rdata": read_file("r-doc-html/manual/R-data.html"),
    "chrony": read_file("chrony/FAQ.gz", "faq.txt"), "constitution": read_file("debian/constitution.txt.gz"),
    "rrdtutorial": read_file("rrdtool/html/rrdtutorial.html"),
    "us-constitution": read_file("../state/us-constitution.gz", "us-constitution.txt"),
    "font-licence": read_file("fonts-sil-gentium/OFL-FAQ.txt.gz"),
    "brewing": read_file("qbrew/primer/primer-equipment.html"),
    "hacker": read_file("cfi-en/html/ottoen.htm"), "techno": read_file("cfi-en/html/ch7web.htm"),
    "shogi": read_file("gnushogi/html/The-rules-of-shogi.html"),
    "policy-files": read_file("debian-policy/policy.html/ch-files.html"),
    "postscreen": read_file("postfix/html/POSTSCREEN_README.html"),
    "dungeon-crawl": read_file("../crawl/docs/crawl_manual.txt"),
    "engraving": read_file("lilypond/html/Documentation/essay-big-page.html"),
    "clustering-faq": read_file("mcl/html/mclfaq.html"),
    "astronomical-almanac": read_file("astronomical-almanac/read.me.gz", "almanac.txt"),
    "debian-history": read_file("debian-history/docs/detailed.en.html"),
    "moria-manual": read_file("moria/historical/manual.md.gz", "manual.txt"),
    "gnu-maintainers": read_file("gnu-standards/maintain.text.gz", "maintain.txt"),
    "fetchmail-faq": read_file("fetchmail/fetchmail-FAQ.html"),
    "slrn-faq": read_file("slrn/FAQ.gz", "faq.txt"),
    "xsmp": read_file("libsm-dev/xsmp.html"),
    "primer3-manual": read_file("primer3/primer3_manual.htm"),
    "git-magic": read_file("gitmagic/gitmagic.html"),
    "opticks": read_file("../go-1.19/src/testdata/Isaac.Newton-Opticks.txt", "opticks.txt"),
    "git-bisect": read_file("git-doc/git-bisect-lk2009.txt"),
    "enigma": read_file("enigma-doc/manual/enigma.html"),
    "nethack-guidebook": read_file("nethack-common/Guidebook.txt.gz"),
    "xboard-faq": read_file("xboard/FAQ.html"),
    "rcu-requirements": read_file("linux-doc-6.1/Documentation/RCU/Design/Requirements/Requirements.rst.gz"),
    "png-guide": read_file("png-definitive-guide/html/chapter01.html"),
    "debian-faq": read_file("debian/FAQ/debian-faq.en.txt.gz"),
}  # fmt: skip


def verified(name: str, files: Files, workspace: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Every claim of a set: its kind, how it was made, and the verdict as `weft kb verify` has it."""
    rows = [line.split("\t") for line in (CLAIMS / f"{name}.tsv").read_text("utf-8").splitlines()]
    with Collections.of(workspace) as collections:
        collections.create(name, "", go_on=False)
        with collections.opened(name) as one:
            one.add_bytes(files.items())
            one.update(lambda *_: None)
            answer = one.ask("kb_verify_citations", {"citations": [{"claim": claim} for _, _, claim in rows]})
    return [(kind, how, detail) for (kind, how, _), detail in zip(rows, answer["details"], strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DOCUMENTS)} (default: all)")
    parser.add_argument("--packages", type=Path, required=True, help="where the packages were unpacked")
    parser.add_argument("--misses", action="store_true", help="show what was not said right, with the reason")
    given = parser.parse_args()
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    ways: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.names or DOCUMENTS:
            for kind, how, detail in verified(name, DOCUMENTS[name](given.packages), Path(folder)):
                kinds[kind][detail["state"]] += 1
                ways[f"{kind}: {how}"][detail["state"]] += 1
                if given.misses and detail["state"] not in RIGHT[kind]:
                    print(
                        f"{name} {kind} {detail['state']}: {detail['claim']}\n    {detail['reason']}", file=sys.stderr
                    )
    title = ", ".join(given.names or DOCUMENTS)
    print(table(title, kinds), table(title, dict(sorted(ways.items()))), sep="\n\n", end="\n\n")
    for state, right in (("quoted", ("near",)), ("contradicted", ("changed", "subtle"))):
        called = sum(counts[state] for counts in kinds.values())
        good = sum(kinds[kind][state] for kind in right)
        print(f"of {called} called {state} {good} are" + (f" ({good / called:.0%})" if called else ""))


if __name__ == "__main__":
    main()
