"""English wording of outlines."""

from __future__ import annotations

from typing import Final

OUTLINE: Final[dict[str, tuple[str, ...]]] = {
    "outline.open.story": (
        "Open in the scene: {a}",
        "First the moment, no explanation yet: {a}",
        "Begin where it begins: {a}",
    ),
    "outline.open.statistic": (
        "Open with the figure: {a}",
        "First sentence, the number: {a}",
        "Let the number come before any explanation: {a}",
    ),
    "outline.open.curiosity": (
        "Open with the puzzle: {a}",
        "Make the reader ask first: {a}",
        "Begin with what wants to be explained: {a}",
    ),
    "outline.open.controversy": (
        "Open with the disagreement: {a}",
        "Open where two things do not fit: {a}",
        "Begin with both sides at once: {a}",
    ),
    "outline.open.emotional": (
        "Open with the sentence that stays: {a}",
        "Begin with a voice: {a}",
        "Let this be heard before anything is explained: {a}",
    ),
    "outline.line": (
        "The line to hold from here on: {a}.",
        "What the piece is about: {a}.",
        "Keep this in view: {a}.",
        "Announce where it leads: {a}.",
    ),
    "outline.terms": ("Say what the words mean before they are needed: {a}", "Settle the terms: {a}"),
    "outline.point": (
        "The point to make: {a}",
        "Build this part on: {a}",
        "What has to be clear at the end of this part: {a}",
        "Start this part from: {a}",
        "At the centre of this part: {a}",
        "Show here: {a}",
    ),
    "outline.support": (
        "Back it with: {a}",
        "To support it: {a}",
        "Follow it with: {a}",
        "Material for it: {a}",
        "Then: {a}",
    ),
    "outline.number": (
        "The figure to work with: {a}",
        "Show the number and what it measures: {a}",
        "Put the figures on the table: {a}",
    ),
    "outline.turn": (
        "Turn here: {a}",
        "Now the other side: {a}",
        "Let the argument meet resistance: {a}",
        "What speaks against it: {a}",
    ),
    "outline.voice": ("Give the floor to {n}: {a}", "Let {n} say it: {a}", "A voice at this point, {n}: {a}"),
    "outline.practice": (
        "What can be done with it: {a}",
        "Make it usable: {a}",
        "From saying to doing: {a}",
    ),
    "outline.close.question": (
        "Leave the reader with the question: {a}",
        "End on what is still open: {a}",
        "Hand the question on: {a}",
    ),
    "outline.close.statement": (
        "End on: {a}",
        "The last word: {a}",
        "The final note: {a}",
    ),
    "outline.topic": ("Tie it to {t} here, for readers who come for that.", "This is the place for a word on {t}."),
    "tone.beginner": (
        "Explain {t} in plain words before using it.",
        "Assume nobody has met {t} yet; one everyday example first.",
        "Short sentences here. For {t}, give a picture rather than a definition.",
    ),
    "tone.intermediate": (
        "Explain a term once, where it first matters.",
        "One example first, then the general point.",
        "Write for an interested reader, not for a specialist.",
        "Keep the background to two sentences.",
        "Give the context here that the rest will need.",
    ),
    "tone.expert": (
        "Take {t} as known and go straight to the evidence.",
        "Readers know {t}; spend the words on what is disputed.",
        "No introduction to {t}. State, show, go on.",
    ),
    "tone.mixed": (
        "Half a sentence on {t}, then on.",
        "Put the explanation of {t} where experts can skip it.",
        "Define {t} in passing; the argument is for everyone.",
    ),
    "voice.first-person.open": (
        "Say in one sentence why this is your subject.",
        "Tell the reader what you expected before you knew.",
        "Say what made you stop at this.",
        "One line on what it has to do with you, no more.",
        "Say where you stand before you begin.",
        "Name your own interest in the matter.",
    ),
    "voice.first-person.body": (
        "Set one thing you have seen yourself beside it.",
        "Say what you thought before, and what changed it.",
        "Admit what you do not know here.",
        "Say who told you the opposite, and why you believed them or not.",
        "Leave room for a doubt of your own.",
        "Describe it as you would to a friend across a table.",
        "Say how you checked this.",
    ),
    "voice.first-person.close": (
        "Say where you stand now.",
        "End with what you will do differently.",
        "Come back to the first paragraph and look at it again.",
        "Say what you still want to find out.",
        "Say what would make you change your mind.",
    ),
    "tone.intermediate.told": (
        "Say no more about {t} than the text does.",
        "Come back to {t} once more, late.",
        "Let {t} stay a thing; do not explain it.",
    ),
    "voice.first-person.open.told": (
        "Say which line stopped you, and when.",
        "One sentence on your first reading of it, no more.",
        "Say what you took it for at first.",
    ),
    "voice.first-person.body.told": (
        "Leave room for another reading.",
        "Say what you did not understand the first time.",
        "Quote before you explain.",
    ),
    "voice.first-person.close.told": (
        "Say what you see in it now.",
        "End on a thing, not on a meaning.",
        "Come back to the first line and read it again.",
    ),
    "voice.first-person.body.rules": (
        "Say where you have met this rule yourself.",
        "Admit which part you had to read twice.",
        "Say what you took it to mean at first.",
        "Give the case that comes to your mind.",
    ),
    "voice.first-person.body.steps": (
        "Say how it went when you did it the first time.",
        "Admit which part you always look up.",
        "Say what you do differently, and why.",
    ),
    "voice.third-person.open": (
        "Stay outside: who, where, when.",
        "Names and places before opinions.",
        "Let the facts stand in the order they happened.",
        "Say who is concerned, and how many they are.",
    ),
    "voice.third-person.body": (
        "Name who says it.",
        "Report both versions before weighing them.",
        "Keep to what can be attributed.",
        "Give the source in the same sentence.",
    ),
    "voice.third-person.close": (
        "Leave the verdict to the reader.",
        "Close on a fact, not on an opinion.",
        "Give the last word to somebody who is concerned.",
        "Say what happens next, and when.",
    ),
    "voice.instructional.open": (
        "Tell the reader what they will be able to do at the end.",
        "Name the task at once.",
        "Say what is needed before one can begin.",
        "Promise one thing, and make it small.",
    ),
    "voice.instructional.body": (
        "Give the reader one thing to try.",
        "Turn it into a step that can be checked.",
        "Say how to tell that it worked.",
        "Name the mistake to avoid here.",
    ),
    "voice.instructional.close": (
        "Finish with the first step to take today.",
        "End with a list to tick off.",
        "Say what to try next.",
        "Say where to get help.",
    ),
    "task.open": ("Start from: {a}", "Begin with: {a}"),
    "task.terms": ("Learn the terms: {a}",),
    "task.point": ("Work through: {a}", "Understand: {a}", "Look closely at: {a}", "Get to know: {a}"),
    "task.number": ("Check the figure: {a}", "Do the sum: {a}"),
    "task.turn": ("Weigh: {a}", "Mind the other side: {a}"),
    "task.voice": ("Listen to: {a}",),
    "task.practice": ("Do: {a}", "Put into practice: {a}"),
    "task.close": ("Decide: {a}", "Before you stop: {a}"),
}
