"""What a person gets with `pip install`: the built wheel in an empty environment, with nothing of the checkout and no
Node. It runs, it serves its page and its documentation, and says that all is in order.

In every run the wheel's own contents lie in the environment and what it depends on is this machine's; `make slow`
installs wheel and source archive with everything from the index.
"""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.lanes import program

ROOT = Path(__file__).parent.parent.parent
PAGE = "weft/web/static/index.html"
SITE = "weft/web/site/index.html"

pytestmark = [pytest.mark.slow, pytest.mark.process]


def built(kind: str, folder: Path) -> Path:
    """A wheel or a source archive of the checkout as it is."""
    for name, how in ((PAGE, "page/build.py"), (SITE, "docs/build_site.py")):
        if not (ROOT / "src" / name).exists():
            subprocess.run([sys.executable, str(ROOT / how)], check=True)
    words = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.iterdir()
    return made


class Installed:
    """An environment with the package in it, and a person without any other program."""

    def __init__(self, path: Path, interpreter: str = sys.executable) -> None:
        self.python = path / "environment" / "bin" / "python"
        self.weft = path / "environment" / "bin" / "weft"
        self.home = path / "home"
        self.home.mkdir()
        subprocess.run(
            [interpreter, "-m", "venv", *([] if self._has_pip else ["--without-pip"]), str(path / "environment")],
            check=True,
        )

    _has_pip = False

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.weft), *map(str, words)],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


class Unpacked(Installed):
    def install(self, wheel: Path) -> None:
        site = next(self.python.parent.parent.glob("lib/python3*/site-packages"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        # Only the folder itself: what an editable install left in it is not read.
        needed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *filter(_is_site, sys.path)}
        (site / "needed.pth").write_text("\n".join(sorted(needed)) + "\n")
        self.weft.write_text(f"#!{self.python}\nimport sys\nfrom weft.cli import main\nsys.exit(main())\n")
        self.weft.chmod(0o755)


class FromTheIndex(Installed):
    _has_pip = True

    def install(self, archive: Path) -> None:
        words = [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(archive)]
        subprocess.run(words, check=True, timeout=1800)


def _is_site(path: str) -> bool:
    return path.endswith("site-packages")


def works(installed: Installed, *, browser: str | None = None) -> None:
    where = subprocess.run(
        [str(installed.python), "-c", "import weft; print(weft.__file__)"], cwd=installed.home, capture_output=True
    )
    assert str(installed.python.parent.parent) in where.stdout.decode(), "not what was installed"
    note = installed.home / "tides.md"
    note.write_text((ROOT / "examples/tides.md").read_text())
    ran = installed.run("run", note, "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1])
    doctor = installed.run("doctor")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert "bad " not in doctor.stdout
    server = subprocess.Popen(
        [str(installed.weft), "serve", "--port", "0", "--no-open"],
        cwd=installed.home,
        env=installed.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        found = re.search(r"http://\S+", address)
        assert found, address
        if browser is None:
            opens(found.group())
        docs = f"{found.group().split('/sign-in')[0]}/docs/index.html"
        with urllib.request.urlopen(docs, timeout=60) as page:
            assert b"<title>" in page.read()
        if browser:
            in_a_browser(found.group(), browser)
    finally:
        server.terminate()
        server.wait(60)
        assert server.stdout is not None
        server.stdout.close()


def opens(address: str) -> None:
    """A browser's first visit: the address signs it in, and it is given the page and what the page names."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    base = address.split("/sign-in")[0]
    with browser.open(address, timeout=60) as answer:
        link = re.search(r'name="link" value="([^"]+)"', answer.read().decode())
    assert link
    form = urllib.parse.urlencode({"link": link.group(1)}).encode()
    with browser.open(urllib.request.Request(f"{base}/sign-in", form, {"Origin": base}), timeout=60) as answer:
        page = answer.read().decode()
    scripts = re.findall(r'(?:src|href)="([^":]+\.(?:js|css))"', page)
    assert scripts, page[:500]
    for name in scripts:
        with browser.open(urllib.parse.urljoin(f"{base}/", name), timeout=60) as answer:
            assert answer.status == 200


def in_a_browser(address: str, program: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("tides", exact=False).first.wait_for(timeout=60_000)
        browser.close()


def test_the_wheel_works_where_nothing_else_is(tmp_path: Path) -> None:
    installed = Unpacked(tmp_path)
    installed.install(built("wheel", tmp_path / "made"))
    works(installed)


def test_the_source_archive_has_the_page_and_the_documentation(tmp_path: Path) -> None:
    """A wheel that is made from it, as by `pip install`, needs neither Node nor mkdocs."""
    with tarfile.open(built("sdist", tmp_path / "made")) as archive:
        names = {name.partition("/src/")[2] for name in archive.getnames()}
    assert {PAGE, SITE} <= names


@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_is_installed_with_all_it_needs(tmp_path: Path, kind: str) -> None:
    installed = FromTheIndex(tmp_path)
    installed.install(built(kind, tmp_path / "made"))
    works(installed, browser=program("browser"))
    site = next(installed.python.parent.parent.glob("lib/python3*/site-packages"))
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file() and "/pip/" not in str(path))
    assert size < 330 * 2**20, f"{size / 2**20:.0f} MB"
    assert not os.path.exists(site / "openai")


@pytest.mark.campaign
@pytest.mark.parametrize("interpreter", ["python3.12", "python3.13", "python3.14"])
def test_it_works_with_other_pythons(tmp_path: Path, interpreter: str) -> None:
    """Those that this machine has."""
    found = shutil.which(interpreter)
    if found is None or subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"{interpreter} is not here")
    installed = FromTheIndex(tmp_path, found)
    installed.install(built("wheel", tmp_path / "made"))
    works(installed)
