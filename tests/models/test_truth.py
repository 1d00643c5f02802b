"""Nothing in a kit is made up: quotes are verbatim, numbers and words come from the places a kit names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models import kits
from weft.models.embedded.words import tokens

INSTALLED = [
    "/usr/share/common-licenses/GPL-3",
    "/usr/share/common-licenses/Artistic",
    "/usr/share/common-licenses/CC0-1.0",
    "/usr/share/common-licenses/MPL-2.0",
    "/usr/share/common-licenses/BSD",
    "/usr/share/doc/base-files/README",
    "/usr/share/perl/5.36/pod/perl.pod",
]
"""Documents of other kinds that a Debian machine has; what is not there is not tried."""


@pytest.mark.parametrize("name", kits.NAMES)
def test_every_word_stands_where_the_kit_says(name: str) -> None:
    kit = kits.kit_of(name)
    assert kits.unsupported(kit) == []
    assert kits.misplaced(kit) == []


@pytest.mark.parametrize("name", kits.NAMES)
def test_the_projects_own_checks_find_nothing(name: str) -> None:
    assert kits.findings(kits.kit_of(name)) == []


@pytest.mark.parametrize("path", [path for path in INSTALLED if Path(path).exists()])
def test_real_documents_give_true_kits(path: str) -> None:
    kit = kits.make(Path(path).read_text("utf-8", "replace"))
    assert kits.schema_errors(kit) == []
    assert kits.findings(kit) == []
    assert kits.unsupported(kit) == []
    assert kits.misplaced(kit) == []


def test_a_word_that_nobody_said_would_be_noticed() -> None:
    """The net has no holes: one strange word, one strange number, one changed quote are each caught."""
    kit = kits.make(kits.text_of("night-trains.md"))
    kit.summary["bullets"][0] += " Zebras."
    kit.ideas["angles"][0]["description"] += " It cost 77 million."
    kit.summary["importantQuotes"][0]["text"] += " indeed"
    assert any("zebras" in found for found in kits.unsupported(kit))
    assert any("77" in found for found in kits.findings(kit))
    assert any("importantQuotes" in found for found in kits.findings(kit))


@pytest.mark.parametrize("name", kits.NAMES)
def test_bullets_are_sentences_of_the_source_with_words_left_out_only(name: str) -> None:
    kit = kits.kit_of(name)
    for bullet, places in zip(kit.summary["bullets"], kit.summary["evidence"]["bullets"], strict=True):
        said = iter(tokens(" ".join(kit.text[start:end] for start, end in places), kit.code))
        assert all(word in said for word in tokens(bullet, kit.code)), bullet


@pytest.mark.parametrize("name", kits.NAMES)
def test_a_quotes_place_is_the_quote(name: str) -> None:
    kit = kits.kit_of(name)
    for quote, places in zip(kit.summary["importantQuotes"], kit.summary["evidence"]["importantQuotes"], strict=True):
        start, end = places[0]
        assert " ".join(kit.text[start:end].split()) == quote["text"]


@pytest.mark.parametrize("name", kits.NAMES)
def test_speakers_and_names_occur(name: str) -> None:
    kit = kits.kit_of(name)
    for quote in kit.summary["importantQuotes"]:
        assert quote.get("speaker", "") in kit.text
    for theme in kit.summary["keyThemes"]:
        assert " ".join(theme.lower().split()) in " ".join(kit.text.lower().split())


def test_what_people_say_has_its_speaker() -> None:
    quotes = kits.kit_of("night-trains.md").summary["importantQuotes"]
    speakers = {quote["text"]: quote.get("speaker") for quote in quotes}
    said = {speaker: text for text, speaker in speakers.items()}
    assert "We expected retired couples" in said["Helena Voss"]
    assert "until the invoice arrives" in " ".join(
        text for text, speaker in speakers.items() if speaker == "Tomas Brandl"
    )
    # `They` can't be understood without the villages she names in the sentence before: one quote, as it stands.
    assert said["Mira Kostova"].startswith('"I represent villages')
    assert said["Mira Kostova"].endswith('at night and it does not stop."')


def test_a_transcript_keeps_speaker_and_time() -> None:
    quotes = kits.kit_of("interview-bees.txt").summary["importantQuotes"]
    assert quotes
    assert all(quote["speaker"] == "Rosalind Achterberg" for quote in quotes)
    later = next(quote for quote in quotes if "how many are too many" in quote["text"])
    assert later["timestamp"] == "00:03:31"


def test_times_come_from_the_callers_cues_where_there_are_any() -> None:
    text = "We open the box. The smell tells me everything about the colony. Nobody gives money to a bee without honey."
    cues = [{"offset": 0, "start": 4.2}, {"offset": text.index("The smell"), "start": 75.9}]
    cues.append({"offset": text.index("Nobody"), "start": 3725.0})
    found = {quote["text"]: quote["timestamp"] for quote in kits.make(text, cues=cues).summary["importantQuotes"]}
    assert found["The smell tells me everything about the colony."] == "1:15"
    assert found["Nobody gives money to a bee without honey."] == "1:02:05"


def test_arithmetic_is_not_emphasis() -> None:
    """Stars between numbers stay: taking them out would make another number."""
    text = (
        "The size is an integer with a unit, so 10K is 10*1024 bytes. A *very* large file needs more. "
        "Each block of the archive has 2*3*5 records, and the index grows with **every** volume that is added to it."
    )
    kit = kits.make(text)
    assert kits.findings(kit) == []
    assert "10*1024" in kit.summary["overview"]
    assert "*very*" not in kit.summary["overview"]
