"""Units of measure: how they are written, and how many of the first of their kind one is.

Two quantities of one kind are compared as numbers: 90 minutes are 1.5 hours. Months and days are two kinds, since no
month has a fixed number of days; so are the two meanings of a kilobyte.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from weft.protocol.values import dataclass

_FORMS: Final = """
second: second seconds sec secs s; minute: minute minutes min mins; hour: hour hours hr hrs h; day: day days
week: week weeks; month: month months; year: year years yr yrs; decade: decade decades
century: century centuries; percent: percent % per-cent; dollar: dollar dollars usd $; euro: euro euros eur €
pound: pounds gbp £; yen: yen ¥; metre: metre metres meter meters m
kilometre: kilometre kilometres kilometer kilometers km; mile: mile miles mi
centimetre: centimetre centimetres centimeter centimeters cm
millimetre: millimetre millimetres millimeter millimeters mm; foot: foot feet ft; inch: inch inches; yard: yard yards yd
gram: gram grams g; kilogram: kilogram kilograms kg; tonne: tonne tonnes ton tons
milligram: milligram milligrams mg; microgram: microgram micrograms µg μg; litre: litre litres liter liters l
millilitre: millilitre millilitres milliliter milliliters ml; bit: bit bits; byte: byte bytes
kilobyte: kb kilobyte kilobytes; megabyte: mb megabyte megabytes; gigabyte: gb gigabyte gigabytes
terabyte: tb terabyte terabytes; kibibyte: kib kibibyte kibibytes; mebibyte: mib mebibyte mebibytes
gibibyte: gib gibibyte gibibytes; millisecond: millisecond milliseconds ms; microsecond: microsecond microseconds µs μs
hectare: hectare hectares; acre: acre acres; degree: degree degrees °
watt: watt watts; kilowatt: kilowatt kilowatts kw; megawatt: mw megawatt megawatts
"""
UNITS: Final[dict[str, str]] = {
    form: unit
    for unit, _, forms in (entry.strip().partition(": ") for entry in _FORMS.replace("\n", ";").split(";"))
    for form in forms.split()
}
"""Every way to write a unit, with its name."""
_KINDS: Final = """
time: microsecond 1/1000, millisecond 1, second 1000, minute 60000, hour 3600000, day 86400000, week 604800000
calendar: month 1, year 12, decade 120, century 1200
length: millimetre 1, centimetre 10, inch 127/5, foot 1524/5, yard 4572/5, metre 1000, kilometre 1000000, mile 1609344
mass: microgram 1, milligram 1000, gram 1000000, kilogram 1000000000, tonne 1000000000000
volume: millilitre 1, litre 1000
area: acre 316160658/78125, hectare 10000
data: bit 1/8, byte 1, kibibyte 1024, mebibyte 1048576, gibibyte 1073741824
data by thousands: kilobyte 1, megabyte 1000, gigabyte 1000000, terabyte 1000000000
power: watt 1, kilowatt 1000, megawatt 1000000
"""
_SIZES: Final[dict[str, tuple[str, Fraction]]] = {
    entry.split()[0]: (kind, Fraction(entry.split()[1]))
    for kind, _, entries in (line.partition(": ") for line in _KINDS.strip().splitlines())
    for entry in entries.split(", ")
}


@dataclass(frozen=True, slots=True)
class Measure:
    kind: str
    amount: Fraction
    """In the unit of its kind that counts as one."""

    def near(self, other: Measure) -> bool:
        """Whether one may be the other, rounded as people round when they convert; kilobytes may be 1,024 of a byte."""
        loose = Fraction(1, 10) if self.kind == "data by thousands" else Fraction(1, 20)
        return abs(self.amount - other.amount) <= max(abs(self.amount), abs(other.amount)) * loose


def are_of_one_kind(one: str, other: str) -> bool:
    """Whether two different units measure the same thing."""
    return one != other and one in _SIZES and other in _SIZES and _SIZES[one][0] == _SIZES[other][0]


def measure(value: Fraction, unit: str) -> Measure | None:
    """None for a unit that nothing else is measured in."""
    if unit not in _SIZES:
        return None
    kind, size = _SIZES[unit]
    return Measure(kind, value * size)
