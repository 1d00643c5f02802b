"""What was wrong in kits that were read beside their sources, as rules: each text here is made for its fault."""

from __future__ import annotations

import pytest

from tests.models import kits
from weft.models.embedded.quotes import spoken_quotes
from weft.models.embedded.reading import read

LONG = (
    "The harbour was built in 1911 by three families from the islands. Two of its walls are of stone and the third is "
    "of sand that the winter takes away. In spring men with carts bring it back from the bay behind the church. "
    "Nobody has counted how much of it there is. The carts need eleven days for one wall."
)


def test_a_directive_hides_its_own_line_and_not_what_follows() -> None:
    kit = kits.make(f"Rules of the harbour\n--------------------\n\n.. important::\n\n   {LONG}\n\n{LONG[:70]}\n")
    assert "The harbour was built in 1911" in kit.summary["tldr"]
    assert kit.summary["language"] == "en"


def test_thousands_that_stand_apart_are_one_figure() -> None:
    lines = [
        "Le four est fermé depuis mars.",
        "Le bois coûte à lui seul 1 600 euros par an.",
        "Le devis du maçon est de 12 800 euros pour la voûte.",
        "Les enfants du village viennent le samedi avec leurs parents.",
        "Le maire du village est content de la nouvelle porte.",
    ]
    found = kits.make("\n\n".join([*lines, "Il fait bon au village. " * 3])).ideas["numbers"]
    assert {one["figure"] for one in found} <= {"1 600 euros", "12 800 euros"}
    assert found


MINUTES = """# Garden society, 14 May 2024

In attendance: Ruth Adeyemi (chair), Colin Marsh, Priya Nair
Absent with apologies: Greg Stone

## 1. Minutes of the last meeting

The minutes of April were read. The leak at plot 14 is dripping again and takes most of the water.

## 2. Water

It was agreed to install a meter at each standpipe before the end of June.

- Colin to write to the water company about the leak.

Ruth will put up a notice at both gates this week.

## 3. Any other business

The open day is on 7 July, and the hut needs paint.
"""


def test_minutes_are_known_by_numbered_headings_and_who_was_there() -> None:
    summary = kits.make(MINUTES).summary
    assert summary["category"] == "meeting"
    parts = {part["title"]: [item["text"] for item in part["items"]] for part in summary["parts"]}
    assert parts["Decisions"] == ["It was agreed to install a meter at each standpipe before the end of June."]
    assert len(parts["To do"]) == 2
    assert parts["Present"] == ["Ruth Adeyemi (chair), Colin Marsh, Priya Nair"]


def test_what_is_a_small_word_elsewhere_is_somebody_here() -> None:
    tasks = ["Ella will ask the council about the tap by Friday.", "Al will mend the gate.", "That will take a week."]
    said = MINUTES.replace(
        "- Colin to write to the water company about the leak.", "\n".join(f"- {one}" for one in tasks)
    )
    parts = {part["title"]: part["items"] for part in kits.make(said).summary["parts"]}
    owners = {item["text"].split()[0]: item.get("owner", "") for item in parts["To do"]}
    assert owners["Ella"] == "Ella"
    assert owners["Al"] == "Al"
    assert not owners.get("That")


def test_french_minutes_have_what_was_rejected_and_who_takes_something_on() -> None:
    text = (
        "# Compte rendu\n\nPrésents : Mme Garnier, M. Benali, Mlle Roux\n\n## Comptes\n\nL'assemblée approuve les "
        "comptes. "
        "Le bois est cher et il en faut trois stères par mois pour le four.\n\n## Fournées\n\nLa proposition est "
        "rejetée par "
        "14 voix contre 9. Mlle Roux se charge de contacter la mairie. M. Benali demandera un devis au maçon.\n\n"
        "Prochaine réunion : le 6 avril 2024.\n"
    )
    parts = {part["title"]: part["items"] for part in kits.make(text).summary["parts"]}
    assert len(parts["Décisions"]) == 2
    assert [item["owner"] for item in parts["À faire"]] == ["Mlle Roux", "M. Benali"]


@pytest.mark.parametrize(
    ("head", "present", "decided", "undecided"),
    [
        (
            "Minutes of the harbour club",
            "Present",
            ["It was decided not to repair the old pump.", "The plan of the quay was approved without changes."],
            [
                "A ban on dogs was discussed but not agreed by the members.",
                "No decision was taken on the hedge along the lane.",
                "Nothing was agreed about the lamps on the pier.",
                "The budget of the club is to be approved in June.",
                "If approved by the council, the works on the wall begin in May.",
            ],
        ),
        (
            "Protokoll des Vereins",
            "Anwesend",
            ["Der Antrag auf eine neue Pumpe wurde einstimmig angenommen."],
            [
                "Ein Verbot wurde diskutiert, aber nicht beschlossen.",
                "Die Satzung soll erst im Juni beschlossen werden.",
                "Über die Hecke wurde noch nicht entschieden.",
            ],
        ),
        (
            "Compte rendu du club",
            "Présents",
            ["La proposition de la pompe est adoptée par neuf voix."],
            ["Le budget n'a pas été approuvé ce soir.", "Aucune décision n'a été prise sur la haie du chemin."],
        ),
        (
            "Acta del club",
            "Asistentes",
            ["La asamblea aprobó la compra de la bomba para el pozo."],
            ["No se aprobó el presupuesto de la sala.", "La asamblea no acordó nada sobre la valla del camino."],
        ),
    ],
)  # fmt: skip
def test_what_was_not_decided_is_no_decision(head: str, present: str, decided: list[str], undecided: list[str]) -> None:
    text = f"# {head}\n\n{present}: Ann Berg, Tom Hale\n\n## 1. A\n\n{decided[0]}\n\n## 2. B\n\n"
    text += "\n\n".join([*undecided, *decided[1:]])
    kit = kits.make(text + "\n\nAgenda: 1, 2. Tagesordnung: 1, 2. Ordre du jour : 1, 2. Orden del día: 1, 2.\n")
    assert kit.summary["category"] == "meeting"
    assert [item["text"] for item in kit.summary["parts"][0]["items"]] == decided


def test_no_decision_stands_under_decisions() -> None:
    text = (
        "# Minutes of the club\n\nPresent: Ann Berg, Tom Hale\n\n## Decisions\n\n- The fence is painted green.\n"
        "- No decision was taken on the hedge.\n\n## Other\n\nThe dance was deferred to the spring of next year.\n"
    )
    parts = {part["title"]: [item["text"] for item in part["items"]] for part in kits.make(text).summary["parts"]}
    assert parts["Decisions"] == ["The fence is painted green."]
    assert parts["Postponed"] == ["The dance was deferred to the spring of next year."]


VERSE = [
    "When all the carts had left the yard and evening took the hill away from us,",
    "And somebody had closed the gate that nobody had closed for twenty years,",
    "The keeper of the lower house put out the lamp that stood beside the stair,",
    "And heard the water going down and told it everything that he had heard,",
    "But water never listens long, it has to be in other towns by noon,",
    "And so he told it to the dog, who knew it all and had not minded much,",
    "Until the morning, when the carts came back along the road and down the hill,",
    "And nobody could say who left, or what had gone, or who had closed the gate,",
    "Nor why the lamp beside the stair was standing where the water used to be.",
]


def test_long_lines_that_begin_with_a_capital_in_mid_sentence_are_verse_and_wrapped_prose_is_none() -> None:
    summary = kits.make("\n".join(VERSE) + "\n\n-- Ann Berg\n").summary
    assert summary["category"] == "poem"
    assert summary["note"] == "A poem of 9 lines."
    assert summary["headline"] == VERSE[0].rstrip(",")
    assert not [quote for quote in summary["importantQuotes"] if "Berg" in quote["text"]]
    wrapped = "\n".join(line[:1].lower() + line[1:] for line in VERSE)
    assert kits.make(wrapped[:1].upper() + wrapped[1:]).summary["category"] != "poem"


@pytest.mark.parametrize(
    ("polite", "told"),
    [
        ("Sehr geehrter Herr Präsident! Liebe Kolleginnen und Kollegen!", "Der Hafen wurde von drei Familien gebaut."),
        ("I, too, thank my honourable friend from the north for leading this important debate today.", LONG[:65]),
        ("Mr Speaker.", LONG[:65]),
        (
            "Please note that this text is kept for those who look for it. Some details have changed since.\n\n",
            LONG[:65],
        ),
    ],
)
def test_a_speech_is_told_from_where_it_says_something(polite: str, told: str) -> None:
    rest = (
        LONG if told in LONG else f"{told} Zwei Mauern sind aus Stein und die dritte ist aus Sand. Niemand zählt ihn."
    )
    short = kits.make(f"{polite} {rest}").summary["tldr"]
    assert short.startswith(told)


def test_what_others_say_is_not_told_as_what_the_text_says() -> None:
    text = (
        f"{LONG} Some of you will say that salt kills the sand and the walls of the harbour. That is not true. {LONG}"
    )
    assert "Some of you" not in str(kits.make(text).summary)


def test_a_name_of_a_file_is_no_headline_unless_the_text_has_its_words() -> None:
    assert kits.make(LONG, title="17 speech en").summary["headline"] != "17 speech en"
    assert kits.make(LONG, title="how the harbour was built").summary["headline"] == "how the harbour was built"


def test_what_stands_below_the_title_as_a_heading_is_the_authors_own_short_version() -> None:
    deck = "The sand of the third wall is carried back by hand every spring"
    kit = kits.make(f"# The harbour\n\n## {deck}\n\n{LONG}\n\n## Carts\n\n{LONG[70:]}\n")
    assert kit.summary["tldr"].startswith(deck)
    assert deck not in [section["heading"] for section in kit.outline["sections"]]


def test_a_recipe_in_plain_text_has_all_its_ingredients_and_no_half_of_its_steps() -> None:
    text = (
        "Rezept: Geschmorte Gurken\n Zutaten:   8     Gurken je 150 g\n            30 g  Butter\n            300 "
        "g Tomaten\n"
        "            1/8 l Brühe\n Die Gurken schälen und in Scheiben schneiden. Die Butter im Topf heiß machen "
        "und die Gurken "
        "darin anbraten. Mit der Brühe angießen und zugedeckt 25 Minuten schmoren. Die Tomaten häuten, vierteln und "
        "dazugeben. Noch fünf Minuten ohne Deckel kochen und mit Dill bestreut servieren.\n"
    )
    summary = kits.make(text).summary
    parts = {part["title"]: part["items"] for part in summary["parts"]}
    assert summary["headline"] == "Geschmorte Gurken"
    assert parts["Zutaten"][0]["text"].endswith("300 g Tomaten, 1/8 l Brühe")
    assert len(parts.get("Schritte", ())) in (0, 5)
    assert not [point for point in summary["bullets"] if point.startswith("Mit der Brühe")]


def test_a_keyword_a_road_map_and_an_axis_are_no_content() -> None:
    text = (
        f"# Sand walls\n\n## Abstract\n\n{LONG}\n\nKeywords: harbour, sand, walls, carts, spring.\n\n## "
        f"Introduction\n\n{LONG} "
        f"Section 7 presents a number of sand walls of the harbour.\n\n## 2°W 10°W 8°W\n\n{LONG}\n\n## "
        f"Walls\n\n{LONG}\n"
    )
    kit = kits.make(text)
    said = str(kit.summary["bullets"]) + kit.summary["tldr"]
    assert "Keywords" not in said
    assert "Section 7" not in said
    assert not [one for one in kit.outline["sections"] if "°" in one["heading"]]


def test_names_that_stand_before_few_paragraphs_hold_for_their_own_alone() -> None:
    said = [f"We carried cart number {at} of the sand up to the wall before the evening came." for at in range(24)]
    named = [f"**Ana:** {line}" if at in (0, 12, 18) else line for at, line in enumerate(said)]
    found = {one.text: one.speaker for one in read("\n\n".join(named)).sentences}
    assert {at for at, line in enumerate(said) if found[line] == "Ana"} == {0, 12, 18}
    often = [f"**Ana:** {line}" if at % 3 == 0 else line for at, line in enumerate(said)]
    assert all(one.speaker == "Ana" for one in read("\n\n".join(often)).sentences), "turns of a talk have paragraphs"


def test_whoever_counts_begins_anew_in_captions() -> None:
    said = (
        "so today we talk about why the dough does not rise and the first thing is the warmth of your kitchen and "
        "most of "
        "you keep it far too cold with only the light on the second thing is the starter which has to be fed "
        "twice a day "
        "for a week and nothing is going to change that and the third thing is the flour that you buy "
    )
    lines = [one.text for one in read(said * 3).sentences]
    assert any(line.startswith("the second thing is the starter") for line in lines)
    assert any(line.startswith("the third thing is the flour") for line in lines)


def test_a_roman_number_is_no_acronym() -> None:
    text = f"HARBURG (AP) — King Louis XIII built the wall. {LONG} The wall of Louis XIII stands. {LONG} {LONG}"
    assert "XIII" not in str(kits.make(text).ideas["missing"])


def test_what_the_author_says_of_the_text_is_its_short_version() -> None:
    thesis = "The use of sand in a wall is almost never right; this document describes why."
    text = f"# Sand\n\n{LONG} {thesis}\n\n## Walls\n\n{LONG[66:]}\n\n## Carts\n\n{LONG[66:]}\n"
    assert kits.make(text).summary["tldr"] == thesis


def test_the_short_version_of_an_article_is_how_it_begins() -> None:
    later = "Harbour sand, harbour walls and harbour carts are what the harbour of the islands lives from in spring."
    summary = kits.make(f"{LONG} Men sleep in the church. {LONG[66:]} {later}").summary
    assert summary["tldr"] in LONG


def test_one_release_with_what_was_added_and_fixed_is_a_list_of_changes() -> None:
    text = (
        "net.lib 26.1.0 (2026-01-30)\n===========================\n\nFeatures\n--------\n\n"
        "- net.lib.tcp.Port.listen() now closes its socket.\n- net.lib.defer() is faster. (#12)\n\n"
        "Bugfixes\n--------\n\n- net.lib.log.File.fileno() raises io.Error instead of returning -1.\n"
        "- net.lib.ftp.Client() uses the address of the server. (#14)\n"
    )
    summary = kits.make(text).summary
    assert summary["category"] == "list"
    assert [item["under"] for part in summary["parts"] for item in part["items"]] == ["Features", "Bugfixes"]


@pytest.mark.parametrize(
    ("sentence", "leans"),
    [
        ("Das Hafenamt ist ein Verein von Freiwilligen, der seit 1911 die Mauern betreut.", False),
        ("Das kleine Hafenamt betreut seit 1911 die Mauern und den Sand am Ufer.", False),
        ("Das war am Anfang nicht so, und die Mauern waren aus Sand gebaut.", True),
        ("Das hatte Folgen für die Mauern und den Sand am Ufer der Insel.", True),
    ],
)
def test_a_german_article_leans_on_nothing_and_a_pronoun_does(sentence: str, leans: bool) -> None:
    text = f"Im Winter nimmt die See den Sand mit. {sentence} Elf Tage brauchen die Karren für eine Mauer."
    assert next(one for one in read(text).sentences if one.text == sentence).leans is leans


def test_a_link_on_a_line_of_its_own_does_not_cut_its_sentence() -> None:
    link = "[How not to build on sand](https://example.org/articles/how-not-to-build-on-sand-by-the-sea/)"
    text = f"# Walls\n\nBefore you lay the first stone of a wall we recommend reading\n{link}\nin full.\n\n{LONG}\n"
    assert any("we recommend reading How not to build on sand in full." in one.text for one in read(text).sentences)


def test_a_piece_of_a_long_item_is_not_told() -> None:
    long = ", ".join(f"the keeper of the {name} gate" for name in ("north", "south", "upper", "lower", "old", "new"))
    text = f"{LONG}\n\n1. Duties. To the extent that the law of the harbour permits it, {long}, {long} shall watch.\n"
    assert not any(one.sound and one.text.endswith(",") for one in read(text).sentences)


def test_themes_of_a_language_that_only_has_its_small_words_are_none_of_these() -> None:
    text = (
        "Il porto è aperto per le barche e per le navi. Questo porto è stato costruito per le navi delle isole. "
        "Nel porto sono anche le barche dei pescatori. Per le navi il porto è piccolo, per le barche è grande."
    )
    kit = kits.make(text)
    assert kit.summary["language"] == "it"
    assert not {"per", "delle", "sono", "questo"}.intersection(kit.summary["keyThemes"])


def test_what_somebody_said_in_minutes_is_no_task() -> None:
    text = MINUTES.replace(
        "The open day is on 7 July, and the hut needs paint.",
        "- Colin: have concerns about the price of paint.\n- Priya: we should ask the neighbours first.\n"
        "- Ruth: paint for the hut, by 30 May.",
    )
    parts = {part["title"]: [item["text"] for item in part["items"]] for part in kits.make(text).summary["parts"]}
    assert "concerns" not in str(parts["To do"])
    assert "neighbours" not in str(parts["To do"])
    assert "Ruth: paint for the hut, by 30 May." in parts["To do"]


def test_a_question_that_its_paragraph_goes_on_to_answer_is_not_open() -> None:
    open_one = "Who will carry the sand when the carts are gone?"
    text = f"# Sand\n\n{LONG} Is a wall of sand a bad idea? Not at all. {LONG}\n\n{LONG[66:]} {open_one}\n\n{LONG}\n"
    assert [one["question"] for one in kits.make(text).ideas["questions"]] == [open_one]


def test_who_signs_below_a_poem_is_not_of_it() -> None:
    lines = ["The harbour sleeps,", "the carts are still,", "the sand still creeps", "below the hill,"]
    text = "\n".join([*lines, "and who will keep", "the wall of stone", "when men who reap", "the sea are gone?"])
    kit = kits.make(text + '\n\t-- Ann Berg, "The Wall"\n')
    assert kit.summary["category"] == "poem"
    assert "Ann Berg" not in str(kit.summary["importantQuotes"])


def test_a_note_in_brackets_before_the_text_is_not_of_it() -> None:
    note = "[Note: this is the text of the wall,\n    and the carts have one of their own.]"
    text = f"{note}\n\nThe Wall\n========\n\n{LONG}\n"
    assert read(text).sentences[0].text.startswith("The harbour was built")


def test_letters_that_are_spelled_with_small_words_between_are_spelled_out() -> None:
    named = "Sand in the Public Interest pays for the carts."
    text = f"HARBURG (AP) — {named} {LONG} SPI was founded in 1997. {LONG} The police said SPI will pay. {LONG}"
    assert "SPI" not in str(kits.make(text).ideas["missing"])


def test_groups_of_changes_are_few_and_named_by_their_release() -> None:
    releases = "\n".join(
        f"## 2.{number} (2026-01-{number:02})\n\n### Fixed\n\n- gate {number} of the wall\n- lock {number}\n"
        for number in range(9, 0, -1)
    )
    parts = kits.make(f"# Changes\n\n{releases}").summary["parts"]
    assert [item["under"] for item in parts[0]["items"]][:2] == ["2.9 (2026-01-09): Fixed", "2.8 (2026-01-08): Fixed"]
    assert len(parts[0]["items"]) <= 6


def test_numbered_points_with_sentences_below_them_are_no_list() -> None:
    points = "\n\n".join(f"{number}. Wall number {number}\n   {LONG}" for number in range(1, 7))
    assert kits.make(f"# A contract\n\n{LONG}\n\n{points}\n").summary["category"] != "list"


def test_a_heading_that_ran_into_a_sentence_is_not_told() -> None:
    glued = "The carts stop here But she warned that the harbour could not wait for sand."
    assert not next(one for one in read(f"{LONG} {glued} {LONG}").sentences if one.text == glued).sound


@pytest.mark.parametrize(
    ("behind", "speakers"),
    [
        ("the White House said in a letter", {"", "White House"}),
        ("says CNN meteorologist on the phone", {""}),
        ("the harbour's chief officer Neville Howell said in a letter", {"Neville Howell"}),
    ],
)
def test_half_a_name_and_a_name_that_says_whose_they_are_speak_not(behind: str, speakers: set[str]) -> None:
    text = f'HARBURG (AP) — {LONG} "The wall of sand will be gone before the end of March," {behind}. {LONG}'
    assert {quote.speaker for quote in spoken_quotes(read(text))} <= speakers


@pytest.mark.parametrize("heading", ["See also", "Siehe auch", "Voir aussi", "Véase también"])
def test_where_else_to_look_is_no_part_of_a_text(heading: str) -> None:
    other = "The book of walls says more about sand than any other book of the islands does."
    kit = kits.make(f"# Sand\n\n{LONG}\n\n## Walls\n\n{LONG}\n\n## Carts\n\n{LONG}\n\n## {heading}\n\n{other}\n")
    assert heading not in [section["heading"] for section in kit.outline["sections"]]
    assert other not in kit.summary["bullets"]


def test_a_table_is_called_by_its_file_or_its_columns_and_not_by_a_row() -> None:
    rows = "port,ships,tons\nMalm,12,3400\nVisby,7,1800\nYstad,31,9900\nLuleå,4,2200\nGävle,9,2600\n"
    assert kits.make(rows, title="harbours.csv").summary["headline"] == "harbours.csv"
    assert kits.make(rows, title="data.csv").summary["headline"] == "port, ships, tons"
    assert kits.make(rows).summary["headline"] == "port, ships, tons"


def test_short_captions_say_what_they_are_and_are_headed_by_no_heap_of_words() -> None:
    said = (
        "so um welcome back everybody today we're going to talk about how a net is mended and why yours comes apart the"
        " first reason is the knot below three turns it just slips and if you liked this hit subscribe and thanks to"
        " our sponsor the Rope Shop"
    )
    for title in ("mending", ""):
        summary = kits.make(said, title=title, source_kind="webvtt").summary
        assert summary["category"] == "captions"
        assert summary["note"].startswith("Automatic captions")
        assert len(summary["headline"].split()) <= 12
        assert "Rope Shop" not in str([summary["tldr"], summary["bullets"], summary["importantQuotes"]])
    assert kits.make(said).summary["category"] != "captions", "nobody says that it was spoken"


def test_what_somebody_else_claims_is_no_title() -> None:
    text = (
        "Members of the council,\n\nThe mayor has told us that the harbour wall was mended. It was mended by two men in"
        " one morning, from a boat. I went there on Sunday and I put my hand through the harbour wall.\n\n"
        "We found nine million for the square. We did not find one million for the harbour wall. I ask for the papers"
        " of the harbour, and I ask for them before the winter. I would be glad to have been wrong about the wall.\n"
    )
    assert kits.make(text, title="speech").summary["headline"] == "speech"
    assert "mayor" not in kits.make(text).summary["headline"]


TALK = """# The last ferry

**Hanna Vos:** You have steered the ferry for thirty years. What is the first thing you look at?

**Odd Nilsen:** The smoke of the dairy. When it lies flat on the roofs I tell the passengers to sit down inside.

**HV:** The company writes that 40 per cent of all trips were late in the spring.

**ON:** That figure is from one month, and I would not trust it. They counted the days with ice as well.

**HV:** Who will steer the ferry when you have gone home?

**ON:** Nobody from the island. My son drives a lorry in Bergen and he is right to do so.

**HV:** What would you tell the council about the new pier?

**ON:** That a pier is built for the wind and not for the tourists. It does not see where the ice comes from at night.
"""


def test_initials_are_who_they_stand_for_and_a_talk_is_told_with_who_said_what() -> None:
    stories = "The winter of the long ice began on a Tuesday, and we carried the post over it on foot. " * 9
    kit = kits.make(TALK + stories)
    assert kits.faults(kit) == []
    assert kit.summary["bullets"] == []
    assert kit.summary["tldr"] == ""
    assert kit.ideas["numbers"] == kit.ideas["tensions"] == []
    (part,) = kit.summary["parts"]
    told = {item["under"]: item["text"] for item in part["items"]}
    asked = "The company writes that 40 per cent of all trips were late in the spring."
    assert told[asked].startswith("That figure is from one month, and I would not trust it.")
    assert {quote["speaker"] for quote in kit.summary["importantQuotes"]} <= {"Odd Nilsen"}
    assert "ON" not in kit.markdown.split()
    assert "It does not see" not in str(kit.summary["importantQuotes"])


def test_initials_that_fit_nobody_or_two_stay() -> None:
    both = TALK.replace("# The last ferry", "# The last ferry\n\nOla Nygard and Olga Nord read along.")
    assert "Odd Nilsen" in {one.speaker for one in read(both).sentences}, "who speaks comes before who is named"
    nobody = TALK.replace("**Odd Nilsen:**", "**ON:**")
    assert "ON" in read(nobody).speakers
    one = nobody.replace("# The last ferry", "# The last ferry\n\nThe captain Odd Nilsen goes home.")
    assert "Odd Nilsen" in read(one).speakers
    two = nobody.replace("# The last ferry", "# The last ferry\n\nOdd Nilsen and Ola Nygard go home.")
    assert "ON" in read(two).speakers


def test_of_several_who_answer_each_is_named() -> None:
    text = """**Moderator:** Will there be more boats on the river in ten years, or fewer of them?

**Ada Lunt:** More. The roads are full, and a boat needs nobody to mend the river.

**Ben Orr:** I don't agree with Ada. The locks are a hundred years old and nobody builds new ones.

**Moderator:** And who should pay for the locks that have to be built?

**Ada Lunt:** The towns along the river, because they sell the beer to those who come by boat.

**Ben Orr:** The boats. A lorry pays for the road as well, and nobody asks whether it sells beer.
"""
    more = "The river was full of boats when my mother was young, and she sold them onions. " * 9
    kit = kits.make(text + more, title="boats")
    assert kits.faults(kit) == []
    assert kit.summary["headline"] == "boats"
    (part,) = kit.summary["parts"]
    for item in part["items"]:
        assert "Ada Lunt: " in item["text"]
        assert "Ben Orr: " in item["text"]
    assert kit.summary["tldr"] == ""
    assert kit.summary["bullets"] == kit.ideas["numbers"] == []
    assert all(quote["speaker"] for quote in kit.summary["importantQuotes"])


def test_answers_to_frequent_questions_stand_below_them_only_and_not_without_what_takes_them_back() -> None:
    asked = {
        "May I tie up at the pier?": "You can certainly try! The pier has been trouble for long boats, since the wind"
        " comes from the side.",
        "How many ropes may I borrow?": "Up to four at a time, for two days.",
        "Is the crane free of charge?": "In general the crane costs nothing for members of the harbour club and their"
        " guests. However, a boat of more than nine tons pays forty euros.",
    }
    head = "# The harbour: frequently asked questions\n\n"
    pairs = "\n\n".join(f"**{one}**\n{answer}" for one, answer in asked.items())
    kit = kits.make(f"{head}{pairs}\n\n## Walls\n\n{LONG}")
    assert kits.faults(kit) == []
    (part,) = kit.summary["parts"]
    told = {item["under"]: item["text"] for item in part["items"]}
    assert told.items() <= asked.items()
    assert "May I tie up at the pier?" in told
    assert "Up to four" not in str(kit.summary["bullets"])


@pytest.mark.parametrize("label", ["Disclosure", "Correction", "Editor's note"])
def test_what_a_text_says_about_itself_is_no_point(label: str) -> None:
    note = f"*{label}: the maker of the lamps has given one of them to the writer of this article.*"
    told = [one.text for one in read(f"# The harbour\n\n{LONG}\n\n{note}\n").sentences]
    assert not [one for one in told if "maker of the lamps" in one]


# -- what kits of documents that nobody had tuned for got wrong


def test_a_record_with_fields_is_no_talk() -> None:
    """`Why: …` was quoted as somebody's words, by a speaker named Why."""
    fields = "What: the {} option of the pump\nStatus: obsolete\nWhen: 1.16\nWhy:\n"
    fields += " The {} option has no use any longer, for "
    fields += "the harbour has a pump of its own since the spring.\n\n"
    text = "This is a list of what will be removed.\n\n" + "".join(
        fields.format(one, one) for one in ("north", "south", "east", "west")
    )
    summary = kits.make(text).summary
    assert not [quote for quote in summary["importantQuotes"] if "speaker" in quote]
    assert summary["category"] not in ("transcript", "interview")


def test_rules_for_meetings_are_no_minutes_and_no_figure_is_a_date() -> None:
    rules = (
        "# Rules of the harbour club\n\nThe board meets twice a year. Anything for the\nagenda goes to the clerk, "
        "whose\nminutes are on the board by the door for a month.\n\n## Members\n\nA member who has approved "
        "the budget may vote. "
        "Approval must come from two members. That will close the matter.\n\n"
    )
    assert kits.make(rules + LONG).summary["category"] != "meeting"
    told = "Ann Berg said that the water bill had gone up by 38 per cent. That will cost the club a lot by Friday."
    parts = kits.make(MINUTES.replace("Ruth will put up a notice at both gates this week.", told)).summary["parts"]
    todo = next(part["items"] for part in parts if part["title"] == "To do")
    assert [item["text"] for item in todo] == ["Colin to write to the water company about the leak."]


@pytest.mark.parametrize(
    ("due", "task"),
    [
        ("Ende des Monats", "Bernd Klein schickt das Angebot bis zum Ende des Monats."),
        ("Mitte Mai", "Bernd Klein schickt das Angebot bis Mitte Mai."),
    ],
)
def test_a_part_of_a_month_is_a_day_in_german(due: str, task: str) -> None:
    text = (
        "# Protokoll der Sitzung\n\nAnwesend: Anna Berg, Bernd Klein\n\nTagesordnung: der Garten.\n\n"
        f"## Beschlüsse\n\nDer Zaun wird gestrichen.\n\n## Aufgaben\n\n- {task}\n"
    )
    parts = kits.make(text).summary["parts"]
    assert [item.get("due") for part in parts if part["title"] == "Zu tun" for item in part["items"]] == [due]


def test_a_table_of_one_row_is_called_so_and_a_motto_that_is_set_in_one_is_not_all() -> None:
    table = "| “The lamp that burns twice as bright burns half as long.” | A proverb of the coast |\n| --- | --- |\n"
    row = "| And the keeper who sleeps half as long tells of it twice as often | Another |\n"
    told = "The harbour keeps four lamps. Each of them is lit at dusk by the keeper."
    page = kits.make(f"# Lamps\n\n{table}{row}\n{told}\n").summary
    assert (page["category"], page["tldr"]) != ("data", "")
    assert "four lamps" in page["tldr"]
    alone = kits.make("# Lamps\n\n| place | oil |\n| --- | --- |\n| North | paraffin |\n").summary
    assert alone["note"] == "A table of one row: place, oil."


def test_figures_name_no_columns_and_a_row_that_stands_askew_is_counted() -> None:
    rows = [f"{day}/3/2003\t77.{day}\t9927{day}00\t0\t-42{day}8566\t0" for day in range(10, 30)]
    rows[7] = "17/3/2003\t77\t5\t0\t-4\t0\t12\t13"
    assert kits.make("\n".join(rows) + "\n").summary["note"] == "A table of 20 rows."


@pytest.mark.parametrize(
    ("due", "said"),
    [
        ("20 March", "by 20 March"),
        ("Friday", "by Friday"),
        ("Christmas", "before Christmas"),
        ("the end of June", "by the end of June"),
        ("the end of the month", "until the end of the month"),
        ("mid-June", "by mid-June"),
        ("", "by the end of the meeting"),
        ("", "by Harlow & Sons"),
    ],
)
def test_a_day_is_a_day(due: str, said: str) -> None:
    text = MINUTES.replace("about the leak.", f"about the leak {said}.")
    parts = kits.make(text).summary["parts"]
    todo = next(part["items"] for part in parts if part["title"] == "To do")
    assert todo[0].get("due", "") == due


RELEASE = (
    "{over}\n\nHarbour works unveil a pump of seventy tonnes\n\n{place} – The harbour works have shown a pump of "
    "seventy tonnes today. " + LONG + "\n"
)


@pytest.mark.parametrize("over", ["FOR IMMEDIATE RELEASE", "Press release", "PRESSEMITTEILUNG"])
@pytest.mark.parametrize("place", ["HARBURG, Norway, 2 October 2025", "Harburg, Norway, October 2, 2025"])
def test_what_stands_over_a_press_release_is_not_its_title(over: str, place: str) -> None:
    summary = kits.make(RELEASE.format(over=over, place=place), title=over).summary
    assert summary["headline"] == "Harbour works unveil a pump of seventy tonnes"
    assert summary["tldr"].startswith("The harbour works have shown")
    assert over not in str(summary)


LETTER = (
    "I have spoken to both masons. Kessler can start in the second week of May and wants three thousand euros. Brandt "
    "wants less, but he can't come before September. Another winter will cost us the floor of the hall. If I hear "
    "nothing I will sign with Kessler on Monday. The insurance pays nothing for the hail of last July."
)


def test_the_letter_that_is_answered_is_not_told_as_the_answer() -> None:
    answer = "From: Ann Berg <ann@example.org>\nSubject: The walls\n\nDear all,\n\n" + LETTER
    asked = "> On Fri, 9 Jan 2026 Tom Hale wrote:\n> I still believe that we should ask Kessler for a third offer.\n"
    quoted = "> Both offers of Kessler and Brandt are too small for a hall with a floor like that one.\n"
    kit = kits.make(f"{answer}\n\n{asked}{quoted}")
    assert "third offer" not in kit.markdown
    assert "too small" not in kit.markdown


def test_what_a_line_says_to_an_editor_and_who_signed_an_entry_is_not_told() -> None:
    entry = "harbour ({}) unstable; urgency=medium\n\n  {}\n\n"
    entry += " -- Ann Berg <ann@example.org>  Sun, 24 Jul 2022 15:45:15 +0200\n\n"
    lines = LONG.split(". ")
    text = "".join(entry.format(f"1.{at}", f"{line}. {FIRST[at]}") for at, line in enumerate(lines))
    told = kits.make(text).markdown
    assert "urgency" not in told
    assert "Ann Berg" not in told
    assert "outline" not in kits.make(f"-*- outline -*-\n\n{LONG}").markdown


FIRST = [
    "The pier has new lamps.", "A boat leaves at ten.", "The school is open again.", "The clerk has a key.",
    "The wall needs stones.",
]  # fmt: skip


def test_a_politicians_but_is_no_tension_of_the_text() -> None:
    said = (
        '"Nobody comes into the board to raise the fees," he told them. "But the alternative was closing the harbour."'
    )
    assert kits.make(f"{LONG}\n\n{said}\n\n{LONG}").ideas["tensions"] == []


def test_rows_of_a_menu_are_no_points() -> None:
    text = "# The harbour\n\nMain Menu\n\n- Reporting bugs and getting help\n- Writing extensions for the pump\n\n"
    text += (
        "## Walls\n\nTwo of the walls of the harbour are of stone, and the third is of sand that the winter takes away."
    )
    assert "Reporting bugs" not in kits.make(text).markdown


def test_a_title_is_not_told_again() -> None:
    kit = kits.make(f"The harbour of the three families.\n\n{LONG}", title="The harbour of the three families.")
    assert kit.markdown.count("harbour of the three families") == 1


@pytest.mark.parametrize(
    "leaning",
    [
        "Trade there fell by eleven percent within the first year of the new toll.",
        "Whether a low wall is enough for the latter is unknown.",
        "91% were built by the families of the village before the great storm.",
        "In the ones that had not been mended for years it was over four hundred.",
        "The printing house (of the old town) runs as this guild and pays for the walls.",
        "Specifies the walls that the carts of the village bring the sand to.",
    ],
)
def test_what_nobody_understands_by_itself_is_not_told(leaning: str) -> None:
    kit = kits.make(f"# The harbour\n\n{LONG[:70]}\n\n{leaning}\n\n{FILL}")
    assert leaning not in kit.markdown.replace("*", "")


FILL = "The walls are mended by the village. " + LONG[71:]


def test_a_question_on_a_line_of_its_own_stands_above_its_answer() -> None:
    asked = {
        "Where can I rent a boat?": "There are sixty boats at the northern pier of the harbour.",
        "How much does it cost?": "The first hour is free, and a whole day costs fifteen euros.",
        "Do I need a licence?": "No. The law of the harbour asks for none, but we show you how to row.",
        "Can I take a dog?": "Dogs are welcome in every boat as long as somebody holds them.",
    }
    text = "City boats - Frequently asked questions\n\n" + "\n\n".join(f"{one}\n{two}" for one, two in asked.items())
    (part,) = kits.make(text).summary["parts"]
    assert {item["under"]: item["text"] for item in part["items"]}.items() <= asked.items()
    assert len(part["items"]) > 1


def test_numbers_and_settings_in_short_lines_are_no_poem() -> None:
    numbers = "\n".join(f"{at}0.000 {at * 7}1.50 {at}.7332" for at in range(1, 30))
    settings = "\n".join(f'set grid x{at} "y{at}" -1' for at in range(20))
    for said in (numbers, settings):
        assert kits.make(f"{said}\n").summary["category"] != "poem"


def test_what_speaks_of_unsubscribing_again_and_again_is_no_newsletter() -> None:
    said = "Old names that nobody has bothered to unsubscribe get no mail. "
    fixed = "\n\n".join(f"- A crash is gone, see issue #{at}, that somebody told of." for at in range(70, 75))
    assert kits.make(f"# News of the tool\n\n## Mended\n\n{fixed}\n\n{LONG}\n").summary["category"] != "newsletter"
    made = kits.make(f"# Mail under load\n\n{said}\n\n## Names\n\n{LONG}\n\n{said.replace('Old', 'Other')}\n").summary
    assert made["category"] != "newsletter"


def test_what_rests_on_the_section_before_is_left_out() -> None:
    for said in ("Messages with two marks are refused by the rule in the previous section.",
                 "In the example above the price of the stone is exact to a penny."):  # fmt: skip
        reading = read(f"# Marks\n\n{LONG}\n\n{said}\n")
        assert next(one for one in reading.sentences if one.text == said).leans


def test_dates_of_a_newsletter_are_told_and_items_leave_nothing_for_points() -> None:
    items = "".join(
        f"## Item {at}\n\nThe harbour has had {at} new walls since the winter. {LONG}\n\n" for at in range(4)
    )
    dates = (
        "## Dates\n\n- 1 March: work on the northern wall, 9.30 am\n- 14 March: talk on sand, village hall, 7 pm\n\n"
    )
    text = (
        f"# The harbour letter\n\n{items}{dates}You get this newsletter as a member. Unsubscribe or view in browser\n"
    )
    summary = kits.make(text).summary
    (part,) = summary["parts"]
    told = {item["under"]: item["text"] for item in part["items"]}
    assert told["Dates"] == "1 March: work on the northern wall, 9.30 am; 14 March: talk on sand, village hall, 7 pm"
    assert summary["bullets"] == []


def test_a_german_number_at_the_end_of_a_sentence_is_no_ordinal() -> None:
    text = "Im Jahr 1955 waren es 1240 Glocken, im letzten 31. Jedes Jahr werden Kirchen verkauft. Am 31. Mai ist Fest."
    assert [one.text for one in read(text).sentences][:2] == [
        text.split(" Jedes")[0],
        "Jedes Jahr werden Kirchen verkauft.",
    ]
    assert "Am 31. Mai ist Fest." in [one.text for one in read(text).sentences]


def test_a_question_that_needs_the_one_before_is_not_asked() -> None:
    turns = [
        (
            "What was your first boat?",
            "It was a grey one that my uncle had built of oak in the winter of the long strike.",
        ),
        (
            "What happened to it?",
            "The family has the grey boat of oak, and they never let me row in it after that winter.",
        ),
        (
            "What do people get wrong?",
            "That boats are furniture, and then they put them next to a radiator for the winter.",
        ),
        (
            "Who takes over one day?",
            "My uncle had an apprentice, and I had one too, who was better with oak than I am now.",
        ),
    ]
    text = "# A builder of boats\n\n" + "\n\n".join(f"**{one}**\n\n{two} I build them. {LONG}" for one, two in turns)
    (part,) = kits.make(text).summary["parts"]
    assert len(part["items"]) > 1
    assert "What happened to it?" not in [item["under"] for item in part["items"]]


def test_what_leans_in_an_abstract_stands_with_what_it_leans_on_or_is_left_out() -> None:
    abstract = (
        "Many towns dim the lamps of their walls after midnight to save energy. It is often assumed that this also "
        "helps the animals of the night. We recorded bats at 72 lamps in three small towns, half of which were dimmed. "
        "Activity of common bats was lower at dimmed lamps, as fewer insects gathered there. "
        "Activity of slow bats did not differ between dimmed and undimmed lamps."
    )
    body = "The lamps were chosen in spring, and bats were counted at lamps of the towns until autumn. " * 8
    text = f"# Lamps and bats\n\n## Abstract\n\n{abstract}\n\n## Methods\n\n{body}\n\n## Results\n\n{body}\n"
    assert not [point for point in kits.make(text).summary["bullets"] if point.startswith("It is often")]


def test_a_french_question_that_leans_is_not_open() -> None:
    text = (
        "Le maire a fait poser une bâche sur le toit du moulin au printemps. "
        "Personne ne sait qui devra payer la suivante. "
        "La rivière passe sous les murs depuis des siècles, et le moulin est fermé depuis la guerre. "
    )
    asked = kits.make(text + "Les enfants du village viennent le samedi avec leurs parents. " * 3).ideas["questions"]
    assert asked == []
