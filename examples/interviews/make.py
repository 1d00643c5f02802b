"""Writes so many made-up interviews into a folder: python make.py interviews 60."""

import random
import sys
from pathlib import Path

PEOPLE = ("Anna", "Ben", "Carla", "Daniel", "Elif", "Farid", "Greta", "Hana", "Ivo", "Jonas", "Karin", "Leo", "Mina")
PLACES = ("the harbour", "the market hall", "the north school", "the old mill", "the river bank", "the station")
TROUBLES = (
    "The buses come so seldom that I plan my whole evening around the timetable.",
    "Since the rents went up twice, half of my neighbours have moved to the villages.",
    "What helps is the library, because the library is warm and nobody asks why you sit there.",
    "The noise of the night trucks keeps the children awake, and then the whole house is tired.",
    "I would rather have trees than another parking deck, trees make the summer bearable.",
    "The timetable of the buses was made by somebody who owns a car.",
    "My rents are more than half of what I earn, so there is nothing left to put aside.",
)


def interview(number: int) -> str:
    chance = random.Random(number)
    who = f"{PEOPLE[number % len(PEOPLE)]} {number + 1}"
    said = chance.sample(TROUBLES, 3)
    opening = (
        f"I have lived near {chance.choice(PLACES)} for {chance.randrange(2, 40)} years and never wanted to leave."
    )
    return f"---\ntitle: {who}\n---\n{opening}\n\n{' '.join(said)}\n"


if __name__ == "__main__":
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"interview-{number + 1:03}.md").write_text(interview(number))
