"""What a program built on Weft can test itself with: strict stand-ins for the parts that touch the world.

Shipped and kept like the rest, but nothing in the product imports it. A stand-in refuses what the real thing would
never see instead of guessing, so that a test which passes with it says something.

- `CountingDisk`, `KillingDisk`, `FailingDisk`: a process that dies, or a disk that fails, at any chosen call.
- `RecordingDisk`, `power_cuts`, `materialise`: every state in which a power cut may leave a folder.
- `weft.testing.scripted`: a model that follows a script. `weft.testing.wire`: servers on loopback that speak the
  providers' formats, with faults. `weft.testing.conformance`: what every model must do.
"""

from __future__ import annotations

from weft.testing.disk import KINDS, Call, CountingDisk, FailingDisk, KillingDisk, Kind, Moment
from weft.testing.power import VARIANTS, DiskState, Variant, kernel_view, materialise, power_cuts
from weft.testing.recording import Recording, RecordingDisk

__all__ = [
    "KINDS",
    "VARIANTS",
    "Call",
    "CountingDisk",
    "DiskState",
    "FailingDisk",
    "KillingDisk",
    "Kind",
    "Moment",
    "Recording",
    "RecordingDisk",
    "Variant",
    "kernel_view",
    "materialise",
    "power_cuts",
]
