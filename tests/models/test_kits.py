"""Kits: short, true, in the source's words, nothing twice; a speaker only where words are tied to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.models import kits
from tests.models.documents import documents
from weft.language.leaning import leans_back
from weft.models.embedded.quotes import Quote, as_values, spoken_quotes
from weft.models.embedded.reading import opens_with_speech, read

GALLERY = Path(__file__).parents[2] / "docs/gallery/sources"
ALL = [*kits.NAMES, *documents()]


@cache
def kit_of(name: str) -> kits.Kit:
    return kits.kit_of(name) if name in kits.NAMES else kits.make(documents()[name])


@pytest.mark.parametrize("name", ALL)
def test_a_kit_is_true_and_shorter_than_its_source(name: str) -> None:
    assert kits.faults(kit_of(name)) == []


def test_there_are_documents_to_read() -> None:
    assert len(kits.NAMES) >= 30
    assert len(ALL) >= 35, "neither licences nor readmes are installed here"


def test_a_fault_would_be_noticed() -> None:
    """The net has no holes: a strange word, a strange number, a changed quote and a sentence twice are each caught."""
    kit = kits.make(kits.text_of("night-trains.md"))
    kit.summary["bullets"][0] = "Zebras sleep in it."
    kit.summary["bullets"][1] += " It cost 77 million."
    kit.summary["importantQuotes"][0]["text"] += " indeed"
    kit.ideas["questions"].append({"question": kit.summary["bullets"][2]})
    kit.ideas["evidence"]["questions"].append(kit.summary["evidence"]["bullets"][2])
    assert any("Zebras" in found for found in kits.unsupported(kit))
    assert any("77" in found for found in kits.findings(kit))
    assert any("importantQuotes" in found for found in kits.findings(kit))
    assert kits.told_twice(kit)
    assert kits.too_long(kits.Kit("One word", kit.summary, kit.ideas, kit.outline, kit.whole))


@pytest.mark.parametrize("name", ALL)
def test_no_code_and_no_furniture_is_told(name: str) -> None:
    kit = kit_of(name)
    for text in [kit.summary["tldr"], *kit.summary["bullets"]]:
        assert ">>>" not in text
        assert "```" not in text
        assert "All rights reserved" not in text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("story-orchard.txt", "story"),
        ("poem.txt", "poem"),
        ("letter.txt", "letter"),
        ("minutes.md", "meeting"),
        ("packing-list.md", "list"),
        ("chat.txt", "interview"),
        ("interview-bees.txt", "interview"),
        ("howto-backup.md", "manual"),
        ("ferry-news.md", "news"),
        ("bread.md", "recipe"),
        ("essay-maps.md", "essay"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    assert kit_of(name).summary["category"] == kind


TOLD = "It stood in a room, was cranked by hand, and told sailors when the water would come back. " * 3
ON_A_DAY = "The water rose on the night of 31 January 1953, and what the tables said was a smaller thing. " * 3


def test_a_text_that_tells_is_no_news_and_one_that_names_who_said_it_and_when_is() -> None:
    essay = f"# The machine\n\n{TOLD}\n\n{ON_A_DAY}\n"
    assert kits.make(essay).summary["category"] != "news"
    said = "Ann Berg said on Tuesday that the dock was full. Police said a man had been seen on Monday. "
    assert kits.make(f"# The dock\n\n{said}{TOLD}").summary["category"] == "news"


@pytest.mark.parametrize(
    "place",
    ["HARBURG, February 9. /NORD/. ", "Harburg (ABCD)", "New Harburg, Northland - ", "/NORD/ ", "HARBURG (AP) — "],
)
def test_a_dateline_makes_news_and_is_not_told(place: str) -> None:
    told = "The council of the town has closed the swing bridge for a year. It was built in 1911. " + TOLD
    summary = kits.make(place + told).summary
    assert summary["category"] == "news"
    assert summary["tldr"].startswith("The council of the town has closed the swing bridge for a year.")


@pytest.mark.parametrize("name", ["POV-Ray", "CD-ROM", "TCP-IP", "GNU-Linux"])
def test_a_name_with_a_hyphen_is_no_dateline(name: str) -> None:
    text = f"# Notes\n\n{name} works with two kinds of files, and both of them are plain text. {TOLD}\n"
    assert kits.make(text).summary["tldr"].startswith(f"{name} works with two kinds of files")


def test_what_stands_over_lists_speaks_to_nobody() -> None:
    parts = ("Design", "Sorting", "Testing") * 2
    tasks = [
        f"{part}:\n  -> the keeper should write {n} tests for it, and a page on how it is done"
        for n, part in enumerate(parts)
    ]
    spoken = [one.replace("  -> the", "The") for one in tasks]
    assert set(read("\n\n".join(spoken)).speakers) == set(parts)
    assert read("\n\n".join(tasks)).speakers == ()


def test_an_option_is_told_with_its_dash() -> None:
    text = f"# Runtime options\n\n-P If set, the guard will not stop when a list can't be read. {TOLD}\n"
    made = kits.make(text).summary
    told = [made["tldr"], *made["bullets"]]
    assert [one for one in told if one.startswith("-P If set")]


def test_a_short_report_full_of_names_is_news_and_no_story() -> None:
    report = (
        "Mayor Anna Lindqvist has ordered the Harburg Ferry Authority to stop selling tickets. She wrote to the City "
        "Council that she had lost her trust in Director Paul Reeve. He denied in a letter to the Harburg Post that he "
        "had known of the faults. Her deputy, Tom Okafor of the Green Alliance, backed her. His party wants the "
        "Northland Ministry of Transport to look at the Ferry Authority and the Bridge Board. Okafor said Reeve was "
        "warned before. She agreed."
    )
    assert kits.make(report).summary["category"] == "news"


def test_a_quoted_name_opens_no_speech_and_what_leans_on_a_point_stands_with_it() -> None:
    known = read("The house stands on the hill and it is old.").known
    named, spoken = '"The Long Wall" is a work of three buses.', '"We are glad," said Ann Berg.'
    assert not opens_with_speech(named, known)
    assert opens_with_speech(spoken, known)
    assert opens_with_speech('"We are glad that it was built at last and stands here," Berg told them.', known)
    lines = [
        "HARBURG (AP) — The council has closed the swing bridge for a year, after engineers found cracks in both of "
        "its bearings and the harbour office asked for time to look at the two older bridges of the town.",
        "Buses of the Northern Line go round by the old mill from Monday morning.",
        "They will need twenty minutes more for the way to the station.",
        "Shops on the eastern bank expect to lose a third of their customers by autumn.",
        *(f"Somebody else spoke of matter number {at} at the market of the old town." for at in range(9)),
    ]
    points = kits.make("\n\n".join(lines)).summary["bullets"]
    assert f"{lines[1]} {lines[2]}" in points
    assert not [point for point in points if point.startswith("They")]


class _Meaning:
    """A model that knows two meanings, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return np.array([[1.0, 0.0] if "ferry" in text else [0.0, 1.0] for text in texts], dtype=np.float32)


def test_meaning_is_asked_of_news_only_against_a_title_that_says_something() -> None:
    first = "HARBURG (AP) — The council has closed the swing bridge for a year."
    rest = [f"Engineer number {at} spoke of old matters of the northern town at length." for at in range(14)]
    text = "\n\n".join([first, *rest[:7], "A ferry will carry cars and people over the river.", *rest[7:]])
    silent, heard = _Meaning(), _Meaning()
    without = kits.make(text, meaning=silent).summary["bullets"]
    named = kits.make(text, meaning=heard, title="Ferry instead of bridge for Harburg drivers").summary["bullets"]
    assert silent.asked == []
    assert heard.asked[-1] == "Ferry instead of bridge for Harburg drivers"
    assert without[0] == named[0], "place still says what comes first"
    assert any("ferry" in point for point in named)


@pytest.mark.parametrize("name", kits.NAMES)
def test_points_are_complete_without_the_short_version_and_a_reader_meets_nothing_twice(name: str) -> None:
    kit = kits.kit_of(name)
    short, points = kit.summary["evidence"]["tldr"], kit.summary["evidence"]["bullets"]
    assert {tuple(span) for span in short} <= {tuple(span) for spans in points for span in spans}
    assert kits.told_twice(kit) == []


def test_key_points_of_an_essay_stand_alone_and_come_from_its_whole_length() -> None:
    kit = kits.make((Path(__file__).parents[2] / "examples/tides.md").read_text("utf-8"))
    places = [spans[0][0] for spans in kit.summary["evidence"]["bullets"]]
    assert len(places) >= 3
    assert not [text for text in kit.summary["bullets"] if leans_back(text)]
    assert max(places) > 0.7 * len(kit.text), "the end is heard"
    assert min(after - before for before, after in pairwise(places)) > 100, "no two stand side by side"


def test_a_list_of_frequent_questions_is_told_as_questions_with_their_answers() -> None:
    asked = [
        ("How heavy may the gate be?", "The gate may weigh 300 kg."),
        ("Is it loud?", "The motor is quiet enough."),
    ]
    asked += [
        ("Can two be linked?", "Two motors can share one remote control."),
        ("What does it cost?", "Ask a dealer."),
    ]
    text = "# Frequently asked questions\n\n" + "\n\n".join(
        f"{one}\n\n{two} More is said of that below." for one, two in asked
    )
    (part,) = kits.make(text).summary["parts"]
    told = {item["under"]: item["text"] for item in part["items"]}
    assert told["How heavy may the gate be?"].startswith("The gate may weigh 300 kg.")


def test_a_sponsor_is_told_of_nowhere() -> None:
    text = (
        kits.text_of("ferry-news.md") + "\n\n## This issue is sponsored by\n\nGrowWell gives you 20% off all pumps.\n"
    )
    kit = kits.make(text)
    assert "GrowWell" not in str(kit.summary) + str(kit.ideas)


# -- speakers


def speakers(text: str) -> list[str]:
    return [one.speaker for one in spoken_quotes(read(text))]


@pytest.mark.parametrize(
    ("text", "said_by"),
    [
        ('"We cannot sail to a dock like that one," said Priya Raman.', ["Priya Raman"]),
        ('"We cannot sail to a dock like that one," Raman said on Tuesday.', ["Raman"]),
        ('Priya Raman, who runs the line, said: "We cannot sail to a dock like that."', ["Priya Raman"]),
        ('According to Priya Raman, "We cannot sail to a dock like that one."', ["Priya Raman"]),
        ('"We stopped because we thought it was over," said Harland\'s coach, Dana Whitlock.', ["Dana Whitlock"]),
        ('"We sold a house and rented rooms in it," says the mayor, Karin Vogt.', ["Karin Vogt"]),
        ('"It is very cold in here," said Ann Berg. "Nobody has ever been warm here."', ["Ann Berg", "Ann Berg"]),
        ('"It is far too cold in here," said Ann Berg. "It always was too cold," she added.', ["Ann Berg", "Ann Berg"]),
        # What is told to somebody, of somebody, or near somebody is not theirs.
        ('"The ground has never promised me anything," she tells Vera, "and neither did you."', []),
        ('Ann Berg left. "The house has been cold for as long as I can think."', []),
        ('"The ground has never promised me anything," she said.', []),
        ('"The house has been cold for ever." Ann Berg had heard that before.', []),
        ('"We sold the house and rented a room in it," said a spokesman for Ann Berg.', []),
        ('"We sold the house and rented a room in it," a friend of Ann Berg said.', []),
        ('"We sold the house and rented a room in it," said the head of the line, Ann Berg.', ["Ann Berg"]),
        ("«Il n'y a pas de sujet, nous n'avons rien», ajoute un proche de Pierre Morel.", []),
        ('The critics said of Ann Berg: "She has never been warm to anybody here."', []),
        ('The book was called "The Long Road Home Again" by Ann Berg.', []),
        ("„Wir haben ein Haus verkauft und zur Miete gewohnt“, sagt Karin Vogt. Das war teuer.", ["Karin Vogt"]),
        ("„Wir haben einen Acker gepflanzt und ihn Wald genannt“, sagt Judith Kaltenbach.", ["Judith Kaltenbach"]),
        (
            "„Man reißt nicht ab, was man reparieren kann“, sagte Karin Vogt. Der Landrat Stefan Kühn war dagegen. "
            "„Die Kosten trägt am Ende der Kreis“, sagte er.",
            ["Karin Vogt"],
        ),
        # What somebody else does or says stands between, and what belongs to somebody is no name.
        (
            "“I am a man with a stake,” Urs Zgraggen says. “I read it every morning.” His neighbour, Vreni Gisler, "
            "laughs. “He counts snow and I count his boots,” she says.",
            ["Urs Zgraggen", "Urs Zgraggen"],
        ),
        ('"It is very cold in here," said Ann Berg. Her son laughs. "It never was warm here," he says.', ["Ann Berg"]),
        ('"It is very cold in here," said Ann Berg, while Tom Hale laughed. "No man was ever warm."', ["Ann Berg"]),
        ('Ann Berg said: "It is very cold in here." The council replied: "We know all of that."', ["Ann Berg"]),
        ('"It is very cold in here," said Ann Berg. "It never was warm in there," laughs her son.', ["Ann Berg"]),
        (
            '"It is very cold in here," said Ann Berg of the University of Oslo. "No man was ever warm," she added.',
            ["Ann Berg", "Ann Berg"],
        ),
        (
            "Das Haus ist sehr alt, und niemand wohnt darin.\n\n"
            "„Wir haben ein Haus verkauft und gewohnt“, sagt Karin Vogt, und Urs Meier lacht. "
            "„Er zählt nur seine alten Stiefel im Haus.“",
            ["Karin Vogt"],
        ),
        ('"The ice will not hold another week," said Berg\'s daughter.', []),
        ('"The ice will not hold another week," said Vandenberg\'s laundress.', []),
        ('"The ice will not hold another week," said the Bergs\' delegate on Monday.', []),
        ('"The ice will not hold another week," said Ludwig van Damme.', ["Ludwig van Damme"]),
        ('Some wrote to us.\n\n"The strap is a bit short for a helmet." — Tom Ames', ["Tom Ames"]),
        ("« Nous avons vendu la maison et loué la chambre », dit Claire Morel.", ["Claire Morel"]),
        ("«Antes trabajábamos siete días para vender lo de cinco», dice Lucía Ferrer.", ["Lucía Ferrer"]),
    ],
)  # fmt: skip
def test_a_speaker_is_who_a_verb_ties_to_these_words(text: str, said_by: list[str]) -> None:
    assert [name for name in speakers(text) if name] == said_by


@pytest.mark.parametrize("name", kits.NAMES)
def test_speakers_occur_and_a_quotes_place_is_the_quote(name: str) -> None:
    kit = kits.kit_of(name)
    for quote, places in zip(kit.summary["importantQuotes"], kit.summary["evidence"]["importantQuotes"], strict=True):
        start, end = places[0]
        assert " ".join(kit.text[start:end].split()) == quote["text"]
        assert quote.get("speaker", "") in " ".join(kit.text.split())


def test_a_sentence_that_is_spoken_twice_is_quoted_once_and_no_kit_is_lost() -> None:
    """The same words by the same person were the same quote twice, and the check refused the whole."""
    line = "[00:0{at}:00] Ana: Nobody gives money to a bee without honey in the house.\n\n"
    other = "[00:0{at}:30] Host: Why do you say that the bees have nothing at all?\n\n"
    text = "".join(line.format(at=at) + other.format(at=at) for at in range(4))
    text += "[00:09:00] Ana: We opened the second box in March, and nine of the frames were empty.\n"
    kit = kits.make(text)
    assert kits.faults(kit) == []
    said = [quote["text"] for quote in kit.summary["importantQuotes"]] + kit.summary["bullets"]
    assert sum("Nobody gives money" in one for one in [*said, kit.summary["tldr"], kit.summary["headline"]]) <= 2


def test_quotes_come_from_the_whole_length() -> None:
    said = [
        "The harbour will never be deep enough for these ships.",
        "My mother sold herring on this very stone for forty winters.",
        "A crane costs more than every house in the street together.",
        "Only the pilots know where the old wreck lies now.",
        "Nobody under thirty wants to learn how a net is mended.",
        "The bank in the capital has never answered one of our letters.",
        "We must close the school if the cannery goes away.",
        "Rain always comes from the side where the lighthouse stands.",
    ]
    names = ("Anna", "Boris", "Clara", "Dario", "Erika", "Felix", "Greta", "Hanno")
    filler = "The council met again in the old hall and read the papers of the year before it went home."
    text = "\n\n".join(
        f'{filler.replace("year", f"year {name}")} "{line}" said {name} Berg.'
        for line, name in zip(said, names, strict=True)
    )
    found = kits.make(text).summary["evidence"]["importantQuotes"]
    assert len(found) >= 3
    assert any(places[0][0] < len(text) / 2 for places in found)
    assert any(places[0][0] > len(text) / 2 for places in found)


def test_a_transcript_keeps_speaker_and_time() -> None:
    quotes = kits.kit_of("interview-bees.txt").summary["importantQuotes"]
    assert quotes
    assert {quote["speaker"] for quote in quotes} == {"Rosalind"}
    assert all(quote["timestamp"] for quote in quotes)


def test_times_come_from_the_callers_cues_where_there_are_any() -> None:
    text = "Ann: We open the box. The smell tells me everything. Nobody gives money to a bee without honey."
    places = {
        said: (text.index(said), text.index(said) + len(said)) for said in ("The smell tells me everything.", "Nobody")
    }
    cues = [{"offset": 0, "start": 4.2}, {"offset": text.index("The smell"), "start": 75.9}]
    cues.append({"offset": text.index("Nobody"), "start": 3725.0})
    found = as_values([Quote(said, span, "Ann", 0) for said, span in places.items()], read(text), cues)
    assert [value["timestamp"] for value in found] == ["1:15", "1:02:05"]


# -- shapes


def test_a_meeting_has_decisions_and_tasks_with_owner_and_date() -> None:
    parts = {part["title"]: part["items"] for part in kits.kit_of("minutes.md").summary["parts"]}
    assert not any("postponed" in item["text"] for item in parts.get("Decisions", ()))
    assert any("postponed" in item["text"] for item in parts["Postponed"])
    peter = next(item for item in parts["To do"] if item.get("owner") == "Peter")
    assert peter["due"] == "20 May"
    assert "meter" in peter["text"]


def test_an_interview_has_what_was_asked_and_answered() -> None:
    part = kits.kit_of("podcast-locks.txt").summary["parts"][0]
    assert all(item["under"].endswith("?") for item in part["items"])


def test_a_poem_is_not_told_to_open_with_anything() -> None:
    kit = kits.kit_of("poem.txt")
    assert kit.summary["tldr"] == ""
    assert kit.summary["bullets"] == []
    assert kit.summary["note"] == "A poem of 14 lines in 4 stanzas."
    assert "opens with" not in kit.markdown


def test_automatic_captions_say_what_they_are() -> None:
    said = "so we went there and we looked at the house and then nobody was at home but the light was on "
    kit = kits.make(said * 12, source_kind="webvtt")
    assert kit.summary["category"] == "captions"
    assert kit.summary["note"].startswith("Automatic captions")
    assert kits.schema_errors(kit) == []
    assert kits.findings(kit) == []


def test_automatic_captions_in_another_language_are_cut_where_somebody_begins_anew() -> None:
    said = (
        "ja hallo zusammen und willkommen zurück heute geht es um den alten ofen in der backstube und wie er geheizt"
        " wird also viele leute sagen mir der ofen ist zu groß und das stimmt so nicht ähm ich habe ihn im winter"
        " gemessen und wir brauchen zwei stunden bis er warm ist und ich backe dann vierzig brote mit einem korb holz"
        " aber der ofen hält die wärme bis zum abend und wir trocknen dann noch äpfel im ofen also wenn jemand fragt"
        " dann sage ich der ofen ist nicht zu groß die brote sind zu wenige und wir verkaufen seit mai auch an die"
        " schule im dorf und man kann uns dabei zusehen jeden freitag ab fünf uhr steht die tür offen und wir zeigen"
        " wie das holz geschichtet wird danke fürs zuschauen und bis zum nächsten mal"
    )
    kit = kits.make(said, source_kind="webvtt", title="Der alte Ofen")
    assert kit.summary["tldr"].startswith("heute geht es um den alten ofen in der backstube")
    told = [
        *kit.summary["tldr"].split(" … "),
        *kit.summary["bullets"],
        *(q["text"] for q in kit.summary["importantQuotes"]),
    ]
    assert not [one for one in told if one.startswith(("und ", "also ")) or "willkommen" in one or "zuschauen" in one]


def test_an_interview_as_it_is_printed_is_told_by_its_questions() -> None:
    text = (
        "# On the rope\n\nMarta Olin has looked after bridges for years.\n\n**How did you begin?**\n\nBy accident."
        " I trained as a machinist, and it closed in 2004.\n\n**Drones do half of it now. What do they miss?**\n\n"
        "A drone hears nothing. Last year we found four cracked hangers here by their sound alone.\n\n**What would you"
        " do with more money?**\n\nHire apprentices. I have two years left, and nobody is learning from me.\n"
    ) + "It takes years until somebody hears a crack. I would begin with two. " * 6
    kit = kits.make(text)
    assert kit.summary["category"] == "interview"
    assert "**How did you begin?** By accident. I trained as a machinist" in kit.markdown
    common = text.replace("I trained", "You train").replace("we found", "it found").replace("I have", "You have")
    assert kits.make(common.replace("I would", "You would")).summary["category"] != "interview"


@pytest.mark.parametrize("between", ["\n", " "])
def test_an_answer_may_stand_in_the_paragraph_of_its_question(between: str) -> None:
    asked = [
        ("Why did you become a baker?", "I was an accountant and I was bored. My aunt in Freetown baked for a street."),
        ("You use only four kinds of flour now. Why so few?", "Because I want to know them by touch, and I do by now."),
        ("How do you deal with the prices?", "Badly. Flour has gone up by forty per cent, and I lost customers by it."),
        ("What is next for the bakery?", "A second oven, if the bank says yes. I have promised my daughter Sundays."),
    ]
    over = "Amara Sesay has run her bakery in Leith for nine years. She starts work at two in the morning."
    text = "\n\n".join(["# A talk with a baker", over, *(f"**{one}**{between}{other}" for one, other in asked)])
    kit = kits.make(text)
    assert kit.summary["category"] == "interview"
    assert kit.summary["tldr"] == over
    assert "You use only four kinds" not in " ".join(quote["text"] for quote in kit.summary["importantQuotes"])
    assert "**Why did you become a baker?** I was an accountant" in kit.markdown


def test_what_answers_a_question_of_the_text_is_no_quotation() -> None:
    text = """# On paper

I keep a map of paper in the car, and my friends find this quaint. I think that it is the more demanding thing.

A screen shows the place where I am and the turn that comes next. For arriving in time it is good, and I use it.

I once spent an hour on a track in the hills since I had taken a boundary for a road. I have kept it in mind.

What did I learn on the last road that a voice took me down? Nothing, as far as I can tell today.

The paper is old, and it shows a railway that was closed when I was a boy. I know where it is wrong."""
    kit = kits.make(text)
    assert kit.summary["category"] == "essay"
    assert "Nothing" not in kit.markdown


def test_who_does_something_may_be_said_behind_a_semicolon() -> None:
    said = "The tanks are to be cleaned first; Carla will find volunteers."
    text = kits.text_of("minutes.md") + f"\n\n## Water\n\n{said}\n"
    parts = {part["title"]: part["items"] for part in kits.make(text).summary["parts"]}
    assert {"text": said, "owner": "Carla"} in parts["To do"]


def test_a_talk_is_told_by_what_is_said_of_the_guest_and_not_by_half_an_answer() -> None:
    text = """Lena: Welcome to Small Engines. With me today is Oskar Brandt, who restores outboard motors. Hi Oskar.
Oskar: Thanks for having me in the show.
Lena: Do you teach this as well?
Oskar: Twice a year at the folk high school in Norrtälje. Everybody goes home with a motor that runs.
Lena: What is the most common mistake?
Oskar: Old fuel from the year before. Nine times out of ten it is only varnish in the carburettor of the motor.
Lena: What makes an old motor worth saving?
Oskar: Mostly that you can open it. A motor from the sixties has two hundred parts, and a lathe makes all of them.
"""
    kit = kits.make(text)
    assert kit.summary["tldr"] == "With me today is Oskar Brandt, who restores outboard motors."
    alone = [*kit.summary["bullets"], *(quote["text"] for quote in kit.summary["importantQuotes"])]
    assert not [one for one in alone if one.startswith(("Twice a year", "Old fuel", "Mostly"))]


def test_a_report_has_what_it_recommends() -> None:
    body = "The bus ran through the night for half a year, and people who work late took it home. " * 3
    text = (
        f"# Night buses on line 7\n\n## 1. Background\n\n{body}\n\n## 2. Results\n\n{body.replace('bus', 'tram')}\n\n"
        "## 3. Recommendations\n\n1. Continue line 7 until the end of next year.\n2. Keep a spare bus at the depot.\n"
    )
    part = kits.make(text).summary["parts"][0]
    assert part["title"] == "Recommendations"
    advised = ["Continue line 7 until the end of next year.", "Keep a spare bus at the depot."]
    assert [item["text"] for item in part["items"]] == advised
    assert "parts" not in kits.make(text.replace("Recommendations", "Remarks")).summary


def test_the_authors_own_abstract_is_used() -> None:
    body = " ".join(
        f"The {n}th plot was dug in spring and the soil was weighed again in the autumn of the year." for n in range(60)
    )
    text = (
        "# Seagrass after cold winters\n\n## Abstract\n\nWe followed eighteen meadows for fourteen years. "
        "Recovery depends on the winter that follows and not on the summer before it.\n\n## Introduction\n\n"
        + body + "\n\n## Methods\n\n" + body
        + "\n\n## Results\n\n" + body + "\n\n## References\n\n[1] Smith, J. and Berg, A. Meadows of the north. 2011.\n"
    )  # fmt: skip
    kit = kits.make(text)
    assert kit.summary["category"] == "paper"
    assert "Recovery depends on the winter" in kit.summary["tldr"]
    assert "Smith" not in kit.markdown


@pytest.mark.parametrize(
    "aside",
    [
        "By Jane Miller",
        "Published 12 May 2021",
        "Photo: Getty Images",
        "This episode is brought to you by Acme Mattresses, the mattress for people who sleep.",
        "Subscribe to our newsletter and get twenty percent off your first order with us.",
        "Get fifteen percent off all hoes at Tooltown with the code SLOW15.",
        "© 2021 The Daily Harbour. All rights reserved.",
        "Share this article with your friends",
        "[12] Berg, A. and Smith, J. Harbours of the north. Journal of Ports, 2011.",
        "Jane Miller works for the Daily Harbour as a writer. She went to school in Ostend.",
    ],
)
def test_what_stands_beside_the_text_is_not_told(aside: str) -> None:
    text = kits.text_of("ferry-news.md")
    head, _, body = text.partition("\n\n")
    for changed in (f"{head}\n\n{aside}\n\n{body}", f"{text}\n\n{aside}\n"):
        assert aside not in kits.make(changed).markdown


@pytest.mark.parametrize(
    ("title", "headed"), [("bread", True), ("river talk", True), ("dQw4w9WgXcQ", False), ("captions", False)]
)
def test_captions_are_headed_by_the_name_that_somebody_gave_them(title: str, headed: bool) -> None:
    said = (
        "so we went there and we looked at the old house by the river and then nobody was at home but the light was on "
        * 9
    )
    assert (kits.make(said, title=title, source_kind="webvtt").summary["headline"] == title) is headed


def test_news_begins_where_its_first_paragraph_does() -> None:
    caption = "Passengers wait at the pier in the rain on the day of the strike."
    opening = "Despite what the mayor had promised for years, nobody in town was surprised on Tuesday."
    title, told = "Harbour board votes to close the old north pier", kits.text_of("ferry-news.md").split("\n\n", 2)[2]
    first = "The harbour board voted to close the old north pier, its chair said."
    kit = kits.make(f"# {title}\n\n{caption}\n\n{opening} {first}\n\n{told}", title=title)
    assert kit.summary["category"] == "news"
    assert kit.summary["tldr"].startswith(f"{opening} {first}")


# -- what the text carries


def test_open_questions_are_those_of_the_text() -> None:
    said = [one["question"] for one in kits.kit_of("seagrass-abstract.txt").ideas["questions"]]
    assert said == ["Whether southern populations have lost the need for a cold period is unknown."]
    assert kits.kit_of("howto-backup.md").ideas["questions"] == []


def test_a_tension_needs_a_word_that_says_so_and_shows_both_sides() -> None:
    text = (
        "The county offered a million euros for the repairs in August. "
        "But the operator wants four times as much for it. "
        "The islanders are divided about the ferry. The school has eleven pupils and one teacher for all of them. "
        "The storm in March broke two of the piers of the landing stage. The bridge is far away from here by car. "
    ) * 1
    kit = kits.make(text + kits.text_of("ferry-news.md"))
    for tension in kit.ideas["tensions"]:
        assert tension["other"].split()[0].rstrip(",").lower() in ("but", "however", "yet", "still", "by", "on", "in")
    alone = kits.make(
        "The county offered money in August. The operator wants four times as much for the repairs of it."
    )
    assert alone.ideas["tensions"] == []


def test_ideas_are_none_rather_than_a_stock_phrase() -> None:
    kit = kits.make("The boiler man came at noon. He says that the pump is fine and the valve is not.")
    assert kit.ideas["hooks"] == kit.ideas["angles"] == kit.ideas["questions"] == kit.ideas["tensions"] == []


def test_nobody_is_told_how_relevant_it_is_who_has_said_nothing() -> None:
    kit = kits.kit_of("night-trains.md")
    assert "score" not in kit.summary
    assert "relevanceToUser" not in kit.whole["meta"]
    assert "%" not in kit.markdown.replace("\u00a0", " ").split("##")[0]
    mine = kits.make(kit.text, {"topics": [{"topic": "night train", "interestLevel": 5}]})
    assert mine.summary["score"]["relevanceToUser"] == 1.0
    assert "night train" in mine.summary["tags"]


def test_arithmetic_is_not_emphasis() -> None:
    """Stars between numbers stay: taking them out would make another number."""
    text = (
        "The size is an integer with a unit, so 10K is 10*1024 bytes. A *very* large file needs more of them. "
        "Each block of the archive has 2*3*5 records, and the index grows with **every** volume that is added to it."
    )
    kit = kits.make(text)
    assert kits.findings(kit) == []
    assert "*very*" not in str(kit.summary)


FILLED = (
    "The ferry to the island will run all night from May, the council decided on Monday. The first boat leaves at ten"
    " and the last one comes back at five. Forty people had asked for it in letters to the town.\n\n"
    "The harbour master said the pier needs new lamps before the first boat can leave. The lamps were ordered in March"
    " and should arrive by the end of the month.\n\n"
    "A ticket costs the same as by day. The island has one hotel, and it will keep its kitchen open until midnight.\n\n"
)


def test_a_piece_of_somebody_elses_sentence_is_no_quote() -> None:
    law = 'California requires that pupils be put into teams "consistent with their own chosen identity" from May.'
    um = '"Um. Not for more than a couple of days, no," said Ann Berg. "Well… I mean… it was fine," said Tom Lind.'
    assert kits.make(f"{FILLED}{law}\n\n{um}").summary["importantQuotes"] == []


@pytest.mark.parametrize(
    "question",
    [
        "Are You Ready For The Next Ferry Season?",
        "After all, you would not swim there at night, right?",
        "What does the new ferry cost the town?\n\nIt costs about three hundred thousand euros a year.",
        'Had she ever taken the boat at night?\n\n"Only once," she says.',
    ],
)
def test_a_question_that_is_a_link_a_nod_or_answered_is_not_open(question: str) -> None:
    found = kits.make(f"{FILLED}{question}\n\n{FILLED.replace('ferry', 'bus')}").ideas["questions"]
    assert found == []


def test_what_is_said_not_to_be_known_is_open() -> None:
    found = kits.make(f"{FILLED}It is not known whether the second boat will be ready in time.").ideas["questions"]
    assert [one["question"] for one in found] == ["It is not known whether the second boat will be ready in time."]


@pytest.mark.parametrize(
    ("said", "open_"),
    [
        ("Whether the lamps can be paid for is uncertain: two are to come from Spain.", None),
        ("Whether the lamps help birds as well remains open.", None),
        ("How long the pier will stand is still unresolved.", None),
        (
            "Will passengers of the late boat get their money back? The operator would not say.",
            "Will passengers of the late boat get their money back?",
        ),
        (
            "Who pays for the lamps on the pier? A spokesman declined to comment on Tuesday.",
            "Who pays for the lamps on the pier?",
        ),
        ("Who pays for the lamps on the pier? The town does, from the fund for the harbour.", ""),
        ("Whether the lamps are on is shown on a board that hangs in the open market.", ""),
    ],
)
def test_what_nobody_answers_is_open(said: str, open_: str | None) -> None:
    kit = kits.make(f"{FILLED}{said}\n\n{FILLED.replace('ferry', 'bus')}")
    assert [one["question"] for one in kit.ideas["questions"]] == (
        [said] if open_ is None else [open_] if open_ else []
    )


def test_a_task_with_a_figure_is_told_once() -> None:
    tent = "Action: Joan to book the tent until end of May (budget 150 euros)."
    kit = kits.make(f"{kits.text_of('minutes.md')}\n\n## Tent\n\n{tent}\n")
    assert kit.markdown.count("book the tent") == 1


def test_a_list_of_frequent_questions_is_told_as_questions_and_answers() -> None:
    asked = {
        "When does the first tram leave?": "The first tram leaves the market at six on working days.",
        "What does a ride cost?": "A single ride costs two euros, and children under six pay nothing at all.",
        "Can I take a bicycle along?": "Bicycles go on the rear platform, two at a time, except in the morning.",
        "Are dogs allowed on board?": "Dogs on a lead are welcome in every car and need no ticket of their own.",
    }
    text = f"# The hill tram\n\n{FILLED}"
    kit = kits.make(text + "\n\n".join(f"## {one}\n\n{answer}" for one, answer in asked.items()))
    (part,) = kit.summary["parts"]
    assert {one["under"]: one["text"] for one in part["items"]}.items() <= asked.items()
    assert len(part["items"]) > 1
    assert kit.ideas["questions"] == []


def test_a_manual_begins_with_what_it_is() -> None:
    text = (
        "# The lamp tool\n\n## Options\n\nSet the first option before any other, because the rest depend on its value."
        " The second option is read only when the first is there.\n\n## Usage\n\nThis manual describes how the lamps of"
        f" a pier are switched by the tool. Run it once an hour.\n\n## Files\n\n{FILLED}"
    )
    assert kits.make(text).summary["tldr"].startswith("This manual describes how the lamps")


def test_a_date_is_no_headline_and_a_pointer_no_point() -> None:
    pointer = "Updates of the timetable are described under Section 4.2, “Night boats”."
    kit = kits.make(f"# September 15, 2014\n\n{FILLED}{pointer}\n\nPlease consult the harbour master for the lamps.")
    assert "2014" not in kit.summary["headline"]
    assert not any("Section 4.2" in one or "consult" in one for one in kit.summary["bullets"])


def test_a_point_is_not_about_something_that_is_not_named() -> None:
    told = kits.make(f"{FILLED}Nobody had known of it. Rust has locked them.\n\n{FILLED.replace('ferry', 'bus')}")
    assert not {"Nobody had known of it.", "Rust has locked them."}.intersection(told.summary["bullets"])


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Three wardens oversee the new locks and count the boats that pass.", True),
        ("Readers see the new locks and count the boats that pass.", False),
        ("There are seven gates, and the wardens count the boats that pass.", True),
        ("Here are seven gates, and the wardens count the boats that pass.", False),
    ],
)
def test_a_mark_is_found_in_whole_words(sentence: str, told: bool) -> None:
    assert read(sentence).sentences[0].sound is told


def test_a_newsletter_tells_every_item_and_no_greeting() -> None:
    made = kits.make((GALLERY / "signal-newsletter.md").read_text("utf-8")).summary
    assert made["category"] == "newsletter"
    assert [one["under"] for part in made["parts"] for one in part["items"]][:3] == [
        "The bridge at Orrin is safe",
        "Seats wanted",
        "Who counts the passengers",
    ]
    assert not any("Hello everybody" in one for one in (made["tldr"], *made["bullets"]))


def test_a_report_begins_where_its_place_is_named() -> None:
    text = (
        "# Ferry stops at night\n\nPassengers wait on the pier in the rain on Monday evening.\n\n"
        "Please share your pictures of the pier.\n\n"
        "Lanmark (APX) -- The harbour board said on Tuesday that the night ferry will stop in June.\n\n"
        "The board told the crews on Monday that too few people travel after midnight. A spokesman said that day boats"
        " would stay. The union said it had not been asked, and that it would ask the court.\n"
    )
    told = kits.make(text).summary
    assert told["category"] == "news"
    assert told["tldr"].startswith("The harbour board said on Tuesday")


def test_a_name_that_is_cut_off_names_nobody() -> None:
    told = "The new law was passed on Monday with a majority of eight votes, the parliament of Larsund said. " * 4
    said = '"Nobody can make a theft lawful by writing it down," said Northern Tourism and Harbours Minister Rula Berg.'
    based = '"The rule is only a cover for taking the land," said the head of the Oslo-based group, Ann Holm.'
    quotes = kits.make(f"# A law in Larsund\n\n{told}\n\n{said}\n\n{based}\n").summary["importantQuotes"]
    assert [quote["speaker"] for quote in quotes if quote.get("speaker")] == []


BESIDE = [
    "The old cannery at the pier, seen on Monday. Photo: Tom Reed/Bay Courier",
    "Students of the first class mend a net in the yard last week. (Tom Reed/Bay Courier)",
    "Photo by Tom Reed for the Bay Courier.",
    "Tom Reed/Icon SMI Ada Brenner denies that she took the keys of the old cannery.",
    "Fishers land their catch at the pier. Ann Lee/Getty Images",
    "The views expressed in this article are those of the author.",
    "Additional reporting by Sam Lee.",
    "ALSO READ: Harbour fees rise again",
]


@pytest.mark.parametrize("line", BESIDE)
def test_what_stands_below_pictures_and_beside_a_report_is_not_told(line: str) -> None:
    told = ["The county will turn the cannery at Pier 4 into a school for young fishers."]
    told += [f"Commissioner number {at} spoke on Tuesday of boats, nets and old licences at length." for at in range(9)]
    for at in (0, 3, 9):
        kit = kits.make("# A school of fishing\n\n" + "\n\n".join([*told[:at], line, *told[at:]]))
        assert line.rstrip(".")[:30] not in kit.markdown


def test_a_recipe_has_what_goes_in_and_every_step_or_none() -> None:
    needed = ["250 g red lentils", "1 onion", "2 tbsp oil", "1 l stock"]
    steps = [f"Stir the pot for {at} minutes until the lentils simmer softly." for at in range(2, 8)]
    lists = "\n".join(f"- {one}" for one in needed), "\n".join(f"{at}. {one}" for at, one in enumerate(steps, 1))
    intro = "This soup was made every Friday of the winter in the kitchen of a house by the sea."
    kit = kits.make(f"# Lentil soup\n\n{intro}\n\n## Ingredients\n{lists[0]}\n\n## Method\n{lists[1]}\n")
    assert kit.summary["category"] == "recipe"
    first, second = kit.summary["parts"]
    assert first["items"] == [{"text": ", ".join(needed)}]
    assert [item["text"] for item in second["items"]] == steps
    assert kits.faults(kit) == []
    much = "\n".join(f"{at}. Stir the pot for {at} minutes until the lentils simmer softly." for at in range(1, 90))
    long = kits.make(f"# Lentil soup\n\n{intro}\n\n## Ingredients\n{lists[0]}\n\n## Method\n{much}\n")
    assert [part["title"] for part in long.summary["parts"]] == ["Ingredients"]


def test_the_next_meeting_is_no_decision_and_minutes_keep_their_title() -> None:
    kit = kits.make(
        "Minutes of the Tenants' Association\nDate: 3 October 2023\nAttendees: J. Park, D. Osei\n\n"
        "Heating. The boiler failed four times in September. It was decided to write to the landlord.\n\n"
        "Decisions:\n\nThe shed stays locked from ten at night until six in the morning.\n\n"
        "D. Osei will draft the letter by Friday.\n\nThe next meeting is on 7 November at 18:30 in the common room.\n"
    )
    parts = {part["title"]: [item["text"] for item in part["items"]] for part in kit.summary["parts"]}
    assert parts["Dates"] == ["The next meeting is on 7 November at 18:30 in the common room."]
    assert not [text for text in parts["Decisions"] if "next meeting" in text]
    assert kit.summary["headline"] == "Minutes of the Tenants' Association"
    assert "(by Friday)" not in kit.markdown


def test_posts_open_brackets_and_questions_to_somebody_are_not_told() -> None:
    said = [
        "I #StandWith everyone at the harbour school of the town https://example.org/a today.",
        "(For friends of boats, the harbour school of the town had the last wooden one of all.",
        "Do you know somebody who went to the harbour school of the town?",
        "The Courier: What made the town close its harbour school so early?",
    ]
    told = [
        "The harbour school taught children of the town to mend nets and to read the weather.",
        "Its first teacher, a pilot, had lost his licence after a collision in fog.",
        "Lessons began at low water, whatever the clock on the church said.",
        "Most families paid with fish, eggs or a day of work on the roof.",
        "The county sent an inspector twice, and both times he stayed for the singing.",
        "A storm took the lower classroom in the winter of 1953.",
        "The town rebuilt it in brick with money from a lottery.",
        "When the fleet shrank, the classes shrank with it, until four pupils were left.",
    ]
    kit = kits.make("# The harbour school\n\n" + " ".join([*told[:4], said[0], said[1], *told[4:], *said[2:]]))
    assert [
        line for line in said if line[:40].replace("#", "") in kit.markdown.replace("\\", "").replace("#", "")
    ] == []


def test_what_stands_before_the_dateline_is_told_only_where_it_is_a_list() -> None:
    caption = "Two officers move a barrier along the route of the parade on Thursday, November 28, in Harburg."
    told = [f"Forecaster number {at} spoke of snow, wind and late trains on the coast." for at in range(9)]
    listed = "- The worst of the storm is over for travellers"
    first = "(ABCD) -- A storm hit the coast on Monday night."
    kit = kits.make("\n\n".join(["# A storm", caption, listed, first, *told]))
    assert kit.summary["category"] == "news"
    assert kit.summary["tldr"].startswith("A storm hit the coast on Monday night.")
    assert caption not in kit.markdown


@pytest.mark.parametrize("behind", ["says a doctor from Hebron, whose name is not given.", "a nurse in Harburg said."])
def test_where_somebody_is_from_is_not_who_they_are(behind: str) -> None:
    said = "“We are not just numbers in a table.”"
    (quote,) = spoken_quotes(read(f"{said} {behind} The town has a hospital."))
    assert quote.speaker == ""
    (quote,) = spoken_quotes(read(f"{said} says a doctor, Ann Berg. The town has a hospital."))
    assert quote.speaker == "Ann Berg"


def test_an_article_that_begins_with_scraps_is_told_up_to_what_it_says() -> None:
    opening = (
        "Same tears as always. Different halls this time. The club of Harburg has won the fourth title of its history."
    )
    told = [f"In game number {at} the players of the other side chose slow and heavy openings." for at in range(9)]
    summary = kits.make("# The fourth title\n\n" + " ".join([opening, *told])).summary
    assert summary["category"] in ("article", "essay")
    assert summary["tldr"].startswith(opening)


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("“Homes are not built fast enough to solve it.” The Local Association said the paper was welcome.", ""),
        ("“I am glad that he has taken on the role,” said England director of cricket Andrew Strauss.", ""),
        ("“I am glad that he has taken on the role,” said Ann Berg in London on Monday.", "Ann Berg"),
        ("“Do not go near the water at night!” Ann Berg said.", "Ann Berg"),
    ],
)
def test_a_name_of_the_next_sentence_or_of_an_office_is_no_speaker(text: str, speaker: str) -> None:
    found = spoken_quotes(read(f"{text}\n\nThe town has a hospital with forty beds. It stands on a hill."))
    assert {quote.speaker for quote in found} | {""} == {speaker, ""}
