"""Quoted is a statement of the passage, contradicted has a single thing turned round; all else is not checked."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.checks.claims import STATES, compare, conflicts
from weft.checks.word_forms import are_forms
from weft.language.sentences import sentences

RULE = (
    "The holder of a licence must inform the Agency within 30 days of any change of address. "
    "Fees paid before 1 March 2020 are not refunded. A transfer may be refused by the Ministry of Transport. "
    "In 2019, the register had 1,200 entries (see the annex), and the archive was closed. "
    "Red, green and blue lamps are checked at least twice a year."
)


@pytest.mark.parametrize(
    "claim",
    [
        "The holder of a licence must inform the Agency within 30 days of any change of address.",
        "“The holder of a licence must inform the Agency within 30 days of any change of address.”",
        "Holder of licence must inform the Agency, within thirty days, of any change of address",
        "The holders of a licence must inform the Agency within 30 days of any change of address.",
        "Within 30 days of any change of address, the holder of a licence must inform the Agency.",
        "However, fees paid before March 1, 2020 aren't refunded.",
        "A transfer may be refused by the Ministry of Transport. Fees paid before 1 March 2020 are not refunded.",
        "The register had 1200 entries in 2019.",
        "In 2019, the register had 1,200 entries.",
        "Blue, red and green lamps are checked at least twice a year.",
    ],
)
def test_the_same_statement_is_quoted(claim: str) -> None:
    verdict = compare(claim, RULE)
    assert verdict.state == "quoted", verdict.reason
    assert verdict.sentence


def test_a_phrase_in_front_needs_no_comma_where_it_belongs_to_the_whole() -> None:
    assert compare("Between 8 and 10 the office is closed.", "The office is closed between 8 and 10.").state == "quoted"
    assert compare("With oil lamps the keepers work.", "The keepers work with oil lamps.").state == "quoted"
    assert compare("With oil lamps keepers work.", "Keepers work with oil lamps.").state == "not_checked"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The delay is 300 s by default, but it can be changed.",
            "By default the delay is 300 s, but this can be changed.",
        ),
        ("Depending on the tide, the delay can be an hour.", "The delay can be an hour, depending on the tide."),
        ("Money-wise, the light was in a poor state.", "The light was in a poor state, money-wise."),
        ("The limit can be changed by using the wheel.", "The limit can be changed using the wheel."),
        ("The two lamps are old, and both of them can be lit.", "The two lamps are old and both can be lit."),
        ("It is a lamp that is free of oil.", "This is a lamp free of oil."),
        (
            "The plan is from Skagen, in which lamps are called lights.",
            "The plan is from Skagen, where lamps are called lights.",
        ),
        ("He refused on the ground that oil is dear.", "He refused on the grounds that oil is dear."),
        ("Paths are relative to the folder of the log file.", "Paths are relative to the log file's folder."),
        (
            "This ensures that the lamp is lit by all young keepers.",
            "This ensures that all young keepers light the lamp.",
        ),
        ("The lamp is normally lit by hand.", "Normally, the lamp is lit by hand."),
        ("Each lamp is reported by e-mail.", "Every lamp is reported by email."),
        ("You need a lamp if you want to read at night.", "If you want to read at night you need a lamp."),
        ("Any keeper may come forward for the first week.", "For the first week any keeper may come forward."),
        ("In such storms, the keeper also has a bell.", "The keeper also has a bell in such storms."),
    ],
)
def test_what_was_moved_or_put_in_other_small_words_is_quoted(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "quoted", verdict.reason
    verdict = compare(passage, claim)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "For the first lamp the keeper of the second is paid.",
            "The keeper of the first lamp is paid for the second.",
        ),
        ("Only two lamps may burn at night.", "Only one lamp may burn at night."),
        ("It is not a lamp that is free of oil.", "This is a lamp free of oil."),
        (
            "This ensures that all young keepers are lit by the lamp.",
            "This ensures that all young keepers light the lamp.",
        ),
        ("Depending on the delay, the tide can be an hour.", "The delay can be an hour, depending on the tide."),
        ("Paths are relative to the log of the folder file.", "Paths are relative to the log file's folder."),
        ("You need a lamp.", "If you want to read at night you need a lamp."),
        ("Only the keeper lights the lamp at night.", "The keeper lights the lamp only at night."),
        ("If you need a lamp you want to read at night.", "If you want to read at night you need a lamp."),
        ("The oil is old.", "If the lamp is dark, which means that the oil is old, light it."),
    ],
)
def test_what_was_moved_to_say_something_else_is_not_quoted(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


def test_what_something_means_is_said_and_a_clause_may_have_no_subject() -> None:
    passage = "The lamps are chosen with care, which means that only new lamps are lit."
    assert compare("Only new lamps are lit.", passage).state == "quoted"
    passage = "The lamp burns for five weeks before being removed."
    assert compare("The lamp burns for five weeks before it is removed.", passage).state == "quoted"


def test_the_sentences_of_a_quotation_are_read_one_by_one_unless_somebody_is_named_in_it() -> None:
    claim = "About sixty keepers were tending lamps in 1850."
    told = "The lamp went out in May. There were about sixty keepers tending lamps in 1850. Then came gas."
    assert compare(claim, f"A keeper writes: \n\n“{told}”").state == "quoted"
    assert compare(claim, f"“{told}").state == "quoted"  # it goes on in the next paragraph
    assert compare(claim, f"“{told},” claimed one of them.").state == "not_checked"


def test_a_sentence_of_many_names_is_no_title() -> None:
    passage = "Anna Berg succeeded Carl Dorn as Chief Keeper of Skagen Light in January 1999."
    verdict = compare(passage.replace("Anna Berg", "Emil Frank"), passage)
    assert verdict.state == "contradicted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("The holder of a licence must inform the Agency within 45 days of any change of address.", "number"),
        ("The holder of a licence must inform the Agency within 30 months of any change of address.", "unit"),
        ("The holder of a licence must not inform the Agency within 30 days of any change of address.", "negation"),
        ("The holder of a licence may inform the Agency within 30 days of any change of address.", "modal"),
        ("The holder of a licence must inform the Ministry within 30 days of any change of address.", "name"),
        ("Fees paid before 1 March 2020 are refunded.", "negation"),
        ("Fees paid before 1 March 2021 are not refunded.", "date"),
        ("Fees paid after 1 March 2020 are not refunded.", "opposite"),
        ("In 2019, the register had more than 1,300 entries.", "number"),
        ("Red, green and blue lamps are checked at most twice a year.", "opposite"),
    ],
)
def test_one_thing_turned_round_contradicts_with_both_sides(claim: str, kind: str) -> None:
    verdict = compare(claim, RULE)
    assert verdict.state == "contradicted", verdict.reason
    assert kind in {item.kind for item in verdict.evidence}
    assert all(item.reason and item.sentence for item in verdict.evidence)


@pytest.mark.parametrize(
    "claim",
    [
        "Applicants are examined in writing by a panel of experts.",
        "The Agency must be told when somebody with a licence moves.",
        "The holder must inform the Agency.",
        "Fees paid before March 2020 are not refunded.",
        "The register had entries.",
        "Red and green lamps are checked at least twice a year.",
        "In 2019, the register had more than 1,100 entries.",
        "It is so.",
        "",
    ],
)
def test_what_code_cannot_know_is_not_checked(claim: str) -> None:
    verdict = compare(claim, RULE)
    assert verdict.state == "not_checked", verdict.reason
    assert verdict.reason


def test_a_sentence_between_underscores_is_read_without_them() -> None:
    passage = "_The Angles of Reflexion lie in one plane with the Angle of Incidence._"
    assert compare("The angles of reflexion lie in one plane with the angle of incidence.", passage).state == "quoted"


def test_the_forms_of_a_word_agree_and_other_words_of_its_stem_do_not() -> None:
    assert compare("The tide rises twice a day.", "Tides rise twice a day.").state == "quoted"
    assert are_forms("require", "required")
    assert are_forms("stop", "stopped")
    assert are_forms("wrote", "written")
    assert not are_forms("import", "important")
    assert not are_forms("author", "authority")
    assert not are_forms("hard", "hardly")


def test_an_item_is_a_sentence_with_its_lead() -> None:
    passage = "(a) the nature of the risk;\n(b) the answer to it."
    assert (
        compare("The auditor shall document the answer to it.", passage, "The auditor shall document:").state
        == "quoted"
    )
    assert compare("The auditor shall document the answer to it.", passage).state == "not_checked"


def test_another_language_is_quoted_by_its_words_and_never_guessed_at() -> None:
    passage = "Die Behörde darf den Antrag nicht ablehnen."
    assert compare("Die Behörde darf den Antrag nicht ablehnen.", passage).state == "quoted"
    assert compare("Die Behörde darf den Antrag ablehnen.", passage).state != "quoted"


def test_passages_conflict_where_one_thing_is_turned_round() -> None:
    (found,) = conflicts("The limit is 30 days.", "It rains. The limit is 45 days.")
    assert (found.kind, found.claim, found.sentence) == ("number", "The limit is 30 days.", "The limit is 45 days.")
    assert conflicts("You shall not copy it.", "You shall pay the fee.") == []


SUBTLE = [
    (
        "If the destination file cannot be opened, cp removes it and tries again, unless -n is given.",
        "If the destination file cannot be opened, cp removes it and tries again.",
    ),
    (
        "If the destination file cannot be opened, cp removes it and tries again, unless -n is given.",
        "Cp removes the destination file.",
    ),
    ("The -r option copies directories recursively.", "The -R option copies directories recursively."),
    (
        "Users may run crontab only if they are listed in cron.allow.",
        "Users may run crontab if they are listed in cron.allow.",
    ),
    (
        "If neither file exists, only the super user is allowed to use at.",
        "If neither file exists, the super user is allowed to use at.",
    ),
    (
        "ssh tries the identity files in the order in which they appear in the configuration.",
        "ssh tries the identity files in the order in which they appear in the directory.",
    ),
    (
        "The server closes the connection after at most 30 seconds.",
        "The server closes the connection after at least 30 seconds.",
    ),
    (
        "The server closes the connection after at most 30 seconds.",
        "The server closes the connection after 30 seconds.",
    ),
    ("Up to 10 jobs run at the same time.", "10 jobs run at the same time."),
    ("It is not true that mount follows symbolic links.", "Mount follows symbolic links."),
    ("It is a common mistake to believe that rm asks before it removes a file.", "Rm asks before it removes a file."),
    ("The manual of an older version said that tar compresses by default.", "Tar compresses by default."),
    ("If compression is enabled, tar writes a gzip file.", "Tar writes a gzip file."),
    ("tar writes a gzip file if compression is enabled.", "Tar writes a gzip file."),
    ("Would the daemon restart by itself, nobody would notice the fault.", "The daemon restarts by itself."),
    ("Does the daemon restart by itself?", "The daemon does restart by itself."),
    ("The parent sends a signal to the child.", "The child sends a signal to the parent."),
    ("dpkg is called by apt.", "dpkg called apt."),
    ("apt was replaced by aptitude.", "apt replaced aptitude."),
    ("The value of umask is read before the file is created.", "The value of umask is read after the file is created."),
    ("Only root can change the owner of a file.", "Root can change the owner of a file."),
    ("Most commands return zero on success.", "All commands return zero on success."),
    ("Some file systems do not support hard links.", "File systems do not support hard links."),
    ("The option is ignored when the output is a terminal.", "The option is ignored."),
    ("find does not follow symbolic links by default.", "find does not follow symbolic links."),
    ("Packages from contrib, non-free and main are installed.", "Packages from contrib and main are installed."),
    ("The file must contain the name, the key and the date.", "The file must contain the name and the key."),
    ("The command removes all files except those in /etc.", "The command removes all files."),
    (
        "The command prints the number of lines, words or bytes.",
        "The command prints the number of lines, words and bytes.",
    ),
    ("Version 2 is faster than version 3.", "Version 3 is faster than version 2."),
    ("The timeout is 30 seconds and the delay is 5 minutes.", "The timeout is 5 seconds and the delay is 30 minutes."),
    (
        "The first argument names the source and the second argument names the target.",
        "The second argument names the source and the first argument names the target.",
    ),
    ("A user who is a member of the group adm can read the log.", "A user can read the log."),
    ("It copies from the source to the target.", "It copies from the target to the source."),
    ('The maintainer said, "The package will be removed."', "The package will be removed."),
    ("According to the changelog, the bug was fixed in 2019.", "The bug was fixed in 2019."),
    ("The daemon rarely writes to the disk.", "The daemon writes to the disk."),
    ("The daemon almost never writes to the disk.", "The daemon never writes to the disk."),
    ("The password is no longer stored in plain text.", "The password is stored in plain text."),
    ("Without this option the file is overwritten.", "With this option the file is overwritten."),
    ("The file is deleted unless it is empty.", "The file is deleted if it is empty."),
    ("The file is not deleted unless it is empty.", "The file is deleted unless it is empty."),
    ("Not all editors can handle such lines.", "All editors can handle such lines."),
    (
        "The new server was slower than the old one in every test.",
        "The old server was slower than the new one in every test.",
    ),
    (
        "Debian stable receives security updates for three years.",
        "Debian testing receives security updates for three years.",
    ),
    (
        "The index is updated by the server, not by the client.",
        "The index is updated by the client, not by the server.",
    ),
    ("The index is updated by the server, not by the client.", "The index is updated by the client."),
    ("Anna reported Ben to the board.", "Ben reported Anna to the board."),
    ("The package depends on libc but recommends perl.", "The package depends on perl but recommends libc."),
    (
        "Files older than seven days are compressed, and files older than thirty days are deleted.",
        "Files older than thirty days are compressed, and files older than seven days are deleted.",
    ),
    ("Set it to 1 to enable and to 0 to disable the check.", "Set it to 0 to enable and to 1 to disable the check."),
    ("The limit applies to the user, not to the process.", "The limit applies to the process, not to the user."),
    ("He hoped that the release would be ready in May.", "The release would be ready in May."),
    ("The lock should be released before the file is closed.", "The lock is released before the file is closed."),
    (
        "The function returns at least as many bytes as were asked for.",
        "The function returns as many bytes as were asked for.",
    ),
    ("Weft might delete the folder.", "Weft deletes the folder."),
    ("The price rose from 3 to 5 euros.", "The price rose from 5 to 3 euros."),
    ("The price rose from 3 to 5 euros.", "The price fell from 3 to 5 euros."),
    ("Neither gzip nor xz is installed.", "Gzip and xz are installed."),
    ("The system hardly ever swaps.", "The system ever swaps."),
    ("None of the checks failed.", "The checks failed."),
    ("Few users need this option.", "Users need this option."),
    ("Nobody but root can read it.", "Root can read it."),
    ("The dose was reduced in half of the patients.", "The dose was reduced in the patients."),
    ("Less than half of the users agreed.", "Half of the users agreed."),
    (
        "Aspirin does not reduce the risk of stroke in women under 65.",
        "Aspirin does not reduce the risk of stroke in women over 65.",
    ),
    ("The study found no evidence that coffee causes cancer.", "Coffee causes cancer."),
    ("The study found no evidence that coffee causes cancer.", "The study found evidence that coffee causes cancer."),
    ("Scientists doubt that the glacier will vanish by 2030.", "The glacier will vanish by 2030."),
    ("The company that bought Skype sold Nokia.", "The company bought Skype."),
    ("A dog that barks seldom bites.", "A dog seldom bites."),
    (
        "People who smoke live shorter lives than people who do not smoke.",
        "People who do not smoke live shorter lives than people who smoke.",
    ),
    ("The treaty was signed by France, and Germany refused.", "The treaty was signed by Germany, and France refused."),
    ("The sun, not the moon, drives it.", "The moon, not the sun, drives it."),
    ("Sales grew by 5 %, while costs fell by 3 %.", "Costs grew by 5 %, while sales fell by 3 %."),
    ("As of 2019 he was the richest man in Spain.", "He was the richest man in Spain."),
    (
        "The first release was made in 1991 and the last in 2004.",
        "The last release was made in 1991 and the first in 2004.",
    ),
    ("She said he lied.", "He said she lied."),
    ("The film was not only a success but a triumph.", "The film was not a success but a triumph."),
    ("Exactly one of the two disks must be present.", "One of the two disks must be present."),
    # what stands behind a comma, in brackets or before `and` and still rules over the rest
    ("The gate opens at noon, except on Sundays.", "The gate opens at noon."),
    ("The gate opens at noon (except on Sundays).", "The gate opens at noon."),
    ("The gate opens at noon (if it opens at all).", "The gate opens at noon."),
    ("The gate opens at noon, or so the guide believes.", "The gate opens at noon."),
    ("The drug lowers the pressure, the authors claim.", "The drug lowers the pressure."),
    ("The drug lowers the pressure, according to the maker.", "The drug lowers the pressure."),
    ("The drug lowers the pressure, but only in mice.", "The drug lowers the pressure."),
    ("The drug lowers the pressure, but not in women.", "The drug lowers the pressure."),
    ("In mice, the drug lowers the pressure.", "The drug lowers the pressure."),
    ("Until 1990, the office was closed on Mondays.", "The office was closed on Mondays."),
    ("When the lamp is lit, the keeper must stay.", "The keeper must stay."),
    ("The keeper must stay when the lamp is lit.", "The keeper must stay."),
    ("Depending on the load, the server closes the connection.", "The server closes the connection."),
    ("He said that the lamp was out; the keeper was asleep.", "The keeper was asleep."),
    ("It was most unlikely, therefore, that he would want the lamp.", "He would want the lamp."),
    ("It is unlikely that the lamp is out, and the keeper is asleep.", "The lamp is out, and the keeper is asleep."),
    ("The keeper who was old and could not see was dismissed.", "The keeper could not see was dismissed."),
    ("The company that bought Skype and was sold is gone.", "The company was sold."),
    ("Red, green, and blue lamps are checked.", "Red and blue lamps are checked."),
    ("A lamp, a bell, and a horn are required.", "A lamp and a horn are required."),
    ("A lamp, a bell, a horn and a flag are required.", "A lamp, a horn and a flag are required."),
    ("The lamp, or the bell if there is one, must be checked.", "The lamp must be checked."),
    ("Neither the lamp was lit, nor was the bell rung, and nobody came.", "The lamp was lit."),
    ("The lamp was believed to be out, and the bell was rung.", "The lamp was out, and the bell was rung."),
    # who did it to whom, in another voice
    ("The lamp was lit by Anna.", "The lamp lit Anna."),
    ("Anna was succeeded by Bert.", "Anna succeeded Bert."),
    ("Anna succeeded Bert.", "Anna was succeeded by Bert."),
    ("France was defeated by Prussia in 1871.", "France defeated Prussia in 1871."),
    ("The lamp was lit by Anna Berg.", "Anna lit the lamp."),
    ("The lamp was not lit by Anna.", "Anna lit the lamp."),
    ("The lamp may be lit by Anna.", "Anna lit the lamp."),
    ("The lamp was lit by Anna, and the bell was rung by Bert.", "Bert lit the lamp."),
    ("The keeper can often light the lamp.", "The lamp can be lit by the keeper."),
    ("The keeper can often light the lamp.", "The keeper can often be lit by the lamp."),
    ("Anna took over from the guard at ten.", "The guard was taken over by Anna at ten."),
    ("We do not light the lamp in the tower.", "The lamp in the tower is not lit."),
    ("They want to light the lamp in the tower.", "The lamp in the tower is lit."),
    ("If we light the lamp in the tower, the gate opens.", "The lamp in the tower is lit."),
    ("We may light the lamp in the tower.", "The lamp in the tower is lit."),
    ("He nearly lit the lamp in the tower.", "The lamp in the tower was lit."),
    ("They say she lit the lamp in the tower.", "The lamp in the tower was lit."),
    ("We lit only the lamp in the tower.", "Only the lamp in the tower was lit by day."),
    ("We lit only the lamp at night.", "The lamp was only lit at night."),
    ("They warned few ships in the bay.", "Ships in the bay were warned."),
    # whom a pronoun means
    ("Anna met Bert in 1990. He was a keeper.", "Anna was a keeper."),
    ("The keeper greeted the pilot. She was tired.", "The pilot was tired."),
    ("The sister of Anna Berg met Bert. She was tired.", "Anna Berg was tired."),
    # small words that do not come and go
    ("The book was written for Anna.", "The book was written by Anna."),
    ("The ship sailed to Oslo.", "The ship sailed from Oslo."),
    ("Only Anna lit the lamp.", "Anna lit only the lamp."),
    ("The keeper must always not sleep.", "The keeper must not always sleep."),
    ("The father of the keeper was tall.", "The keeper's father's son was tall."),
    ("Over half of the lamps are lit.", "Under half of the lamps are lit."),
    (
        "At ten years old, she could answer what her sister could at seventeen.",
        "At seventeen years old, she could answer what her sister could at ten.",
    ),
    (
        "The term is used in the Research Triangle area of North Carolina.",
        "The term is used in the Carolina Triangle area of North Research.",
    ),
    (
        "It was inherited by Ada and Java, which have C-like syntaxes.",
        "It was inherited by C and Java, which have Ada-like syntaxes.",
    ),
    ("The packages do not (directly) do a thing.", "The packages do not do a thing."),
    ("The pilots left, the keepers said.", "The pilots said the keepers left."),
    ("The pilots left, the keepers said.", "The pilots left."),
    ("The lamp began to burn.", "The lamp seemed to burn."),
    ("Anna tried to light the lamp.", "Anna lit the lamp."),
    ("The keeper appears to be asleep.", "The keeper is asleep."),
    ("Never do this: leave the lamp lit.", "Leave the lamp lit."),
    ("The pilot doubts it, because he said that the lamp was out.", "The lamp was out."),
]
"""Written by hand: what each claim leaves out or turns round changes what is said."""


TURNED = [
    ("The keeper can often light the lamp of the tower.", "The lamp of the tower can often be lit by the keeper."),
    ("Anna Berg has since taken over the lamp.", "The lamp has since been taken over by Anna Berg."),
    ("We send letters to the keeper every week.", "Letters are sent to the keeper every week."),
    ("He lit the old lamp in the tower in 1850.", "The old lamp in the tower was lit in 1850."),
    (
        "The storm put out the lamp; the keeper rang the bell.",
        "The lamp was put out by the storm; the bell was rung by the keeper.",
    ),
]


@pytest.mark.parametrize(("passage", "claim"), TURNED)
def test_what_is_done_by_somebody_is_the_same_in_both_voices(passage: str, claim: str) -> None:
    assert compare(claim, passage).state == "quoted"


@pytest.mark.parametrize(("passage", "claim"), SUBTLE)
def test_a_subtle_change_is_never_called_quoted(passage: str, claim: str) -> None:
    assert compare(claim, passage).state != "quoted"


FILE = (
    "The Jargon File (hereafter referred to as ‘jargon-1’ or ‘the File’) was begun by Raphael Finkel at Stanford "
    "in 1975. In 1976, Mark Crispin, having seen an announcement about the File on the SAIL computer, FTPed a "
    "copy of the File to MIT. He noticed that it was hardly restricted to ‘AI words’. The File expanded by fits "
    "and starts until about 1983; Richard Stallman was prominent among the contributors, adding many MIT and "
    "ITS-related coinages. This appears to have been the File's first paper publication. The Stanford AI Lab had "
    "effectively ceased to exist by 1980, although the SAIL computer continued as a Computer Science Department "
    "resource until 1991. More than half of the entries now derive from {Usenet} and represent jargon now current "
    "in the C and Unix communities."
)
"""Of the Jargon File, which is in the public domain; and of Emma, by Jane Austen."""
NOVEL = (
    "Mr. Knightley, a sensible man about seven or eight-and-thirty, was a very old friend of the family. He lived "
    "about a mile from Highbury, was a frequent visitor, and always welcome. The evil of the actual disparity in "
    "their ages (and Mr. Woodhouse had not married early) was much increased by his constitution and habits. The "
    "backgammon-table was placed; but a visitor immediately afterwards walked in and made it unnecessary. His "
    "spirits required sup-\nport. The want of Miss Taylor would be felt every hour of every day."
)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Raphael Finkel began the Jargon File at Stanford in 1975.", FILE),
        ("The Jargon File was begun by Raphael Finkel at Stanford in 1975.", FILE),
        ("Mark Crispin FTPed a copy of the File to MIT in 1976.", FILE),
        ("Having seen an announcement about the File on the SAIL computer, Mark Crispin FTPed a copy of the File "
         "to MIT in 1976.", FILE),
        ("Richard Stallman was prominent among the contributors.", FILE),
        ("The File expanded in fits and starts until around 1983.", FILE),
        ("This seems to have been the first paper publication of the File.", FILE),
        ("By 1980 the Stanford AI Lab had effectively ceased to exist.", FILE),
        ("Over half of the entries now derive from Usenet.", FILE),
        ("Mr. Knightley lived about a mile from Highbury.", NOVEL),
        ("The evil of the actual disparity in their ages was much increased by his constitution and habits.", NOVEL),
        ("His constitution and habits much increased the evil of the actual disparity in their ages.", NOVEL),
        ("A visitor walked in immediately afterwards and made it unnecessary.", NOVEL),
        ("The backgammon-table was placed. A visitor immediately afterwards walked in and made it unnecessary.", NOVEL),
        ("His spirits required support, and the want of Miss Taylor would be felt every hour of every day.", NOVEL),
        ("Mr. Woodhouse had not married early.", NOVEL),
        ("The lamps work, although they are old.", "The lamps work, although old."),
        ("More than 20 lamps burn, many of them all night.", "Over 20 lamps burn, many all night."),
    ],
)  # fmt: skip
def test_a_clause_another_voice_and_another_order_are_quoted(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage", "changed"),
    [
        ("The Jargon File was begun by Don Woods at Stanford in 1975.", FILE, "Don Woods"),
        ("In 1978, Mark Crispin FTPed a copy of the File to MIT.", FILE, "1978"),
        ("The File expanded by fits and starts until about 1987.", FILE, "1987"),
        ("Less than half of the entries now derive from Usenet.", FILE, "Less"),
        ("The Stanford AI Lab had not ceased to exist by 1980.", FILE, "not"),
        ("He lived about three miles from Highbury.", NOVEL, "three"),
        ("Mr. Woodhouse had married early.", NOVEL, "not"),
        ("The want of Miss Taylor might be felt every hour of every day.", NOVEL, "might"),
    ],
)
def test_what_is_changed_is_named_where_the_rest_is_left_out(claim: str, passage: str, changed: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "contradicted", verdict.reason
    assert changed in verdict.reason
    assert "leaves out" not in verdict.reason


KEEPERS = (
    "Today the keepers, although still few, tend dozens of lamps in many towns. "
    "Deep in the tower a lamp burns; it cannot warm the room. The tower is not empty: only the upper rooms are closed. "
    "The harbour's pilot, with two boats, is the largest employer in Skagen. "
    "Nobody was hurt, because the lamp was lit on 4 May. "
    "The yard was closed by the storm and the flood. The lifetime of a lamp depends on its glass. "
    "The council should move the lamp to the pier as one way to deal with the fog of the northern coast, a pilot said."
)


@pytest.mark.parametrize(
    "claim",
    [
        "In many towns the keepers today tend dozens of lamps, although they are still few.",
        "A lamp burns deep in the tower.",
        "The lamp was lit on 4 May.",
        "Only the upper rooms are closed.",
        "The harbour's pilot is the largest employer in Skagen, with two boats.",
        "The yard was closed by the storm and by the flood.",
        "The lifetime of lamps depends on their glass.",
    ],
)
def test_a_phrase_carries_its_part_wherever_it_stands(claim: str) -> None:
    verdict = compare(claim, KEEPERS)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("The council must move the lamp to the pier.", "must"),
        ("The lamp was lit on 7 May.", "7 May"),
        ("The tower is empty.", "not"),
        ("A lamp does not burn deep in the tower.", "not"),
    ],
)
def test_what_is_turned_round_may_leave_out_what_rules_over_nothing(claim: str, changed: str) -> None:
    verdict = compare(claim, KEEPERS)
    assert verdict.state == "contradicted", verdict.reason
    assert changed in verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The lamp is lit.", "The lamp is not lit in May."),  # it may be in June
        ("Dozens of keepers tend the lamps in many towns.", "The keepers tend dozens of lamps in many towns."),
        ("Anna Berg played for Oslo.", "Before that she played for Oslo, Bergen City and Skagen Town."),
    ],
)
def test_a_part_that_decides_is_not_passed_over(claim: str, passage: str) -> None:
    assert compare(claim, passage).state == "not_checked"


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_has_a_verdict_and_a_reason(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state in STATES
    assert verdict.reason


@settings(deadline=None)
@given(st.sampled_from([*sentences(RULE), *(passage for passage, _ in SUBTLE)]), st.integers(0, 3))
def test_a_sentence_of_the_passage_is_quoted(sentence: str, before: int) -> None:
    assert compare(sentence, " ".join(["Something else stands here."] * before + [sentence])).state == "quoted"


@pytest.mark.parametrize(
    ("claim", "passage", "state"),
    [
        ("The lease lasts 90 minutes.", "The lease lasts 1.5 hours.", "quoted"),
        ("The road is 2 km long.", "The road is 2,000 metres long.", "quoted"),
        ("The lease lasts two hours.", "The lease lasts 90 minutes.", "contradicted"),
        ("The field has 5 acres.", "The field has 5 hectares.", "contradicted"),
        ("The road is 8 km long.", "The road is 5 miles long.", "not_checked"),
        ("The road is 20 km long.", "The road is 5 miles long.", "contradicted"),
        ("It runs for more than an hour.", "It runs for 90 minutes.", "not_checked"),
        (
            "The ferry to the island runs for more than 2 hours.",
            "The ferry to the island runs for 90 minutes.",
            "contradicted",
        ),
        ("It runs for 1 month.", "It runs for 30 days.", "not_checked"),
        ("The largest file there has 2 MiB.", "The largest file there has 2,048 KiB.", "quoted"),
        ("The file has 2 MB.", "The file has 2,048 kB.", "not_checked"),
        ("It weighs 500 grams.", "It weighs half a kilogram.", "not_checked"),
        ("It costs 90 dollars.", "It costs 90 euros.", "contradicted"),
    ],
)
def test_amounts_are_compared_and_not_how_they_are_written(claim: str, passage: str, state: str) -> None:
    assert compare(claim, passage).state == state


@pytest.mark.parametrize(
    ("claim", "state"),
    [
        ("‘-c’ ‘--continue’ Continue getting a file.", "quoted"),
        ("-c --continue: Continue getting a file.", "not_checked"),  # a quotation mark is part of the words
        ("Continue getting a file. This is useful later.", "quoted"),
        ("‘-c’ Continue getting a file.", "not_checked"),
        ("To go on: `wget. -c /pub/x Then-wait`", "quoted"),
        ("To go on: `wget. -c /pub/y Then-wait`", "not_checked"),
    ],
)
def test_a_run_of_whole_sentences_terms_and_code_is_quoted(claim: str, state: str) -> None:
    passage = (
        "‘-c’\n‘--continue’\n     Continue getting a file. This is useful later.\n\n"
        "To go on:\n\n```sh\nwget. -c /pub/x\nThen-wait\n```\n"
    )
    assert compare(claim, passage).state == state


def test_a_row_of_a_table_is_what_its_cells_say_with_a_colon() -> None:
    table = (
        "| Key | Does |\n| --- | --- |\n| Control+u | Takes the last change back. |\n| Control+r | Makes it again. |"
    )
    assert compare("Control+u: takes the last change back.", table).state == "quoted"
    assert compare("Control+r: takes the last change back.", table).state != "quoted"
    assert compare("Give it cut tr to read a line.", "Give it `cut | tr` to read a line.").state != "quoted"
