"""Small real PDFs: a page is a list of texts with their place, size and font."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FONTS = {"R": "Helvetica", "B": "Helvetica-Bold", "C": "Courier"}
PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass(frozen=True)
class At:
    """A text on a page; y grows upwards."""

    x: float
    y: float
    text: str
    size: float = 11
    font: str = "R"
    turned: bool = False


def column(
    x: float, top: float, lines: Sequence[str], size: float = 11, font: str = "R", step: float = 13.2
) -> list[At]:
    return [At(x, top - index * step, line, size, font) for index, line in enumerate(lines)]


def content(page: Sequence[At]) -> bytes:
    parts = []
    for text in page:
        escaped = text.text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        turn = "0 1 -1 0" if text.turned else "1 0 0 1"
        parts.append(f"BT /{text.font} {text.size} Tf {turn} {text.x} {text.y} Tm (".encode() + escaped + b") Tj ET\n")
    return b"".join(parts)


def pdf(
    pages: Sequence[Sequence[At] | bytes],
    info: Mapping[str, str] | None = None,
    *,
    compress: bool = False,
    catalog: str = "",
    encrypt: bytes = b"",
    resources: str = "",
    extra: Sequence[bytes] = (),
) -> bytes:
    """A PDF with these pages; bytes are a content stream. Objects in `extra` are numbered after the rest."""
    first = 3 + len(FONTS)
    kids = " ".join(f"{first + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{catalog}>>".encode(),
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        *(f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>".encode() for name in FONTS.values()),
    ]
    fonts = "".join(f"/{key} {3 + index} 0 R" for index, key in enumerate(FONTS))
    for index, page in enumerate(pages):
        data = page if isinstance(page, bytes) else content(page)
        coded = zlib.compress(data) if compress else data
        filters = "/Filter/FlateDecode" if compress else ""
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {first + 2 * index + 1} 0 R"
            f"/Resources<</Font<<{fonts}>>{resources}>>>>".encode()
        )
        objects.append(f"<</Length {len(coded)}{filters}>>stream\n".encode() + coded + b"\nendstream")
    objects += extra
    return assembled(objects, info, encrypt)


def assembled(objects: Sequence[bytes], info: Mapping[str, str] | None = None, encrypt: bytes = b"") -> bytes:
    objects = list(objects)
    trailer = b"/Root 1 0 R"
    if info:
        fields = b"".join(f"/{key}(".encode() + value.encode("cp1252") + b")" for key, value in info.items())
        objects.append(b"<<" + fields + b">>")
        trailer += f"/Info {len(objects)} 0 R".encode()
    data = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    data += f"trailer\n<</Size {len(objects) + 1}".encode() + trailer + encrypt + b">>\nstartxref\n"
    return bytes(data + f"{start}\n%%EOF\n".encode())


def with_password(data: bytes, user: str, owner: str = "owner") -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(user_password=user, owner_password=owner, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def encrypted_with_aes() -> bytes:
    """Opens with the empty password, but its streams are AES, which needs a package that may not be there."""
    owner, permissions, name = bytes(range(32)), -4, b"0123456789abcdef"
    key = hashlib.md5(PAD + owner + permissions.to_bytes(4, "little", signed=True) + name).digest()
    for _ in range(50):
        key = hashlib.md5(key).digest()
    check = hashlib.md5(PAD + name).digest()
    for turn in range(20):
        check = rc4(bytes(byte ^ turn for byte in key), check)
    encrypt = (
        b"/ID[<"
        + name.hex().encode()
        + b"><"
        + name.hex().encode()
        + b">]/Encrypt<</Filter/Standard/V 4/R 4/Length 128"
        b"/P -4/O<" + owner.hex().encode() + b">/U<" + (check + bytes(16)).hex().encode() + b">"
        b"/CF<</StdCF<</CFM/AESV2/AuthEvent/DocOpen/Length 16>>>>/StmF/StdCF/StrF/StdCF>>"
    )
    return pdf([bytes(range(64))], encrypt=encrypt)


def rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
