"""The sentence model's sums in products of bytes, against the graph that the model's file itself carries."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy
import pytest

from weft.knowledge.embedding import DIMENSIONS, PACKAGE, TOKENS, MiniLM, load_embedder, unit
from weft.knowledge.minilm import graph_of
from weft.knowledge.onnx_file import GraphFile, read_tensors
from weft.knowledge.wordpiece import encode

TEXTS = [
    "A physician prescribes medicine.",
    "The tide rises twice a day, and on some coasts only once; what it does there depends on the shape of the sea bed.",
    "def _read(path: Path) -> bytes:\n    return path.read_bytes()[: 1 << 20]",
    "Die Katze wartet am Fenster auf den Abend.",
    "--no-check-certificate\n" + "Don't check the server certificate against the available authorities. " * 30,
    "x",
    "",
]


def file_of_the_install() -> bytes:
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "model.onnx").read_bytes()


@pytest.mark.slow
def test_vectors_are_those_of_the_files_own_graph() -> None:
    model = load_embedder()
    assert isinstance(model, MiniLM), getattr(model, "reason", "")
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    session = onnxruntime.InferenceSession(file_of_the_install(), providers=["CPUExecutionProvider"])
    made = model.embed(TEXTS)
    for text, row in zip(TEXTS, made, strict=True):
        ids = numpy.array([encode(text, TOKENS)], dtype=numpy.int64)
        given = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        (states,) = session.run(["last_hidden_state"], given)
        # Of one or two pieces there is no mean in which what was rounded cancels out.
        assert float(unit(states.sum(axis=1))[0] @ row) > (0.99 if ids.size > 5 else 0.97), text
        (read,) = model.states([text])
        assert read.shape == (ids.size - 2, DIMENSIONS), text
        assert not read.size or float((unit(states[0, 1:-1]) * read).sum(axis=1).mean()) > 0.95, text
    for at, text in enumerate(TEXTS):
        assert abs(model.embed([text])[0] - made[at]).max() < 1e-3, "a vector depends on what is made beside it"


def test_a_graph_that_is_written_is_run_and_its_tensors_are_read_back() -> None:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    graph = GraphFile()
    row = numpy.arange(DIMENSIONS, dtype=numpy.float32)
    kept = graph.keep(row)
    graph.add("Add", graph.add("Cast", "ids", to=1), kept, name="meaning")
    data = graph.data({"ids": ("int64", 2)}, {"meaning": ("float32", 2)})
    assert numpy.array_equal(read_tensors(data)[kept], row)
    (made,) = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(
        ["meaning"], {"ids": numpy.full((2, DIMENSIONS), 3)}
    )
    assert numpy.array_equal(made, numpy.vstack([row, row]) + 3)


def test_a_file_that_is_cut_or_another_is_refused_in_words() -> None:
    graph = GraphFile()
    graph.keep(numpy.arange(9, dtype=numpy.float32))
    data = graph.data({}, {})
    with pytest.raises(ValueError, match="ends too early"):
        read_tensors(data[:-3])
    with pytest.raises(ValueError, match="it has 0 products, not 36"):
        graph_of(data)


def test_words_are_cleaned_of_accents_and_signs_that_control() -> None:
    assert encode("na\u00efve caf\u00e9\u0000s\u00ad", 9) == encode("naive cafes", 9)
    assert encode("\u6570\u636e", 9) == encode("\u6570 \u636e", 9)
    assert encode("a\u2028b\u200bc\ufffd", 9) == encode("a bc", 9)
