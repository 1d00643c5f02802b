"""Small words that may be others, clauses that a sentence says for itself, lists in another order; and what they may
not be, because something else would be said."""

from __future__ import annotations

import pytest

from weft.checks.claims import compare


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The points at which the cables meet are marked.", "The points where the cables meet are marked."),
        ("Every lamp defines such a plane.", "All lamps define such a plane."),
        ("Any lamp that can be seen can be lit.", "All lamps that can be seen can be lit."),
        (
            "A more powerful lamp is hotter, and it burns its oil fast.",
            "More powerful lamps are hotter, and they burn their oil fast.",
        ),
        ("The bars show the one-sigma deviation.", "The bars show the 1 sigma deviation."),
        (
            "It is of double importance, since keepers have little time.",
            "It is of double importance, because keepers have little time.",
        ),
        ("This is the main reason why it refuses.", "This is the main reason it refuses."),
        ("They do not meet any arbitrary deadline.", "They do not meet an arbitrary deadline."),
        ("She was the second keeper, right after Anna.", "She was the second keeper, just after Anna."),
        (
            "Rule is exercised by those who have the greatest merit.",
            "Rule is exercised by those with the greatest merit.",
        ),
        ("Languages have specific compilers.", "Each language has a specific compiler."),
        ("The subprojects were closed in May.", "The sub-projects were closed in May."),
        (
            "There is no link between them except for the fact that they burn.",
            "There is no link between them, other than the fact that they burn.",
        ),
        (
            "The tower is safe against attack through malicious input.",
            "The tower is safe against attack via malicious input.",
        ),
        ("Increasing the radius will increase the glow.", "Increasing the radius increases the glow."),
        ("When painting with oil, the wall will shine.", "When you paint with oil, the wall will shine."),
        ("The season (from May to June) is dry.", "The season (May to June) is dry."),
        ("There isn't any way to stop it.", "There is no way to stop it."),
        ("All but Anna are tied to one rope.", "All except Anna are tied to one rope."),
        ("It is worth looking to see whether a lamp exists.", "It is worth looking to see if a lamp exists."),
        ("Drag it or move it with the wheel.", "Drag or move it with the wheel."),
        ("Every click makes a node with no handles.", "Each click makes a node without any handles."),
        ("The term of office of the keeper is one year.", "The keeper's term of office is one year."),
        ("It copies the old vector's current contents.", "It copies the current contents of the old vector."),
        ("Bruce led it from April 1996 to December 1997.", "Bruce led it from April 1996 until December 1997."),
        ("The tower is a client/server system.", "The tower is a client-server system."),
        ("It uses an RS-232 line.", "It uses an RS232 line."),
        ("The file is UTF-16LE.", "The file is UTF-16LE¹."),
        ("The lamp is used.", "The lamp is still used."),
        ("The lamp was cleaned by a fine cloth.", "The lamp was cleaned with a fine cloth."),
        ("The cable is needed to talk to that lamp.", "The cable is needed to talk with that lamp."),
        ("It will look different in different zones.", "It will look different for different zones."),
        ("The lamps are meaningful for you.", "The lamps are meaningful to you."),
        ("It is a score of 1950.", "It is a score from 1950."),
        ("A wall protects the oil from the storm.", "A wall protects the oil against the storm."),
        ("On using the wheel, it is set to 60.", "When using the wheel, it is set to 60."),
        ("The day upon which they vote is fixed.", "The day on which they vote is fixed."),
        ("It is important for you to see the lamp.", "It is important that you see the lamp."),
        ("It is made for the people that want oil.", "It is made for those who want oil."),
        ("The oil might get mistaken for wine.", "The oil might be mistaken for wine."),
        ("The page has got some examples.", "The page has some examples."),
        ("It'd been lit by night.", "It had been lit by night."),
        ("It looks as if it had a bar.", "It looks like it has a bar."),
        ("From one lamp, of course, we can't see much.", "From one lamp, we can't see much, of course."),
        ("The keeper shows lamps.", "The keeper will also show lamps."),
        ("The tower has two lamps.", "The tower will have two lamps."),
        ("They started to use a new oil.", "They started using a new oil."),
        ("Oil lamps have specific wicks.", "Each oil lamp has a specific wick."),
        ("Lamps with good oil burn well.", "Any lamp with good oil burns well."),
        ("It has no oil and no wick.", "It has no oil or wick."),
        ("It is true not just for this lamp.", "It is true not only for this lamp."),
        ("Voltage UPSes are old.", "A voltage UPS is old."),
        ("The 18th lamp is lit.", "The eighteenth lamp is lit."),
        ("Two plug-ins are lit.", "Two plug-in are lit."),
        ("It is on the to-do list.", "It is on the TODO list."),
        ("The client / server mode is used.", "The client/server mode is used."),
        ("It is 25 degrees, i.e. 77 there.", "It is 25 degrees (77 there)."),
        ("They used oil when they were first lit in May.", "When first lit in May, they used oil."),
        ("They are exceedingly heated debates.", "It is an exceedingly heated debate."),
    ],
)
def test_other_small_words_say_the_same(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The lamps are heavier.",
            "Although both were made there, the older one looks darker: the lamps are heavier, and the oil is bad.",
        ),
        (
            "The right picture shows a tower from 2000.",
            "The left picture shows a lamp from the old hall, while the right picture shows a tower from 2000.",
        ),
        (
            "The keepers may rank the options.",
            "The best part of it is that the keepers may rank the options and that the winner is chosen by lot.",
        ),
        (
            "The lamps must be clear enough to be seen.",
            "Lamps are a challenge: they cost oil and they must be clear enough to be seen.",
        ),
        (
            "The blur filter is not included with the tower.",
            "The blur filter is a plug-in. This filter is not included with the tower, but it can be had.",
        ),
        (
            "It is obscured by houses, hills and trees at many places.",
            "At many places, it is obscured by trees, houses and hills.",
        ),
        ("It was made of a pewter or zinc plate.", "It was made of a zinc or pewter plate."),
        (
            "The exact lamps remain unknown, but older books suggest oil.",
            "Older books suggest oil, but the exact lamps remain unknown.",
        ),
        ("It runs against Oracle 10g, MySQL and Anna.", "It runs against Anna, MySQL and Oracle 10g."),
    ],
)
def test_a_clause_and_a_list_in_another_order_are_said_all_the_same(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage", "changed"),
    [
        ("The tower need not turn.", "Therefore, the tower has to turn.", "need not"),
        ("These lamps may be used in halls.", "These lamps should never be used in halls.", "may"),
        ("The term cannot be misleading.", "The term might be misleading, since the mass is not missing.", "can not"),
        ("You must set the wheel higher.", "You may need to set the wheel higher.", "may"),
        ("The scale is still based on the eye.", "The scale is no longer based on the eye.", "still"),
        ("You have to ungroup first.", "You don't necessarily have to ungroup first.", "n't necessarily"),
        ("A lamp is not completely independent.", "Each lamp is completely independent, so each can be moved.", "not"),
        (
            "The keepers need not check the oil of all new lamps.",
            "The keepers are at work all day. They must also check the oil of all new lamps.",
            "need not",
        ),
        ("It was written by Peter van Baarle.", "It was written by Konrad Rybka.", "Peter van Baarle"),
        ("The community has selected wxWidgets.", "The community has selected Qt.", "wxWidgets"),
        ("Use the keyboard shortcut Ctrl+R.", "Use the keyboard shortcut Ctrl+Y.", "Ctrl+R"),
        ("It uses Secure Shell for its keys.", "It uses Transport Layer Security for its keys.", "Secure Shell"),
        ("Q is a third of the root.", "Q is half of the root.", "third"),
        ("We have a need to create it.", "We have no need to create it, nor give a date.", "no"),
        ("There is a good reason to light it.", "There is no reason to light it.", "good"),
        ("It has something to do with oil.", "It has nothing to do with oil.", "something"),
        ("The lamp must turn.", "The lamp may have to turn.", "may"),
        ("The lamp might have to turn.", "The lamp will have to turn.", "might"),
        ("The lamp need not turn.", "The lamp should always turn.", "need not"),
        ("You need not know anything about oil.", "You will need to know something about oil.", "need not"),
        ("The entry will not count for the sum.", "The entry will count for the sum, but not for the rest.", "not"),
        ("Lamps are not lit here.", "Lamps are lit here, no oil is sold unless you ask.", "not"),
        ("You should not avoid oil.", "You should avoid oil, except by night.", "not"),
        ("It may burn in May.", "It should never burn in May and so he must look if it does.", "may"),
        ("The time must not exceed 256 minutes.", "The time must not exceed 128 minutes (wait if dark).", "256"),
        ("They need care within 24-30 months.", "They need care within 12-18 months.", "24 30"),
        ("It takes three fifths of the votes.", "It takes two thirds of the votes.", "three fifths"),
        ("He was elected more than three times.", "He was elected more than twice.", "three times"),
        ("Its approach is threefold.", "Its approach is twofold.", "threefold"),
        ("It is written by Anna Berg.", "It is written by Carl Dahl <carl@example.org>.", "Anna Berg"),
        ("Windows's command does it.", "Linux's command does it.", "Windows's"),
        ("Paris, France is the point of zero.", "Greenwich, England is the point of zero.", "Paris France"),
        (
            "The right picture shows a tower from 1990.",
            "The left one shows a lamp from the old hall, while the right picture shows a tower from 2000.",
            "1990",
        ),
    ],
)
def test_one_change_contradicts_in_other_small_words_too(claim: str, passage: str, changed: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "contradicted", verdict.reason
    assert changed in verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Data is read from every lamp.", "Data is read from any lamp."),
        ("He did not open all boxes.", "He did not open any boxes."),
        ("He has slept because the bell rang.", "He has slept since the bell rang."),
        ("He sang because he worked.", "He sang as he worked."),
        ("He will leave the tower.", "He left the tower."),
        ("Anna lit her lamp.", "Anna lit the lamp."),
        ("The lamp is still lit.", "The lamp is lit."),
        ("Lamps are lit.", "Not all lamps are lit."),
        ("It rained.", "He did not leave because it rained."),
        ("The lamp was broken in May.", "He left, but not because the lamp was broken in May."),
        (
            "The lamp on the left is red.",
            "There are two views: the lamp on the left is red; the lamp on the left is green.",
        ),
        ("The tower will fall in the end.", "The idea is that the tower will fall in the end."),
        ("The lamp is lit at night.", "If the oil is there, the bell rings, and the lamp is lit at night."),
        ("The keepers may leave the tower.", "The keepers may leave the tower, but only if it is safe."),
        ("Anna saw Carl and Bert saw Dora.", "Anna saw Bert and Carl saw Dora."),
        ("France signed it, and Spain refused.", "Spain signed it, and France refused."),
        ("The fee is paid by tenants and owners respectively.", "The fee is paid by owners and tenants respectively."),
        ("The boats passed the bridge and then the tower.", "The boats passed the tower and then the bridge."),
        ("The drug lowers the pressure.", "The drug lowers the pressure, but not in women."),
        ("At seven, she could do what he could at ten.", "At ten, she could do what he could at seven."),
        ("The keeper of the owner's lamp left.", "The owner of the keeper's lamp left."),
        ("He was elected a keeper by them.", "He elected a keeper by them."),
        ("The lamp need not be lit.", "The lamp may be lit."),
        ("The letter was written for Anna.", "The letter was written by Anna."),
        ("The letter to the keepers was lost.", "The letter from the keepers was lost."),
        ("The lamp was lit before the storm.", "The lamp was lit after the storm."),
        ("The rope lies over the wall.", "The rope lies under the wall."),
        ("He left with his lamp.", "He left without his lamp."),
        ("The keepers voted for the plan.", "The keepers voted against the plan."),
        ("The keepers took oil from the tower.", "The keepers took oil against the tower."),
        ("The lamp was sold for Anna.", "The lamp was sold to Anna."),
        ("The lamp was given by the keepers.", "The lamp was given to the keepers."),
        ("He works for Anna.", "He works with Anna."),
        ("The lamp burns for 5 hours.", "The lamp burns in 5 hours."),
        ("The tower stood from 1950.", "The tower stood in 1950."),
        ("It was used from 1950 to 1960.", "It was used of 1950 to 1960."),
        ("He works as a keeper.", "He works like a keeper."),
        ("The oil is kept outside the tower.", "The oil is kept inside the tower."),
        ("The lamp is lit until dawn.", "The lamp is lit by dawn."),
        ("He left because of the storm.", "He left despite the storm."),
        ("The tower burns.", "The tower shall burn."),
        ("The tower burns.", "The tower may burn."),
        ("The tower burned.", "The tower will burn."),
        ("He has to leave.", "He may have to leave."),
        ("It would be lit.", "It'd been lit."),
        ("Lamps burn.", "If any lamp burns, ring."),
        ("Lamps burn.", "Some lamps burn."),
        ("The lamps burn.", "Not all of the lamps burn."),
        ("He has no oil and wick.", "He has no oil or wick."),
        ("He has oil and no wick.", "He has oil or wick."),
        ("It is just like a lamp.", "It is only like a lamp."),
        ("He knows anything.", "He knows something."),
        ("The 18th lamp is lit.", "The nineteenth lamp is lit."),
        ("If the lamp is lit, it rings.", "As if the lamp is lit, it rings."),
        ("He was paid money.", "He paid money."),
        ("He got lamps.", "He was lamps."),
    ],
)
def test_what_would_say_something_else_is_not_quoted(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Justin Houston played at Georgia.", "He played at Georgia."),
        ("Bobby saw her die in a crash in The Nice Guys.", "In 1977 Los Angeles, Bobby saw her die in a crash."),
        ("Winona LaDuke has Ojibwe ancestry.", "A Native American with Ojibwe ancestry, she founded it."),
        ("The lamp need not be lit.", "The lamp may be lit."),
        ("The lamp is not lit in May.", "The lamp is lit in June."),
        ("The lamp is not lit.", "The lamp is lit if it is dark."),
        ("The lamp is not lit.", "The lamp is lit, but only if it is dark."),
        ("The time is 256 minutes.", "The time is 128 minutes (if dark)."),
        ("He was elected two times.", "He was elected twice."),
        ("It takes four eighths.", "It takes two fourths."),
    ],
)
def test_what_may_be_so_as_well_is_not_contradicted(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "not_checked"
