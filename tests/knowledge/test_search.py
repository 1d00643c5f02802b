"""Search by words and by meaning: fused by rank, filtered on both lists, safe with any text, and honest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.knowledge.made import isa, vector, write_documents
from weft.knowledge.embedding import DIMENSIONS, MODEL, Embedder, MiniLM, Unavailable, load_embedder
from weft.knowledge.fusion import WORDS, blend, fuse
from weft.knowledge.ingest import update
from weft.knowledge.keyword import indexed_text, match_query, stems, telling_words
from weft.knowledge.matrix import keep_matrix, load_matrix
from weft.knowledge.search import NOTHING_YET, Filters, Found, Search, expand
from weft.knowledge.store import Store
from weft.knowledge.vectors import fill, missing
from weft.knowledge.word_scores import WordScores, keep_word_scores, load_word_scores
from weft.knowledge.wordpiece import encode

if TYPE_CHECKING:
    from weft.knowledge.embedding import Vectors

SYNONYMS = {"physicians": "doctors", "medicine": "drugs"}


class Bag:
    """A stand-in for a model: words that mean the same share a direction."""

    model = "bag"

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = numpy.zeros((len(texts), DIMENSIONS), dtype=numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").split():
                row[crc32(SYNONYMS.get(word, word).encode()) % DIMENSIONS] += 1
        length = numpy.linalg.norm(rows, axis=1, keepdims=True)
        result: Vectors = rows / numpy.maximum(length, 1e-9)
        return result


DOCUMENTS = {
    "isa-315.txt": "1. Doctors prescribe drugs.\n2. Boats sail on water.\n3. Auditors assess risk.\n4. See ISA 500.2.",
    "isa-500.txt": "1. Evidence is gathered.\n2. Physicians write on paper.\n3. The risk assessment of an entity.",
    "guide.md": "# Drugs\n\nA guide for doctors.\n\n# Boats\n\nSailing in strong wind.",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "index.db")
    update(made, write_documents(tmp_path / "kb", DOCUMENTS), isa())
    return made


def search(store: Store, embedder: Embedder | None = None) -> Search:
    if embedder is None:
        embedder = Bag()
        fill(store, embedder)
    return Search(store, isa(), embedder)


def refs(found: Found) -> list[str]:
    return [hit.passage.ref for hit in found.hits]


# -- rankings


@pytest.mark.parametrize("case", vector("kb_rrf")["cases"], ids=lambda case: case["name"])
def test_fusion_as_in_the_reference(case: dict[str, Any]) -> None:
    names = sorted({*case["keyword_ids"], *case["vector_ids"]})
    lists = [[names.index(name) for name in case[key]] for key in ("keyword_ids", "vector_ids")]
    found = {names[item]: round(score, 6) for item, score in fuse(lists, case["k"]).items()}
    expected = {row["id"]: row["rrf_score"] for row in case["expect"]}
    if case["name"] == "duplicate-in-list":
        expected = {"a": round(2 / 61, 6)}  # what is twice in a list is no better than what is once
    assert found == expected
    assert list(found) == list(expected)


def test_the_first_place_everywhere_is_one() -> None:
    scores = blend({7: 8.0, 8: 2.0, 6: 1.0}, {7: 0.5, 9: 0.1}, 100)
    assert list(scores) == [7, 8, 9, 6]
    assert scores == pytest.approx({7: 1.0, 8: WORDS / 4, 9: (1 - WORDS) / 5, 6: WORDS / 8})


def test_of_one_ranking_alone_the_order_stays() -> None:
    assert blend({4: 3.0, 2: 1.5}, {}, 100) == {4: 1.0, 2: 0.5}
    assert list(blend({}, {4: -0.1, 2: -0.2}, 100)) == [4, 2]
    assert blend({}, {}, 100) == {}


def test_far_ahead_by_words_stands_before_a_little_ahead_by_meaning() -> None:
    """By places both would be equal: first in one, second in the other."""
    assert list(blend({1: 30.0, 2: 8.0, 3: 7.0}, {2: 0.62, 1: 0.61, 3: 0.20}, 100)) == [1, 2, 3]


def test_words_that_all_passages_have_leave_it_to_the_meaning() -> None:
    words = {number: 9 - number / 100 for number in range(1, 11)}
    meaning = {number: number / 20 for number in range(10, 0, -1)}
    assert list(blend(words, meaning, 10)) == list(meaning)


def test_what_is_beyond_the_depth_changes_nothing_before_it() -> None:
    words = {number: 1 / number for number in range(1, 30)}
    meaning = {number: 1 - number / 40 for number in range(1, 30)}
    ten = dict(list(words.items())[:10]), dict(list(meaning.items())[:10])
    assert list(blend(words, meaning, 10).items())[:9] == list(blend(*ten, 10).items())[:9]


DIFFERENT_EXPANSION = {
    "it is going well": "it is going well",  # a word, not an acronym
    "RMM ROMM": "RMM ROMM risk of material misstatement",  # said once is enough
    "RA RA": "RA RA risk assessment",
}


@pytest.mark.parametrize("case", vector("kb_query_expand")["cases"], ids=lambda case: case["query"] or "nothing")
def test_expansion_as_in_the_reference(case: dict[str, Any]) -> None:
    expected = DIFFERENT_EXPANSION.get(case["query"], case["expanded"])
    assert expand(case["query"], vector("kb_query_expand")["acronyms"]) == expected


def test_expansion_keeps_to_whole_words() -> None:
    assert expand("BRAVE RAIDERS", {"RA": "risk assessment"}) == "BRAVE RAIDERS"


# -- the query of the keyword index


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("what is the risk of boats", '"risk" OR "boat"'),
        ("boats or a boat", '"boat" OR "boat"'),
        ('"audit risk" model', '("audit risk") OR ("audit risk" AND ("model"))'),
        ("assess*", '"assess"*'),
        ("to be or not to be", '"not"'),
        ("organizations*", '("organizations"* OR "organiz")'),
        ("ISA 315.12(a)", '"isa" OR "315 12"'),
        ('NEAR(a b) AND "', '"near" OR "b"'),
        ("?!", ""),
    ],
)
def test_queries(text: str, query: str) -> None:
    assert match_query(text) == query


EMPTY = Search(Store(Path(":memory:")), isa(), Unavailable("there is none"))


@settings(deadline=None)
@given(st.text(max_size=60) | st.text(alphabet='ab"*():^-+ ANDORNT.{}', max_size=40))
def test_no_text_breaks_the_query(text: str) -> None:
    assert EMPTY.find(text, mode="keyword").hits == ()


# -- search


def test_words_and_meaning_together(store: Store) -> None:
    found = search(store).find("physicians medicine")
    assert found.mode == "hybrid"
    assert set(refs(found)[:2]) == {"315.1", "500.2"}
    by_ref = {hit.passage.ref: hit for hit in found.hits}
    assert by_ref["500.2"].paths == ("keyword", "vector")
    assert by_ref["315.1"].paths == ("vector",)
    assert all(0 <= hit.score <= 1 for hit in found.hits)


def test_words_alone(store: Store) -> None:
    found = search(store).find("physicians medicine", mode="keyword")
    assert refs(found) == ["500.2"]


def test_phrases_and_beginnings_of_words(store: Store) -> None:
    at = search(store)
    assert refs(at.find('"risk assessment"', mode="keyword", expanded=False)) == ["500.3"]
    assert set(refs(at.find("prescri*", mode="keyword"))) == {"315.1"}


def test_an_acronym_finds_its_words(store: Store) -> None:
    assert set(refs(search(store).find("RA", mode="keyword"))) == {"315.3", "500.3"}
    assert refs(search(store).find("RA", mode="keyword", expanded=False)) == []


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_filters_hold_on_every_list(store: Store, mode: Any) -> None:
    at = search(store)
    for wanted in ("500", "ISA 500", "isa-500.txt"):
        found = at.find("doctors drugs risk boats paper", mode=mode, filters=Filters(documents=(wanted,)))
        assert found.hits
        assert {hit.passage.place.document for hit in found.hits} == {"500"}
    guides = at.find("doctors drugs boats", mode=mode, filters=Filters(tier="guides"))
    assert guides.hits
    assert {hit.passage.tier for hit in guides.hits} == {"guides"}
    assert all(hit.passage.heading for hit in guides.hits), "a guide keeps its heading, whichever list found it"
    none = at.find("doctors", mode=mode, filters=Filters(documents=("x' OR 1=1 --",)))
    assert none.hits == ()
    assert none.warnings == ("no document passes the filter",)


def test_what_a_question_names_is_found(store: Store) -> None:
    found = search(store).find("what does ISA 315.2 say?")
    assert refs(found)[0] == "315.2"
    assert found.hits[0].paths[0] == "named"


def test_an_empty_question_says_so(store: Store) -> None:
    assert search(store).find("  ").warnings == ("the question is empty",)


def test_without_vectors_it_says_so(store: Store) -> None:
    found = Search(store, isa(), Unavailable("the model is not installed")).find("risk", rerank=True)
    assert found.mode == "keyword"
    assert found.warnings == (
        "vectors are not used: the model is not installed",
        "nothing was ranked again: that needs vectors",
    )
    assert refs(found)


def test_an_empty_index_says_what_to_do() -> None:
    with Store(Path(":memory:")) as empty:
        found = Search(empty, isa(), Bag()).find("risk")
    assert (found.hits, found.warnings) == ((), (NOTHING_YET,))
    assert "`weft kb add`" in NOTHING_YET


def test_vectors_that_are_not_made_yet_are_told(store: Store, tmp_path: Path) -> None:
    bag = Bag()
    at = Search(store, isa(), bag)
    assert "none are made yet" in at.find("risk").warnings[0]
    fill(store, bag)
    assert at.find("risk").warnings == ()
    assert at.find("zebra").warnings == ("no passage has any of these words: what is found is only near in meaning",)
    write_documents(tmp_path / "kb", {"isa-600.txt": "1. New words.\n2. More words.\n3. Last words."})
    with write_documents(tmp_path / "kb", {}) as folder:
        update(store, folder, isa())
    assert at.find("risk").warnings == ("3 passages have no vector yet and are found by their words only",)
    assert "600.1" in refs(at.find("new words")), "a passage is found by its words at once"


def test_vectors_are_made_once_and_kept_by_what_they_stand_for(store: Store, tmp_path: Path) -> None:
    bag = Bag()
    done: list[tuple[int, int]] = []
    count = fill(store, bag, lambda *step: done.append(step))
    assert done[-1] == (count, count)
    (tmp_path / "kb/documents/isa-315.txt").rename(tmp_path / "kb/documents/isa-900.txt")
    with write_documents(tmp_path / "kb", {}) as folder:
        update(store, folder, isa())
    # The file is removed before it is found again under its new name, so its vectors go with it.
    assert missing(store, bag.model) == fill(store, bag)
    bag.embedded.clear()
    write_documents(tmp_path / "kb", {"isa-900.txt": DOCUMENTS["isa-315.txt"] + "\n5. A new one."})
    with write_documents(tmp_path / "kb", {}) as folder:
        update(store, folder, isa())
    assert fill(store, bag) == 1
    assert len(bag.embedded) == 1


def test_ranking_again_moves_towards_the_first_finds(store: Store) -> None:
    at = search(store)
    plain, again = at.find("drugs", mode="hybrid"), at.find("drugs", mode="hybrid", rerank=True)
    assert refs(plain)[0] == refs(again)[0]
    assert again.warnings == ()


# -- the model


def test_text_becomes_the_numbers_the_model_was_trained_on() -> None:
    """As the `tokenizers` library gives them for the model's own tokenizer.json."""
    assert encode("The auditor shall perform risk-assessment procedures (ISA 315.12).", 256) == [
        101, 1996, 20964, 4618, 4685, 3891, 1011, 7667, 8853, 1006, 18061, 22904, 1012, 2260, 1007, 1012, 102
    ]  # fmt: skip
    assert encode("word " * 500, 256)[-1] == 102
    assert len(encode("word " * 500, 256)) == 256


@pytest.mark.slow
def test_the_model_that_comes_with_the_install_knows_what_words_mean() -> None:
    model = load_embedder()
    assert isinstance(model, MiniLM), getattr(model, "reason", "")
    assert model.model == MODEL
    rows = model.embed(["A physician prescribes medicine.", "A doctor gives drugs.", "Boats sail in strong wind.", ""])
    assert numpy.allclose(numpy.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.3


def test_a_large_index_finds_what_a_small_one_does(tmp_path: Path) -> None:
    """The signs of all vectors first, then the nearest as they are: here the limit for large is small."""
    random = numpy.random.default_rng(5)
    centres = random.standard_normal((20, DIMENSIONS))
    made = centres[random.integers(0, 20, 400)] + 0.8 * random.standard_normal((400, DIMENSIONS))
    made /= numpy.linalg.norm(made, axis=1, keepdims=True)
    store = Store(tmp_path / "index.db")
    update(store, write_documents(tmp_path / "kb", {f"d{at}.md": f"# {at}\n\ntext {at}\n" for at in range(200)}), isa())
    with store.change() as connection:
        hashes = [row["hash"] for row in store.rows("SELECT hash FROM passages ORDER BY number")]
        connection.executemany(
            "INSERT INTO vectors VALUES (?, 'made', ?, ?)",
            [(hashes[at // 2], at % 2, made[at].astype(numpy.float16).tobytes()) for at in range(400)],
        )
    small, large = load_matrix(store, "made"), load_matrix(store, "made", large=1)
    assert large.rows.nbytes + (large.signs.nbytes if large.signs is not None else 0) < 0.3 * small.rows.nbytes
    for query in made[:40:2].astype(numpy.float32):
        near, exact = large.nearest(query, 5), small.nearest(query, 5)
        assert near[0][0] == exact[0][0]
        assert len(dict(near).keys() & dict(exact).keys()) >= 4, "a byte for each number may change neighbours' order"
        allowed = small.numbers % 2 == 0
        assert large.nearest(query, 3, allowed)[0][0] == small.nearest(query, 3, allowed)[0][0]
        assert all(number % 2 == 0 for number, _ in large.nearest(query, 3, allowed))
    assert numpy.allclose(small.of([3, 7]), large.of([3, 7]), atol=0.02)


def test_what_is_opposite_is_not_near_in_a_large_index(tmp_path: Path) -> None:
    """All 384 signs differ: a count that does not fit a byte must not come out small."""
    random = numpy.random.default_rng(6)
    query = random.standard_normal(DIMENSIONS).astype(numpy.float32)
    others = random.standard_normal((4, DIMENSIONS))
    store = Store(tmp_path / "index.db")
    update(store, write_documents(tmp_path / "kb", {f"d{at}.md": f"# {at}\n\ntext {at}\n" for at in range(200)}), isa())
    with store.change() as connection:
        hashes = [row["hash"] for row in store.rows("SELECT hash FROM passages ORDER BY number")]
        rows = [-query if at < 196 else others[at - 196] for at in range(200)]
        connection.executemany(
            "INSERT INTO vectors VALUES (?, 'made', 0, ?)",
            [(name, row.astype(numpy.float16).tobytes()) for name, row in zip(hashes, rows, strict=True)],
        )
    near = load_matrix(store, "made", large=1).nearest(query, 1)
    assert near[0][1] > -0.2


def made_vectors(store: Store, model: str, seed: int = 3) -> None:
    """A vector for every passage that has none."""
    hashes = [row["hash"] for row in store.rows("SELECT DISTINCT hash FROM passages ORDER BY hash")]
    made = numpy.random.default_rng(seed).standard_normal((len(hashes), DIMENSIONS)).astype(numpy.float16)
    with store.change() as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO vectors VALUES (?, ?, 0, ?)",
            [(name, model, row.tobytes()) for name, row in zip(hashes, made, strict=True)],
        )


def test_a_large_index_is_mapped_by_the_next_process_and_never_one_of_another_state(tmp_path: Path) -> None:
    place = write_documents(tmp_path / "kb", {f"d{at}.md": f"# {at}\n\ntext {at}\n" for at in range(30)})
    path = tmp_path / "index.db"
    with Store(path) as store:
        update(store, place, isa())
        made_vectors(store, "a/b")
        keep_matrix(store, "a/b", large=1)
        assert [file.name for file in tmp_path.glob("index.db.*")] == ["index.db.a-b.vectors"]
    with Store(path) as store:
        before = load_matrix(store, "a/b", large=1)
        with store.change() as connection:
            connection.execute("DELETE FROM vectors")  # so that whatever is found now comes from the file
        again = load_matrix(store, "a/b", large=1)
        query = before.rows[4].astype(numpy.float32)
        assert again.nearest(query, 3) == before.nearest(query, 3)
        assert again.without == 0

        (place.path / "documents" / "new.md").write_text("# new\n\nanother text\n")
        update(store, place, isa())
        assert not len(load_matrix(store, "a/b", large=1).numbers), "what was kept is of other passages"

        made_vectors(store, "a/b", seed=4)
        assert load_matrix(store, "a/b", large=1).without == 0
        with store.change() as connection:
            connection.execute("DELETE FROM vectors WHERE rowid % 2")
        keep_matrix(store, "a/b", large=1)
        assert load_matrix(store, "a/b", large=1).without > 0, "a file that a search made is made again at the end"

        (place.path / "documents" / "new.md").unlink()
        update(store, place, isa())
        assert not list(tmp_path.glob("index.db.*")), "nothing is left of what was removed"


@pytest.mark.parametrize("size", [0, 7, 100, -1])
def test_a_file_of_vectors_that_is_cut_counts_as_none(tmp_path: Path, size: int) -> None:
    place = write_documents(tmp_path / "kb", {f"d{at}.md": f"# {at}\n\ntext {at}\n" for at in range(5)})
    with Store(tmp_path / "index.db") as store:
        update(store, place, isa())
        made_vectors(store, "made")
        keep_matrix(store, "made", large=1)
        file = tmp_path / "index.db.made.vectors"
        file.write_bytes(file.read_bytes()[:size])
        assert len(load_matrix(store, "made", large=100).numbers) == 5
        assert len(load_matrix(store, "made", large=1).numbers) == 5


def test_an_index_of_the_version_before_is_taken_over(tmp_path: Path) -> None:
    place = write_documents(tmp_path / "kb", {"a.md": "# A\n\ntides rise\n"})
    with Store(tmp_path / "index.db") as store:
        update(store, place, isa())
        with store.change() as connection:
            connection.execute("DROP TABLE state")
            connection.execute("PRAGMA user_version = 2")
    with Store(tmp_path / "index.db") as store:
        assert update(store, place, isa()).counts["unchanged"] == 1
        assert isinstance(store.stamp(), int)


def test_what_common_words_score_is_kept_and_ranks_as_the_keyword_index_does(tmp_path: Path) -> None:
    random = numpy.random.default_rng(8)
    words = ["tide", "harbour", "café", "rope", "anchor", "mast", "gull", "keel", "ebb", "lee"]
    texts = [
        " ".join(words[min(int(random.exponential(2)), 9)] for _ in range(random.integers(3, 7))) for _ in range(90)
    ]
    files = {f"d{at}.md": f"# Passage {at}\n\n{text}\n" for at, text in enumerate(texts)}
    questions = [
        "tide harbour",
        "cafe",
        "café rope rope",
        "keel ebb 17",
        "tide",
        "tide mast",
        "nowhere",
        "Gulls",
        *words,
    ]
    questions += ["tid*", '"rope anchor" tide', "tide and-rope", "who is it", ""]

    with Store(tmp_path / "index.db") as filed:
        found = partial(_scores_found, filed)
        update(filed, write_documents(tmp_path / "kb", files), isa())
        exact = [found(question) for question in questions]
        keep_word_scores(filed, large=1, common=15)
        kept = load_word_scores(filed)
        assert kept is not None
        assert {"anchor", "cafe", "rope"} <= set(kept.places)
        assert "tide" in kept.everywhere
        assert not {"lee", "17"} & set(kept.places), "a rare word is asked of the keyword index"
        assert [found(question) for question in questions] == [pytest.approx(scores, abs=2e-3) for scores in exact]
        with filed.change() as connection:  # so that whatever is found now comes from the file
            connection.execute("INSERT INTO passages_fts (passages_fts) VALUES ('delete-all')")
        assert found("cafes rope") == pytest.approx(kept_scores(kept, filed, "cafe", "rope"))
        assert found("lee") == []
        update(filed, write_documents(tmp_path / "kb", {**files, "new.md": "# New\n\ntide\n"}), isa())
        assert load_word_scores(filed) is None, "what was kept is of other passages"


def kept_scores(kept: WordScores, store: Store, *words: str) -> list[float]:
    return list((kept.best(store, words, 15) or {}).values())


def _scores_found(store: Store, question: str) -> list[float]:
    """A word in most passages tells nothing: what has no other is left out here."""
    hits = Search(store, isa(), Unavailable("x")).find(question, limit=15).hits
    return [hit.bm25 for hit in hits if hit.bm25 is not None and hit.bm25 > 1e-3]


def test_a_filter_that_all_documents_pass_is_none_and_another_is_asked_once(tmp_path: Path) -> None:
    """A plan that looks a passage up for each of a document's passages asks the whole question as often."""
    files = {f"d{at}.md": f"# {at}\n\ntides rise {at}\n" for at in range(4)}
    with Store(tmp_path / "index.db") as filed:
        update(filed, write_documents(tmp_path / "kb", files), isa())
        asked: list[str] = []
        filed._connection.set_trace_callback(asked.append)
        search = Search(filed, isa(), Unavailable("x"))
        tier = filed.documents()[0].tier
        assert len(search.find("tides", filters=Filters(tier=tier)).hits) == 4
        assert not [text for text in asked if "MATCH" in text and "rowid IN" in text]
        assert [hit.passage.file for hit in search.find("tides", filters=Filters(documents=("d2.md",))).hits] == [
            "d2.md"
        ]
        filed._connection.set_trace_callback(None)
        (filtered,) = [text for text in asked if "MATCH" in text and "rowid IN" in text]
        plan = [row["detail"] for row in filed.rows(f"EXPLAIN QUERY PLAN {filtered}")]
        (scan,) = [detail for detail in plan if "passages_fts" in detail]
        assert "=" not in scan.split("INDEX", 1)[1], scan


@pytest.mark.parametrize(
    "text",
    [
        "The tide's tables, don't 'quote' rock'n'roll; x_y A-B 3.14 '' it' 'tis",
        "Über die Gezeiten – l’eau, don’t “quote” naïve_words",
        "tabs\tand\nlines\x0bof\x7fall\x00kinds",
        "",
    ],
)
def test_a_text_is_indexed_by_the_stems_of_its_words(text: str) -> None:
    assert indexed_text(text) == " ".join(stems(text))


def test_small_words_of_a_question_are_left_out_in_its_own_language() -> None:
    assert telling_words("Wie viel kostet der Eintritt in den Garten?") == stems("kostet Eintritt Garten")
    assert telling_words("¿Cuándo abre el jardín de la ciudad?") == stems("abre jardín ciudad")
    assert telling_words("Did they die in the garden?") == stems("die garden")
