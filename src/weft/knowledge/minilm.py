"""The sentence model's own sums, written so that they take a third of the time: its products are of bytes.

The file that ships has weights of 8 bits and a graph that makes floats of them before it multiplies. Here the same
weights are put into a graph of our own, in which what they are multiplied with is rounded to 8 bits too; norms,
attention and what is added stay floats. Texts of one length go in together, so that nothing is filled up or masked, and
a text's vector does not depend on which others are made beside it.

What is rounded needs a range. A few numbers of a token's state are ten times as large as the others, in every text:
those are made smaller before, and their weights larger. The ranges and these numbers were read off some hundred
passages, and hold for this model alone (the file is known by its hash); what is beyond is cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from weft.knowledge.onnx_file import OWN, GraphFile, read_tensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

LAYERS: Final = 6
HEADS: Final = 12
WIDTH: Final = 384
LARGE_BEFORE_ATTENTION: Final = {63: 2, 99: 2, 157: 2}
LARGE_BEFORE_INNER: Final = {63: 2, 99: 4, 127: 2, 223: 2, 319: 2}
"""Which numbers of a state are made smaller, and by how much."""
BEFORE_ATTENTION: Final = (-5.0, 5.0)
AFTER_ATTENTION: Final = (-3.0, 3.0)
BEFORE_INNER: Final = (-7.0, 7.0)
AFTER_INNER: Final = (-0.17, 8.0)
STEPS: Final = 230
"""In how many steps a range is rounded. With all 255, two products of a processor without instructions for bytes are
more often beyond what 16 bits hold."""


def graph_of(file: bytes) -> bytes:
    """The graph: `ids` (texts of one length, their tokens) to `states`, one each, and their mean, `meaning`."""
    return _Made(read_tensors(file)).data()


class _Made:
    def __init__(self, tensors: dict[str, Array]) -> None:
        self.graph = GraphFile()
        self.tensors = {name.removeprefix("inner."): tensor for name, tensor in tensors.items()}
        names = [name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")]
        if len(names) != 6 * LAYERS:
            raise ValueError(f"it has {len(names)} products, not {6 * LAYERS}")
        self.weights = [(tensors[f"{name}_q"], tensors[f"{name}_scale"].reshape(-1)) for name in names]
        """Of every layer those for queries, keys, values, what follows attention, and the two inner ones."""

    def data(self) -> bytes:
        import numpy

        add, keep, tensors = self.graph.add, self.graph.keep, self.tensors
        self.last = keep(numpy.array([-1]))
        first, second = keep(numpy.array([0])), keep(numpy.array([1]))
        self.share, self.least = keep(_float(1 / WIDTH)), keep(_float(1e-12))
        length = add("Shape", "ids", start=1, end=2)
        places = _floats(tensors["embeddings.position_embeddings.weight_q"], tensors, "position")
        kind = tensors["embeddings.token_type_embeddings.weight"][0]
        place = add("Slice", keep(places + kind), first, length, first)
        words = add("Cast", add("Gather", keep(tensors["embeddings.word_embeddings.weight_q"]), "ids"), to=1)
        scales = add("Gather", keep(tensors["embeddings.word_embeddings.weight_scale"]), "ids")
        state = add("Add", add("Mul", words, scales), place)
        state, rounded, shift = self._norm(state, "embeddings.LayerNorm", LARGE_BEFORE_ATTENTION)
        for layer in range(LAYERS):
            state, rounded, shift = self._layer(layer, state, rounded, shift)
        mean = add("ReduceMean", state, second, keepdims=0)
        added = keep(shift)
        add("Add", mean, added, name="meaning")
        add("Add", state, added, name="states")
        return self.graph.data({"ids": ("int64", 2)}, {"meaning": ("float32", 2), "states": ("float32", 3)})

    def _layer(self, layer: int, state: str, smaller: str, shift: Array) -> tuple[str, str, Array]:
        """The states after it; the same with its large numbers made smaller; and what both lack: what a norm adds to
        every token alike goes into the sums that follow, where it costs nothing."""
        import numpy

        add, keep, tensors = self.graph.add, self.graph.keep, self.tensors
        name = f"encoder.layer.{layer}"
        query, key, value, after, inner, outer = self.weights[6 * layer : 6 * layer + 6]
        three = (numpy.hstack([query[0], key[0], value[0]]), numpy.hstack([query[1], key[1], value[1]]))
        # What a key adds is the same for all that are compared, so that it changes nothing; what a value adds is in
        # every mean of values, and goes on from there.
        asked = tensors[f"{name}.attention.self.query.bias"] + shift @ (query[0] * query[1])
        meant = tensors[f"{name}.attention.self.value.bias"] + shift @ (value[0] * value[1])
        added = numpy.hstack([asked, numpy.zeros(2 * WIDTH)])
        made = self._product(smaller, _larger(three, LARGE_BEFORE_ATTENTION), BEFORE_ATTENTION, added)
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        self.graph.add_many("Split", made, names=parts, axis=2, num_outputs=3)
        seen = add("MultiHeadAttention", *parts, domain=OWN, num_heads=HEADS)
        added = tensors[f"{name}.attention.output.dense.bias"] + shift + meant @ (after[0] * after[1])
        seen = self._product(seen, after, AFTER_ATTENTION, added)
        norm = f"{name}.attention.output.LayerNorm"
        state, smaller, shift = self._norm(add("Add", seen, state), norm, LARGE_BEFORE_INNER)
        made = self._product(smaller, _larger(inner, LARGE_BEFORE_INNER), BEFORE_INNER)
        bias = tensors[f"{name}.intermediate.dense.bias"] + shift @ (inner[0] * inner[1])
        made = add("FastGelu", made, keep(bias.astype(numpy.float32)), domain=OWN)
        made = self._product(made, outer, AFTER_INNER, tensors[f"{name}.output.dense.bias"] + shift)
        return self._norm(add("Add", made, state), f"{name}.output.LayerNorm", LARGE_BEFORE_ATTENTION)

    def _norm(self, state: str, name: str, large: dict[int, int]) -> tuple[str, str, Array]:
        """In small steps: the operator for the whole takes twice as long."""
        add, keep, weight = self.graph.add, self.graph.keep, self.tensors[f"{name}.weight"]
        apart = add("Sub", state, add("ReduceMean", state, self.last))
        spread = add("Mul", add("ReduceSumSquare", apart, self.last), self.share)
        level = add("Div", apart, add("Sqrt", add("Add", spread, self.least)))
        smaller = weight / _factors(large)
        return add("Mul", level, keep(weight)), add("Mul", level, keep(smaller)), self.tensors[f"{name}.bias"]

    def _product(
        self, state: str, weights: tuple[Array, Array], within: tuple[float, float], added: Array | None = None
    ) -> str:
        import numpy

        keep = self.graph.keep
        low, high = within
        step = (high - low) / STEPS
        scale, zero = keep(_float(step)), keep(numpy.array(round(-low / step), dtype=numpy.uint8))
        rounded = self.graph.add("QuantizeLinear", state, scale, zero)
        given = [rounded, keep(weights[0]), scale, keep(weights[1]), zero]
        if added is not None:
            given += ["", keep(added.astype(numpy.float32))]
        return self.graph.add("MatMulIntegerToFloat", *given, domain=OWN)


def _floats(rounded: Array, tensors: dict[str, Array], name: str) -> Array:
    found: Array = rounded * tensors[f"embeddings.{name}_embeddings.weight_scale"]
    return found


def _float(value: float) -> Array:
    import numpy

    return numpy.array(value, dtype=numpy.float32)


def _factors(large: dict[int, int]) -> Array:
    import numpy

    found = numpy.ones(WIDTH, dtype=numpy.float32)
    found[list(large)] = list(large.values())
    return found


def _larger(weights: tuple[Array, Array], large: dict[int, int]) -> tuple[Array, Array]:
    """The weights of what was made smaller, as much larger; what then no longer fits 8 bits is rounded anew."""
    import numpy

    rounded, scales = weights
    wanted = rounded * _factors(large)[:, None]
    growth = numpy.maximum(abs(wanted).max(axis=0) / 127, 1).astype(numpy.float32)
    return numpy.rint(wanted / growth).astype(numpy.int8), scales * growth
