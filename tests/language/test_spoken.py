"""Where somebody begins anew in words without stops."""

from __future__ import annotations

import pytest

from weft.language.spoken import spoken_spans


@pytest.mark.parametrize(
    ("said", "pieces"),
    [
        (
            "so the yeast eats the sugar in the flour and it makes gas all night long um but the gas would leave again",
            ["the yeast eats the sugar in the flour", "it makes gas all night long", "the gas would leave again"],
        ),
        (
            "keep the lid on for twenty minutes so that the loaf can grow and the crust stays soft right",
            ["keep the lid on for twenty minutes so that the loaf can grow and the crust stays soft"],
        ),
        (
            "a cup of flour can be anything between a hundred and twenty and a hundred and sixty grams",
            ["a cup of flour can be anything between a hundred and twenty and a hundred and sixty grams"],
        ),
        ("um okay so", []),
    ],
)
def test_a_piece_ends_where_a_new_subject_begins(said: str, pieces: list[str]) -> None:
    text = f"# a talk\n\n{said}\n"
    start = text.index(said)
    assert [text[low:high] for low, high in spoken_spans(text, start, len(text))] == pieces


def test_no_piece_goes_on_for_ever_and_no_word_is_lost_but_fillers() -> None:
    text = " ".join(f"word{number}" for number in range(200))
    found = [text[low:high] for low, high in spoken_spans(text, 0, len(text))]
    assert " ".join(found) == text
    assert max(len(piece.split()) for piece in found) <= 40


@pytest.mark.parametrize(
    ("language", "said", "pieces"),
    [
        (
            "de",
            "hallo zusammen und willkommen auf meinem kanal heute geht es um bienen im winter ähm also"
            " die bienen schlafen nicht sie zittern und ich wiege den stock jede woche danke"
            " fürs zuschauen und bis zum nächsten mal",
            [
                "heute geht es um bienen im winter",
                "die bienen schlafen nicht sie zittern",
                "ich wiege den stock jede woche",
            ],
        ),
        (
            "fr",
            "bonjour à tous et bienvenue sur la chaîne aujourd'hui on va parler des haies au bord des champs parce que"
            " sans haie le vent prend la terre et on ne le voit pas souvent chez nous j'ai planté deux cents mètres"
            " chez mon voisin merci d'avoir regardé",
            [
                "aujourd'hui on va parler des haies au bord des champs parce que sans haie le vent prend la terre",
                "on ne le voit pas souvent chez nous",
                "j'ai planté deux cents mètres chez mon voisin",
            ],
        ),
        (
            "es",
            "hola a todos hoy vamos a hablar de pozos secos en la sierra pero el agua no se ha ido está más abajo y"
            " cuando llueve tarda tres años en llegar gracias por ver el vídeo",
            [
                "hoy vamos a hablar de pozos secos en la sierra",
                "el agua no se ha ido está más abajo",
                "cuando llueve tarda tres años en llegar",
            ],
        ),
    ],
)
def test_other_languages_begin_with_words_of_their_own(language: str, said: str, pieces: list[str]) -> None:
    assert [said[low:high] for low, high in spoken_spans(said, 0, len(said), language)] == pieces
