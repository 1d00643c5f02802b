"""What may stand elsewhere in a sentence that says the same: lists, what belongs to a noun, phrases, adverbs.
And what may not, because somebody else would do it, or something else be so."""

from __future__ import annotations

import pytest

from weft.checks.claims import compare


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The keeper's lamp is red.", "The lamp of the keeper is red."),
        (
            "The resistance of the oil to the movement of the wick is low.",
            "The oil's resistance to the wick's movement is low.",
        ),
        (
            "The harbour keeps the acts and records of every other town.",
            "The harbour keeps every other town's acts and records.",
        ),
        ("They wrote the value of the time stamp.", "They wrote the time stamp value."),
        ("The sizes of the lamps depend on the oil.", "The lamp sizes depend on the oil."),
        ("Members of the board elect the keeper.", "Board members elect the keeper."),
        ("It works with lamps that are dry.", "It works with dry lamps."),
        ("Each lamp has a flame of its own.", "Each lamp has its own flame."),
        ("The stars bring keepers luck.", "The stars bring luck to keepers."),
    ],
)
def test_what_belongs_to_a_noun_stands_before_or_behind_it(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The old keeper's lamp is red.", "The old lamp of the keeper is red."),
        ("The new users of the system pay.", "The users of the new system pay."),
        ("The user group settings are kept.", "The group of user settings is kept."),
        ("The price of lamps and oil rose.", "The lamp price and oil rose."),
        ("Anna's brother's friend came.", "The brother of Anna's friend came."),
        ("The cause of the fire was the lamp.", "The cause of the lamp was the fire."),
        ("The tea cup is full.", "The cup of tea is full."),
        ("Dozens of keepers tend the lamps.", "The keepers tend dozens of lamps."),
        ("France's army beat Spain.", "The army of Spain beat France."),
        ("Anna, Bert's sister, lit it.", "Bert, Anna's sister, lit it."),
        ("Anna gave Bert to Carl.", "Anna gave Carl to Bert."),
        ("The lamps that are red have new oil.", "The new lamps have oil that is red."),
    ],
)
def test_what_belongs_to_another_noun_is_not_quoted(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("It keeps oil, wicks, lamps, torches and maps.", "It keeps lamps, maps, oil, torches and wicks."),
        (
            "The red lamp, the big lamp, and the old lamp are lit.",
            "The old lamp, the big lamp, and the red lamp are lit.",
        ),
        ("They can light and carry many lamps.", "They can carry and light many lamps."),
        ("For safety and speed reasons it is kept.", "It is kept for speed and safety reasons."),
        ("Ships pass (from Oslo, Bergen, Skagen).", "Ships pass (from Skagen, Oslo, Bergen)."),
        (
            "By lighting torches and red lamps we keep the harbour.",
            "We keep the harbour by lighting red lamps and torches.",
        ),
        ("The keepers sleep while the owners work.", "The owners work while the keepers sleep."),
    ],
)
def test_members_of_a_list_stand_in_any_order(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("He saw Bert and Anna saw him.", "He saw Anna and Bert saw him."),
        ("It was signed by Bert, and Anna refused.", "It was signed by Anna, and Bert refused."),
        ("They light torches in May and lamps in June.", "They light lamps in May and torches in June."),
        ("The queen and the king of Spain came.", "The king and the queen of Spain came."),
        ("Electrical rooms and lamps are kept here.", "Electrical lamps and rooms are kept here."),
        ("Dogs and cat food are sold.", "Cats and dog food are sold."),
        ("Bert lit the lamp and Anna put out the fire.", "Anna lit the lamp and Bert put out the fire."),
        ("Oslo and Bergen lie in May and June, respectively.", "Bergen and Oslo lie in May and June, respectively."),
        ("The lamp is bigger than the torch and the fire.", "The fire is bigger than the torch and the lamp."),
    ],
)
def test_what_is_no_list_keeps_its_order(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("A new keeper includes just a small lamp.", "A new keeper just includes a small lamp."),
        ("Most people knew him only as the keeper.", "Most people only knew him as the keeper."),
        (
            "The ship is near the pole for only a part of the time.",
            "The ship is only near the pole for a part of the time.",
        ),
        ("It may have some impact on a very large lamp.", "On very large lamps, it may have some impact."),
        ("It is said that many will come if the lamp burns.", "It is said that if the lamp burns, many will come."),
        ("Then we light a lamp for each ship and we go home.", "Then, for each ship we light a lamp and we go home."),
        ("It must be put into the hall as late as possible.", "It must be put as late as possible in the hall."),
        ("Anna is in the old tale the keeper of a lamp.", "In the old tale, Anna is the keeper of a lamp."),
        (
            "The town may remove the lamp by vote of each house.",
            "The town may by a vote of each house remove the lamp.",
        ),
        ("Most likely the lamps are new.", "The lamps are most likely new."),
        ("It is hidden by ships, sails, masts, etc. in May.", "In May it is hidden by masts, ships, sails, etc."),
        ("The keeper may, in bad weather, light both lamps.", "The keeper may light both lamps in bad weather."),
        ("To keep the coast safe, Anna Berg built the tower.", "Anna Berg built the tower to keep the coast safe."),
        (
            "Anna Berg in 1949 began building a tower on the coast.",
            "Anna Berg began building a tower on the coast in 1949.",
        ),
    ],
)
def test_a_phrase_or_an_adverb_stands_elsewhere_in_its_clause(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Only Anna lit the lamp.", "Anna only lit the lamp."),
        ("Anna only lit the lamp.", "Only Anna lit the lamp."),
        ("Anna lit only the lamp.", "Only Anna lit the lamp."),
        ("Keepers light lamps only in May.", "Keepers light only lamps in May."),
        ("Keepers in May light only lamps.", "Keepers only in May light lamps."),
        ("In May only keepers light lamps.", "In May keepers only light lamps."),
        ("The ship is near the pole only in May.", "Only the ship is near the pole in May."),
    ],
)
def test_what_only_rules_over_is_not_another(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ('This light is called "Old Anna" by Bert.', 'Bert calls this light "Old Anna".'),
        ("The lamp is lit by Anna.", "Anna lights the lamp."),
        ("The lamp can be lit with oil.", "You can light the lamp with oil."),
        ("You can light the lamp with oil.", "The lamp can be lit with oil."),
        ("The light grows when the oil is changed.", "When you change the oil, the light grows."),
        ("The lamp which Anna Berg lit guided the fleet.", "The lamp lit by Anna Berg guided the fleet."),
        ("Depending on the wind, the lamp is lit by the keeper.", "The keeper lights the lamp, depending on the wind."),
        (
            "Carl Lund, Bo Holm, and Anna Berg praised his lamp.",
            "His lamp was praised by Anna Berg, Bo Holm, and Carl Lund.",
        ),
    ],
)
def test_a_passive_says_what_its_active_says(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Anna was seen by Bert.", "Anna saw Bert."),
        ("Anna saw Bert.", "Anna was seen by Bert."),
        ("The fire was the cause of the lamp.", "The lamp was the cause of the fire."),
        ("Ships are the lamps.", "The lamps are ships."),
        ("A man is a keeper.", "A keeper is a man."),
        ("The man by the lamp may remove the town.", "The town may remove the man by the lamp."),
        ("You lit the lamp.", "The lamp was lit."),
        ("You can be seen from the ship.", "You can see from the ship."),
        ("You can see the ship.", "You can be seen by the ship."),
        ("You must light the lamp.", "The lamp can be lit."),
        ("The lamp is lit when the keeper is seen.", "When you light the lamp, you see no keeper."),
        ("By the mayor, Anna was praised.", "Anna praised the mayor."),
        ("The man who shot Anna was caught.", "The man shot by Anna was caught."),
        ("It is a lamp which Anna lit.", "It is a lamp lit by Anna Berg."),
        ("It is a keeper whom the lamp lit.", "It is a lamp lit by the keeper."),
        ("The keeper who the mayor praised lit a lamp.", "The keeper praised by the crew lit a lamp for the mayor."),
    ],
)
def test_who_does_it_is_not_who_it_is_done_to(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Ships pass under the security lamps and bring a risk.",
            "Ships pass under the lamps and bring a security risk.",
        ),
        ("It was above the oil pumping price.", "It was pumping above the oil price."),
        ("You can read about oil in more books.", "You can read more about oil in books."),
        ("At ten it leaves and it arrives at seventeen.", "At seventeen it leaves and it arrives at ten."),
        ("The train leaving at ten arrives at seventeen.", "The train leaving at seventeen arrives at ten."),
        (
            "At ten the train leaves before arriving at seventeen.",
            "At seventeen the train leaves before arriving at ten.",
        ),
        (
            "The yard built in Oslo two towers for a port in Bergen.",
            "The yard built in Bergen two towers for a port in Oslo.",
        ),
        ("The keeper gave to the mayor a lamp.", "The keeper of the mayor gave a lamp."),
        ("The lamp in the hall may burn the oil.", "The lamp may burn the oil in the hall."),
        ("The keeper sent the lamp a letter.", "The keeper sent a letter the lamp."),
        ("The keeper said that Anna in 1949 built a tower.", "The keeper said in 1949 that Anna built a tower."),
        ("The keeper in 1949 said that Anna built a tower.", "The keeper said that Anna built a tower in 1949."),
        ("She promised in May to light a lamp in June.", "She promised in June to light a lamp in May."),
        ("In May she promised to light a lamp in June.", "In June she promised to light a lamp in May."),
    ],
)
def test_what_would_stand_inside_another_phrase_is_not_quoted(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("From one lamp, of course, we can't see much.", "From one lamp, we cannot see much, of course."),
        ("The ship is in fact near the lamp.", "In fact, the ship is near the lamp."),
        ("They used oil when they were first seen in May.", "When first seen in May, they used oil."),
        ("Storms are heated debates of the sea.", "A storm is a heated debate of the sea."),
        ("The lamps can be lit, carried or sold.", "The lamps can be sold, lit or carried."),
        (
            "It has a set of ten lamps.",
            "It has a set of ten lamps, not only for ships but also for keepers (see the map).",
        ),
    ],
)
def test_asides_and_adverbs_take_no_part(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Anna was offered lamps.", "Anna offered lamps."),
        ("The keeper was seen, and carried lamps.", "The keeper saw and carried lamps."),
        ("The cost of lamps is high.", "The cost of course lamps is high."),
    ],
)
def test_what_looks_like_an_aside_or_a_member_is_read(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Any lamps will be ignored if they are dry.", "If any lamps are dry, they will be ignored."),
        ("The lamp is replaced when it breaks.", "When the lamp breaks, it is replaced."),
    ],
)
def test_a_pronoun_stands_in_the_clause_that_comes_second(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("When the lamp is lit, it is moved.", "The lamp is lit when it is moved."),
        ("The lamp is dry if it burns.", "If the lamp is dry, it burns."),
        ("The ship is dry if it burns the lamp.", "If the lamp burns the ship, it is dry."),
        ("Before the lamp burns, the ship sails.", "The lamp burns before the ship sails."),
        ("Because the lamp burns, the ship sails.", "The lamp burns because the ship sails."),
    ],
)
def test_what_follows_from_what_is_not_turned_round(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        # what may go goes first, so that the rest may stand in another order
        (
            "With their slow burn, the smallest lamps will shine for years.",
            "The smallest lamps (a tenth of the weight), with their slow burn, will shine (albeit dimly) for years.",
        ),
        # a noun and its pronoun in each other's place
        ("They report lamps to the keepers if they find them.", "If they find lamps, they report them to the keepers."),
        ("As Anna's lamps burn, her tower is warm.", "Anna's tower is warm, as her lamps burn."),
        # what is set off behind a noun is said of it, and what has two names goes by either
        ("Carl is a keeper of lamps.", "Anna saw Carl, a keeper of lamps."),
        ("OPEC is a body of keepers.", "The Oslo Pact of Exporting Countries (OPEC), a body of keepers, met in May."),
        ("Anna Berg is a pilot of ships.", "As Anna B. Berg saw, Anna Berg, a pilot of ships, left."),
        # a main clause, and the second of two things that must be done
        ("The lamp is a base for towers.", "Although the lamp is free, it is a base for towers."),
        ("The keeper must ring the bell.", "The keeper must light the lamp and ring the bell."),
        # asides, adverbs and phrases elsewhere
        ("The oil is instead put in the tower.", "Instead, the oil is put in the tower."),
        ("The town can hold lamps or other oil directly.", "The town can directly hold lamps or other oil."),
        ("The lamps are provided by the keepers to help you.", "To help you, the keepers provide the lamps."),
        ("The keeper of the old light is Anna Berg.", "Anna Berg is the keeper of the old light."),
        ("Berg is not sure of it.", "Anna T. Berg, the editor, expects OPEC to meet. However, she is not sure of it."),
    ],
)
def test_what_stands_for_itself_is_said_in_any_order(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The lamp is the old bell.", "The lamp, the old bell, the horn and the flag burned."),
        ("Anna is the old keeper.", "Anna, the old keeper, Carl and the pilot left."),
        ("The keeper is a thief.", "Bert, who said that the keeper is a thief, left."),
        ("Oil is a kind of gas.", "He said that oil, a kind of gas, burns."),
        ("He refused to leave.", "He refused to eat and left."),
        ("The keeper must ring the bell.", "The keeper must not light the lamp and ring the bell."),
        ("He saw Bert and Anna fled.", "Anna saw Bert and he fled."),
        ("Anna greeted Bert and Anna left.", "Anna greeted Bert and she left."),
        ("The lamp lit the hall and the hall burned.", "The lamp lit the hall and it burned."),
        ("They find lamps if they report them to the keepers.", "If they find lamps, they report them to the keepers."),
        ("The peak shifts.", "As the temperature rises, the peak shifts."),
        ("The lamp is lit.", "As long as it is dark, the lamp is lit."),
        ("The lamp is lit.", "The lamp is lit provided it is dark."),
        ("The keeper must stay.", "While the lamp is lit, the keeper must stay."),
        ("The keeper may leave.", "The pilot claims it; the keeper may leave."),
        ("Instead of oil they burn gas.", "Instead of gas they burn oil."),
    ],
)
def test_what_depends_on_the_rest_is_not_said_without_it(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"
