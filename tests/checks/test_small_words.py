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
    ],
)
def test_what_may_be_so_as_well_is_not_contradicted(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "not_checked"
