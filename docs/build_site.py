"""Builds the documentation as a site into src/weft/web/site: the wheel carries it, `weft serve` shows it under /docs.

    python docs/build_site.py      a link that leads nowhere, or an anchor that is not there, is an error

mkdocs-material makes it: search without a server, light and dark, nothing fetched from elsewhere. Where it is not
installed the site is left unbuilt with a word on stderr; in CI that is an error.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SITE: Final = ROOT / "src" / "weft" / "web" / "site"


def main() -> int:
    if importlib.util.find_spec("material") is None:
        print("the documentation's site is not built: mkdocs-material is not installed", file=sys.stderr)
        return 1 if os.environ.get("CI", "").lower() in ("1", "true") else 0
    return build(SITE)


def build(target: Path) -> int:
    """Whole, or not at all."""
    made = target.with_name(f"{target.name}.new")
    words = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(made)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    done = subprocess.run(words, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        shutil.rmtree(made, ignore_errors=True)
        return done.returncode
    for left_out in ("sitemap.xml.gz", "404.html"):
        (made / left_out).unlink(missing_ok=True)
    for kept in made.glob("assets/**/*.map"):
        kept.unlink()
    shutil.rmtree(target, ignore_errors=True)
    made.rename(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
