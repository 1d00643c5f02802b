"""A sentence in the other's turns of phrase is the same statement; what only looks like one is not."""

from __future__ import annotations

import pytest

from weft.checks.claims import compare
from weft.checks.word_forms import is_doing


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("This avoids delays in lamp delivery for keepers.", "This avoids lamp delivery delays for keepers."),
        ("He began a careful inspection of lamps in May.", "He began a careful lamp inspection in May."),
        ("The harbour light needs the fuel address of a supplier.", "The harbour light needs a supplier fuel address."),
        (
            "Once you have read a log and have added the contents of it, close it.",
            "Once you have read a log and added its contents, close it.",
        ),
        ("They wrote on the art of building towers in stone.", "They wrote on the art of tower building in stone."),
        ("Lamp oil is simply more costly than gas.", "Lamp oil is simply costlier than gas."),
        ("The most simple lamps are lit by every keeper.", "The simplest lamps are lit by every keeper."),
        ("Seeing at once what is wrong with a lamp is hard.", "It is hard to see at once what is wrong with a lamp."),
        ("It is a common practice to write a log of the lamps.", "A common practice is to write a log of the lamps."),
        ("The keepers must not sell or give away oil or gas.", "The keepers must not sell or give away gas or oil."),
        (
            "The implementation of the new rule makes a nice exercise.",
            "Implementing the new rule makes a nice exercise.",
        ),
        (
            "In the computation of the tides, the keepers use a table.",
            "While computing the tides, the keepers use a table.",
        ),
        ("A simpler lamp, which is called a beacon, does the job.", "A simpler lamp called a beacon does the job."),
        (
            "Doors that have been jammed with oil can only be opened by force.",
            "Doors jammed with oil can only be opened by force.",
        ),
        (
            "This is necessary as there is no other lamp in the hall.",
            "This is necessary because there is no other lamp in the hall.",
        ),
        ("Two lamps are close to one another in colour.", "Two lamps are close to each other in colour."),
        (
            "It is up to the keeper to decide which oil is best for the lamp.",
            "It is up to the keeper to decide what oil is best for the lamp.",
        ),
        ("Use the small lamp where possible.", "Use the small lamp when possible."),
        (
            "Keepers can choose among being a smith, a cook or a sailor.",
            "Keepers can choose between being a smith, cook or sailor.",
        ),
        ("More than a dozen of these were made of brass.", "More than a dozen of them were made of brass."),
        ("The light was built in August of 1893 by Ada Berg.", "The light was built in August 1893 by Ada Berg."),
        ("Colour is shown by use of a red lamp.", "Colour is shown by using a red lamp."),
        (
            "The output agreed, for all of these, with the old almanac.",
            "For all of these, the output agreed with the old almanac.",
        ),
        (
            "The boats are, besides the pilot, provided as examples of good work.",
            "Besides the pilot, the boats are provided as examples of good work.",
        ),
        ("The walk takes 160 minutes.", "The walk takes 2 h 40 min."),
    ],
)
def test_another_turn_of_phrase_is_quoted(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("King moves promote.", "Promotes to king (moves in this case only)."),
        ("The oil price and lamps rose.", "The price of oil and lamps rose."),
        (
            "Light is based on oil for lamps and wood for stoves.",
            "Light is based on oil for wood and lamps for stoves.",
        ),
        ("The old keeper's lamp and boat are red.", "The old lamp and boat of the keeper are red."),
        ("Prints were made by paper pressing to the plate.", "Prints were made by pressing paper to the plate."),
        ("Towers can be acrylic brass, plain steel, or glass.", "Towers can be acrylic glass, plain steel, or brass."),
        (
            "Unlike keepers, sailors who help have been appointed.",
            "Unlike sailors who help, keepers have been appointed.",
        ),
        ("Ada told the sailors at sea it helped her to stay.", "The sailors at sea told Ada it helped them to stay."),
        ("The mission data are in the log.", "The missing data are in the log."),
        ("It is as bright as there is need.", "It is as bright because there is need."),
        ("She stopped to smoke in the hall.", "She stopped smoking in the hall."),
        ("The towers burn more light oil in winter.", "The towers burn lighter oil in winter."),
    ],
)
def test_what_only_looks_like_another_turn_is_not(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage", "state"),
    [
        ("The boat leaves at 6.", "The boat leaves at 6:40 from the pier.", "not_checked"),
        ("The boat leaves at 6:30 from the pier.", "The boat leaves at 6:40 from the pier.", "contradicted"),
        ("It fell to 12 degrees.", "It fell to -12 degrees.", "contradicted"),
        ("The match ended 3.", "The match ended 3:2 on Sunday.", "not_checked"),
        ("Use version 2.1 of the log.", "Use version 2.10 of the log.", "not_checked"),
        ("The lamp weighs 2.5 kg.", "The lamp weighs 2.50 kg.", "quoted"),
        ("The boat is 12 long.", "The boat is 12' long.", "not_checked"),
        ("The trip lasts 90 minutes.", "The trip lasts 1 h 20 min.", "contradicted"),
        ("More than 200 keepers came.", "More than 300 keepers came.", "not_checked"),
        ("The term is at least five years.", "The term is at least seven years.", "contradicted"),
        ("More than 400 keepers came.", "More than 300 keepers came.", "contradicted"),
        ("Boats longer than 200 m must wait.", "Boats longer than 180 m must wait.", "not_checked"),
        ("The southern pier was closed.", "The northern pier was closed.", "not_checked"),
        ("The pier was open.", "The pier was closed.", "contradicted"),
        ("The rule was repealed in June.", "The rule was to be repealed in June.", "not_checked"),
        ("Keepers earned 30 euros a day.", "Before the reform, keepers earned 30 euros a day.", "not_checked"),
        ("The lamp is broken since May.", "Rumour: the lamp is broken since May.", "not_checked"),
        ("No toll will ever be taken.", 'She promises: "No toll will ever be taken."', "not_checked"),
        (
            "Your keeper closed the gate to make sure everybody pays a toll.",
            "It is possible that your keeper closed the gate to make sure everybody pays a toll.",
            "not_checked",
        ),
        ("The bolts are rusty.", 'She disagreed: "It is old. The bolts are rusty."', "not_checked"),
        (
            "Send the log to <a@example.org>, who keeps it.",
            "Send the log to <b@example.org>, who keeps it.",
            "contradicted",
        ),
    ],
)
def test_what_code_can_know_of_numbers_bounds_and_who_says_it(claim: str, passage: str, state: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == state, verdict.reason


@pytest.mark.parametrize("pair", ["delivery delivering", "expansion expanding", "computation computing", "usage using",
    "movement moving", "comparison comparing", "growth growing", "removal removing"])  # fmt: skip
def test_a_noun_that_names_a_doing(pair: str) -> None:
    noun, gerund = pair.split()
    assert is_doing(noun, gerund) == (pair != "usage using")  # `using` is a word that leads others


@pytest.mark.parametrize(
    "pair", ["mission missing", "station stating", "party parting", "army arming", "ration rating"]
)
def test_a_noun_that_only_sounds_like_it(pair: str) -> None:
    assert not is_doing(*pair.split())
