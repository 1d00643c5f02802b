"""Captions and transcripts: one text of sentences and paragraphs, with cues that say who spoke when."""

from __future__ import annotations

import pytest

from weft.documents import Cue, Document, DocumentError, read_document


def stamp(seconds: float, point: str) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3600000:02}:{whole // 60000 % 60:02}:{whole // 1000 % 60:02}{point}{whole % 1000:03}"


def vtt(*captions: tuple[float, float, str], header: str = "WEBVTT") -> Document:
    blocks = [f"{stamp(start, '.')} --> {stamp(end, '.')}\n{text}" for start, end, text in captions]
    return read_document("\n\n".join([header, *blocks, ""]).encode(), "talk.vtt")


def srt_text(*captions: tuple[float, float, str]) -> str:
    return "\n".join(
        f"{number}\n{stamp(start, ',')} --> {stamp(end, ',')}\n{text}\n"
        for number, (start, end, text) in enumerate(captions, 1)
    )


def srt(*captions: tuple[float, float, str]) -> Document:
    return read_document(srt_text(*captions).encode(), "talk.srt")


def said(document: Document) -> list[tuple[str, str]]:
    return [(cue.speaker, document.text[cue.offset : cue.offset + cue.length]) for cue in document.cues]


def refused(data: bytes, name: str) -> str:
    with pytest.raises(DocumentError) as caught:
        read_document(data, name)
    assert caught.value.hint
    return caught.value.message


# -- joining


def test_cues_are_joined_to_sentences() -> None:
    found = vtt((0, 2, "Good evening and\nwelcome"), (2, 4, "to the hall."), (4, 6, "Sit down."))
    assert found.kind == "webvtt"
    assert found.text == "Good evening and welcome to the hall. Sit down."
    assert found.cues == (Cue(0.0, 2.0, "", 0, 24), Cue(2.0, 4.0, "", 25, 12), Cue(4.0, 6.0, "", 38, 9))


def test_a_long_pause_begins_a_paragraph() -> None:
    assert srt((0, 2, "One."), (3.9, 5, "Two."), (7, 8, "Three.")).text == "One. Two.\n\nThree."


def test_a_long_paragraph_ends_with_a_sentence() -> None:
    found = srt(*((index, index + 1, f"This is sentence number {index} of a very long talk.") for index in range(60)))
    paragraphs = found.text.split("\n\n")
    assert 2 < len(paragraphs) < 8
    assert all(paragraph.endswith("talk.") for paragraph in paragraphs)


def test_scripts_without_spaces_are_joined_without() -> None:
    assert (
        srt((0, 1, "今日は"), (1, 2, "いい天気です。"), (2, 3, "散歩しましょう。")).text
        == "今日はいい天気です。散歩しましょう。"
    )
    assert srt((0, 1, "오늘은"), (1, 2, "날씨가")).text == "오늘은 날씨가"


def test_captions_out_of_order_are_put_in_order() -> None:
    assert srt((4, 5, "Last."), (0, 1, "First."), (2, 3, "Then.")).text == "First. Then. Last."


# -- speakers


def test_voices() -> None:
    found = vtt((0, 1, "<v Ana Ruiz>Hello, <b>Ben</b>.</v>"), (1, 2, "<v.loud Ben>Hi."), (2, 3, "<v Ben>You came."))
    assert found.text == "**Ana Ruiz:** Hello, Ben.\n\n**Ben:** Hi. You came."
    assert said(found) == [("Ana Ruiz", "Hello, Ben."), ("Ben", "Hi."), ("Ben", "You came.")]


def test_two_voices_in_one_caption() -> None:
    assert said(vtt((0, 2, "<v Ana>Ready?</v>\n<v Ben>Ready.</v>"))) == [("Ana", "Ready?"), ("Ben", "Ready.")]


def test_names_in_capitals_hold_until_the_next() -> None:
    found = srt((0, 1, "ANA RUIZ: We begin."), (1, 2, "It is late."), (2, 3, ">> BEN: Then hurry."))
    assert said(found) == [("ANA RUIZ", "We begin."), ("ANA RUIZ", "It is late."), ("BEN", "Then hurry.")]
    assert found.text == "**ANA RUIZ:** We begin. It is late.\n\n**BEN:** Then hurry."


def test_names_in_mixed_case_when_they_come_again() -> None:
    found = srt((0, 1, "Ana: We begin."), (1, 2, "Ben: Why?"), (2, 3, "Ana: Because."), (3, 4, "Remember: it is late."))
    assert said(found) == [("Ana", "We begin."), ("Ben", "Why?"), ("Ana", "Because."), ("Ana", "Remember: it is late.")]


def test_a_word_before_a_colon_is_no_name() -> None:
    texts = ["So here is the thing.", "Warning: do not try this.", "We went on.", "And then it rained.", "It was late."]
    found = srt(*((index, index + 1, text) for index, text in enumerate(texts)))
    assert {cue.speaker for cue in found.cues} == {""}
    assert found.text == " ".join(texts)


def test_a_change_of_speaker_without_a_name() -> None:
    found = srt((0, 1, ">> Are we on?"), (1, 2, ">> We are."), (2, 3, "Good. >> Fine."), (3, 4, "- Yes.\n- No."))
    assert found.text == "Are we on?\n\nWe are. Good.\n\nFine.\n\nYes.\n\nNo."
    assert "5 changes of speaker without a name" in found.notes


def test_names_in_scripts_without_capitals() -> None:
    found = srt((0, 1, "主持人：你好。"), (1, 2, "嘉宾：谢谢。"), (2, 3, "很高兴。"))
    assert said(found) == [("主持人", "你好。"), ("嘉宾", "谢谢。"), ("嘉宾", "很高兴。")]


def test_labels_in_brackets() -> None:
    found = srt((0, 1, "[SPEAKER_00]: Hello."), (1, 2, "[SPEAKER_01]: Hi."), (2, 3, "[door slams]"))
    assert said(found) == [("SPEAKER_00", "Hello."), ("SPEAKER_01", "Hi.")]


# -- what is not speech


TOKENS = "<|startoftranscript|><|en|><|transcribe|><|0.00|>"


def test_whisper_tokens_are_stripped() -> None:
    found = srt((0, 2, f"{TOKENS} Good evening<|2.00|>"), (2, 3, "[BLANK_AUDIO]"), (3, 4, " and welcome.<|endoftext|>"))
    assert found.text == "Good evening and welcome."
    assert found.language == "en"
    assert "1 caption with only music or sounds left out" in found.notes


@pytest.mark.parametrize(
    "sound",
    [
        "[Music]",
        "♪",
        "♪♪ ♫",
        "[Applause]",
        "(upbeat music)",
        "[MUSIC PLAYING]",
        "[Musik]",
        "[音楽]",
        "(laughter)",
        "*coughs*",
        "[ Silence ]",
        "…",
    ],
)
def test_music_and_sounds_alone_are_dropped(sound: str) -> None:
    found = vtt((0, 1, "Before."), (1, 2, sound), (2, 3, "After."))
    assert found.text == "Before. After."
    assert len(found.cues) == 2


def test_sounds_in_a_line_are_dropped_and_words_in_brackets_kept() -> None:
    assert (
        vtt((0, 1, "[Music] So (as I said) we [the team] went ♪"), (1, 2, "on.")).text
        == "So (as I said) we [the team] went on."
    )


def test_entities_and_tags_are_decoded() -> None:
    found = vtt(
        (0, 1, "it&#39;s &amp;amp; <i>R&amp;D</i> &lt;now&gt;&nbsp;here"),
        (1, 2, "{\\an8}<c.red>up</c><00:00:01.500> there"),
    )
    assert found.text == "it's & R&D <now> here up there"


def test_a_transcript_without_speech_is_said() -> None:
    assert "nothing is said" in refused(srt_text((0, 1, "[Music]"), (1, 2, "♪")).encode(), "x.srt")


# -- rolling captions


def rolling(lines: list[str]) -> list[tuple[float, float, str]]:
    """As automatic captions come: a line is spoken, then shown for an instant, then shown above the next."""
    captions: list[tuple[float, float, str]] = []
    time = 0.0
    before = " "
    for line in lines:
        words = line.split(" ")
        spoken = words[0] + "".join(f"<{stamp(time + 0.3, '.')}><c> {word}</c>" for word in words[1:])
        captions.append((time, time + 2, f"{before}\n{spoken}"))
        captions.append((time + 2, time + 2.01, f"{line}\n "))
        before = line
        time += 2.01
    return captions


def test_rolling_captions_say_each_line_once() -> None:
    lines = ["hello everyone and welcome", "to the show about bridges", "today we have a guest", "who has built some"]
    found = vtt(*rolling(lines))
    assert found.text == " ".join(lines)
    assert [text for _, text in said(found)] == lines
    assert [cue.start for cue in found.cues] == [0.0, 2.01, 4.02, 6.03]


def test_captions_that_grow_say_each_word_once() -> None:
    found = vtt((0, 1, "we"), (1, 2, "we have"), (2, 3, "we have a"), (3, 4, "we have a guest"))
    assert found.text == "we have a guest"


def test_three_rolling_lines() -> None:
    found = vtt(
        (0, 1, "one a\ntwo b\nthree c"),
        (1, 2, "two b\nthree c\nfour d"),
        (2, 3, "three c\nfour d\nfive e"),
        (3, 4, "four d\nfive e\nsix f"),
    )
    assert found.text == "one a two b three c four d five e six f"


def test_what_is_really_said_twice_stays() -> None:
    texts = [
        "I have a dream",
        "I have a dream\nthat one day",
        "we will be free.",
        "Free at last.",
        "Free at last.",
        "Thank God.",
    ]
    found = srt(*((index, index + 1, text) for index, text in enumerate(texts)))
    assert (
        found.text
        == "I have a dream I have a dream that one day we will be free. Free at last. Free at last. Thank God."
    )


def test_an_instant_that_repeats_is_dropped_and_one_with_words_of_its_own_is_kept() -> None:
    found = srt((0, 2, "It was late."), (2, 2.01, "It was late."), (2.01, 4, "Very late."), (4, 4.01, "Indeed."))
    assert found.text == "It was late. Very late. Indeed."


# -- formats


def test_webvtt_headers_notes_styles_and_names() -> None:
    data = (
        "\ufeffWEBVTT - The hall\r\nLanguage: en-GB\r\nRecorder: M. Pohl\r\n\r\nNOTE\r\nnot spoken\r\n\r\n"
        "STYLE\r\n::cue {color: red}\r\n\r\n"
        "intro\r\n00:01.000 --> 00:02.000 align:start position:0%\r\nHello.\r\n\r\nNOTE also not\r\n\r\n"
        "2\r\n00:02.000 --> 00:03.000\r\nBye.\r\n"
    )
    found = read_document(data.encode(), "x.vtt")
    assert found.text == "Hello. Bye."
    assert (found.title, found.language, dict(found.extra)) == ("The hall", "en-GB", {"recorder": "M. Pohl"})


def test_srt_with_blank_lines_and_without_a_last_line_end() -> None:
    data = "1\n00:00:01,000 --> 00:00:02,000\n\nHello\n\nthere.\n\n2\n00:00:02,000 --> 00:00:03,000\nBye in 1999"
    assert read_document(data.encode(), "x.srt").text == "Hello there. Bye in 1999"


def test_the_kind_is_found_without_a_name() -> None:
    assert read_document(srt_text((0, 1, "Hello."), (1, 2, "Bye.")).encode(), "-").kind == "srt"
    assert read_document(b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n", "-").kind == "webvtt"


def test_a_title_from_the_name_of_the_file() -> None:
    assert read_document(srt_text((0, 1, "Hello.")).encode(), "talks/9eXV_my-talk.en.srt").title == "9eXV my talk"


def test_a_header_alone_is_refused() -> None:
    assert "without captions" in refused(b"WEBVTT\n\n", "x.vtt")
