"""The fetcher against real servers on loopback that lie, stall, flood and point where they should not."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import pytest

from tests.tools.served import CERTIFICATE, Handler, names, redirect, reply, sends, serving
from weft.protocol.errors import ExternalError, UserError
from weft.tools.fetch import Fetched, FetchLimits, fetch
from weft.tools.http_reply import Unfolder

Value = TypeVar("Value")
SMALL = FetchLimits(size=50_000, seconds=20, redirects=3)
SHORT = FetchLimits(size=50_000, seconds=0.4)


def squeezed(data: bytes) -> bytes:
    """The same bytes at any time: the names of tests are made of them."""
    return gzip.compress(data, mtime=0)


def run(work: Awaitable[Value]) -> Value:
    async def whole() -> Value:
        return await work

    return asyncio.run(whole())


async def fetched(handler: Handler, path: str = "/", limits: FetchLimits = SMALL) -> Fetched:
    async with serving(handler) as server:
        return await fetch(server.url(path), limits=limits, allow_loopback=True)


def refused(data: bytes, limits: FetchLimits = SMALL) -> str:
    with pytest.raises(ExternalError) as caught:
        run(fetched(sends(data), limits=limits))
    return caught.value.message


# -- good replies


def test_a_page_comes_whole_with_its_kind() -> None:
    found = run(fetched(sends(reply(b"<p>hi</p>", media='Text/HTML; charset="UTF-8"')), "/a?b=c"))
    assert (found.status, found.media_type, found.charset, found.data) == (200, "text/html", "utf-8", b"<p>hi</p>")
    assert found.url.endswith("/a?b=c")
    assert found.redirects == ()


def test_what_is_sent_is_a_plain_get_without_credentials() -> None:
    async def asked() -> bytes:
        async with serving(sends(reply(b"x"))) as server:
            await fetch(server.url("/ä b?q=ü#part".replace(" ", "%20")), allow_loopback=True)
            return server.requests[0]

    lines = run(asked()).decode().split("\r\n")
    assert lines[0] == "GET /%C3%A4%20b?q=%C3%BC HTTP/1.1"
    names_sent = [line.partition(":")[0] for line in lines[1:] if line]
    assert names_sent == ["Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"]


def test_chunks_are_put_together() -> None:
    chunks = b"5;x=y\r\nhello\r\n6 \r\n world\r\n0\r\nTrailer: 1\r\n\r\n"
    assert run(fetched(sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks))).data == b"hello world"


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    assert run(fetched(sends(b"HTTP/1.0 200 OK\r\n\r\nall of it"))).data == b"all of it"


def test_early_replies_are_passed_over() -> None:
    assert run(fetched(sends(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + reply(b"x")))).data == b"x"


def bare_deflate(data: bytes) -> bytes:
    inner = zlib.compressobj(wbits=-15)
    return inner.compress(data) + inner.flush()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", squeezed(b"folded" * 100)),
        ("x-gzip", squeezed(b"folded" * 60) + squeezed(b"folded" * 40)),
        ("gzip", squeezed(b"folded" * 100) + b"\0\0\0\0"),
        ("deflate", zlib.compress(b"folded" * 100)),
        ("deflate", bare_deflate(b"folded" * 100)),
        ("identity", b"folded" * 100),
    ],
)
def test_encodings_are_unfolded(encoding: str, body: bytes) -> None:
    assert run(fetched(sends(reply(body, f"Content-Encoding: {encoding}")))).data == b"folded" * 100


def test_what_is_folded_in_several_members_is_whole_however_it_is_cut() -> None:
    body = squeezed(b"one ") + squeezed(b"two")
    for size in (1, 2, 3, len(squeezed(b"one ")) + 1):
        unfolder = Unfolder("gzip")
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        assert b"".join(made for piece in pieces for made in unfolder.feed(piece)) == b"one two", size
        unfolder.finish()


def test_an_error_page_is_a_reply_and_good_says_what_it_means() -> None:
    found = run(fetched(sends(reply(b"no", status="404 Not Found"))))
    assert found.status == 404
    with pytest.raises(ExternalError, match="status 404"):
        found.good()
    assert run(fetched(sends(b"HTTP/1.1 204 No Content\r\n\r\n"))).good().data == b""


def test_the_longer_kind_of_address_works_too() -> None:
    async def both() -> Fetched:
        async with serving(sends(reply(b"six")), host="::1") as server:
            return await fetch(server.url(host="[::1]"), allow_loopback=True)

    assert run(both()).data == b"six"


def test_https_checks_the_certificate_for_the_name() -> None:
    async def over_tls(host: str, trusted: bool) -> Fetched:
        context = ssl.create_default_context(cafile=str(CERTIFICATE) if trusted else None)
        resolver = names(weft_test=["127.0.0.1"], other_test=["127.0.0.1"])
        async with serving(sends(reply(b"secret")), tls=True) as server:
            url = server.url(host=host, scheme="https")
            return await fetch(url, resolver=resolver, allow_loopback=True, tls=context)

    assert run(over_tls("weft.test", True)).data == b"secret"
    for host, trusted in (("other.test", True), ("weft.test", False)):
        with pytest.raises(ExternalError, match="certificate"):
            run(over_tls(host, trusted))


# -- where it may not go


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/x",
        "file:///etc/passwd",
        "gopher://example.org/",
        "example.org",
        "//example.org/",
        "http://",
        "http:///x",
        "http://user@example.org/",
        "http://user:word@example.org/",
        "http://exa mple.org/",
        "http://example.org/\r\nHost: x",
        "http://example.org\\@evil.org/",
        "http://example.org:22/",
        "http://example.org:99999/",
        "http://example.org:x/",
        "http://[::1",
        "http://[zz]/",
        "http://-x-.org/",
        "http://%31%32%37.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://1.2.3.4.5/",
        "http://" + "a" * 5000,
    ],
)
def test_an_address_that_is_none_is_refused_before_anything_is_asked(url: str) -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        raise AssertionError("nothing may be resolved")

    with pytest.raises(UserError):
        run(fetch(url, resolver=never))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1./",
        "http://１２７.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:7f00:1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1%25eth0]/",
        "http://10.0.0.1:8080/",
    ],
)
def test_closed_addresses_are_refused(url: str) -> None:
    with pytest.raises(UserError, match="not on the open web"):
        run(fetch(url))


@pytest.mark.parametrize("hidden", ["127.0.0.1", "10.1.2.3", "::1", "::ffff:192.168.0.1", "64:ff9b::a9fe:a9fe"])
def test_a_name_is_judged_by_all_its_addresses(hidden: str) -> None:
    for addresses in ([hidden], ["8.8.8.8", hidden]):
        with pytest.raises(UserError, match="not on the open web"):
            run(fetch("http://seems.fine.example/", resolver=names(seems_fine_example=addresses)))


def test_loopback_itself_is_closed_unless_a_test_opens_it() -> None:
    async def closed() -> list[bytes]:
        async with serving(sends(reply(b"x"))) as server:
            with pytest.raises(UserError, match="this machine itself"):
                await fetch(server.url())
            with pytest.raises(UserError, match="this machine itself"):
                await fetch(server.url(host="localhost"))
            return server.requests

    assert run(closed()) == []


def test_opening_loopback_opens_nothing_else() -> None:
    with pytest.raises(UserError, match="a private network"):
        run(fetch("http://10.0.0.1/", allow_loopback=True))


def test_a_name_that_changes_its_mind_is_asked_once_and_held_to_its_word() -> None:
    """The first answer is judged and connected to; the second, which leads inside, is never asked for."""
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    async def whole() -> Fetched:
        async with serving(sends(reply(b"first"))) as server:
            return await fetch(server.url(host="rebind.example"), resolver=rebinding, allow_loopback=True)

    assert run(whole()).data == b"first"
    assert asked == ["rebind.example"]


def test_and_on_a_redirect_to_itself_it_is_judged_anew() -> None:
    answers = iter((["127.0.0.1"], ["169.254.169.254"]))

    async def rebinding(host: str, port: int) -> Sequence[str]:
        return next(answers)

    async def whole() -> None:
        async with serving(sends(redirect("/again"))) as server:
            await fetch(server.url(host="rebind.example"), resolver=rebinding, allow_loopback=True)

    with pytest.raises(UserError, match="the local link"):
        run(whole())


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://10.0.0.1/admin", "a private network"),
        ("http://169.254.169.254/latest", "the local link"),
        ("http://[::ffff:10.0.0.1]/", "a private network"),
        ("http://inside.example/", "a private network"),
        ("file:///etc/passwd", "http or https"),
        ("http://0x0a000001/", "form 1.2.3.4"),
        ("http://a b/", "space"),
        ("http://[", "redirects to where it may not"),
    ],
)
def test_a_redirect_is_judged_like_an_address(location: str, words: str) -> None:
    async def whole() -> None:
        async with serving(sends(redirect(location))) as server:
            resolver = names(inside_example=["10.9.9.9"])
            await fetch(server.url(), resolver=resolver, allow_loopback=True)

    with pytest.raises(UserError, match=words):
        run(whole())


def test_redirects_are_followed_and_counted() -> None:
    async def good(head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split()[1]
        writer.write({b"/a/one": redirect("two"), b"/a/two": redirect("/three")}.get(path, reply(b"there")))

    found = run(fetched(good, "/a/one"))
    assert found.data == b"there"
    assert [url.rpartition(":")[2].partition("/")[2] for url in (*found.redirects, found.url)] == [
        "a/one",
        "a/two",
        "three",
    ]

    async def forever(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(redirect("/more"))

    with pytest.raises(ExternalError, match="more than 3 times"):
        run(fetched(forever))


def test_a_redirect_to_another_host_is_told_when_only_one_was_allowed() -> None:
    async def whole(other_hosts: bool, location: str) -> Fetched:
        async def answers(head: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(reply(b"there") if b"/there" in head else redirect(location.format(port=server.port)))

        resolver = names(one_test=["127.0.0.1"], two_test=["127.0.0.1"], www_one_test=["127.0.0.1"])
        async with serving(answers) as server:
            url = server.url(host="one.test")
            return await fetch(url, resolver=resolver, allow_loopback=True, other_hosts=other_hosts)

    assert run(whole(True, "http://two.test:{port}/there")).data == b"there"
    assert run(whole(False, "http://www.one.test:{port}/there")).data == b"there"
    assert run(whole(False, "/there")).data == b"there"
    with pytest.raises(UserError, match=r"redirects to another host: http://two\.test"):
        run(whole(False, "http://two.test:{port}/there"))


def test_https_does_not_lead_back_into_the_open() -> None:
    async def whole() -> None:
        async with serving(sends(redirect("http://weft.test/")), tls=True) as server:
            await fetch(
                server.url(host="weft.test", scheme="https"),
                resolver=names(weft_test=["127.0.0.1"]),
                allow_loopback=True,
                tls=ssl.create_default_context(cafile=str(CERTIFICATE)),
            )

    with pytest.raises(UserError, match="from https to the open"):
        run(whole())


# -- servers that misbehave


def test_a_body_that_drips_ends_with_the_time() -> None:
    async def drips(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.01)

    with pytest.raises(ExternalError, match="longer than") as caught:
        run(fetched(drips, limits=SHORT))
    assert caught.value.retryable


def test_so_does_a_head_that_drips_and_a_server_that_is_silent() -> None:
    async def drips(_: bytes, writer: asyncio.StreamWriter) -> None:
        for letter in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10_000:
            writer.write(bytes([letter]))
            await writer.drain()
            await asyncio.sleep(0.01)

    async def silent(_: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    for handler in (drips, silent):
        with pytest.raises(ExternalError, match="longer than"):
            run(fetched(handler, limits=SHORT))


def test_a_resolver_that_hangs_ends_with_the_time() -> None:
    async def hangs(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(ExternalError, match="longer than"):
        run(fetch("http://slow.example/", limits=SHORT, resolver=hangs))


def test_an_endless_body_stops_at_the_limit() -> None:
    async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
            await writer.drain()

    with pytest.raises(ExternalError, match="larger than 50,000"):
        run(fetched(endless))


@pytest.mark.parametrize(
    "body",
    [
        squeezed(b"\0" * 5_000_000),
        squeezed(b"\0" * 30_000) * 3,
        squeezed(b"a" * 50_001),
    ],
)
def test_a_small_body_that_unfolds_to_much_stops_at_the_limit(body: bytes) -> None:
    assert len(body) < 50_000
    assert "larger than 50,000" in refused(reply(body, "Content-Encoding: gzip"))


def test_exactly_the_limit_is_not_too_much() -> None:
    assert len(run(fetched(sends(reply(b"x" * 50_000)))).data) == 50_000
    assert len(run(fetched(sends(reply(squeezed(b"x" * 50_000), "Content-Encoding: gzip")))).data) == 50_000


def test_a_length_beyond_the_limit_is_not_waited_for() -> None:
    async def boasts(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
        await asyncio.Event().wait()

    with pytest.raises(ExternalError, match="larger than 50,000"):
        run(fetched(boasts))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "after nothing"),
        (b"HTTP/1.1 200", "in the middle of the line"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: te", "in the middle of the line"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "6 of 10 bytes too early"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "too early"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "after nothing"),
        (reply(squeezed(b"x" * 1000)[:-9], "Content-Encoding: gzip"), "in the middle of its gzip"),
    ],
)
def test_a_reply_that_is_cut_short_is_said_to_be(data: bytes, words: str) -> None:
    assert words in refused(data)


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: yyyyyyyyyyyyyyyy\r\n" * 5_000 + b"\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 20,
        reply(b"x", "Content-Encoding: br"),
        reply(b"not gzip at all", "Content-Encoding: gzip"),
        reply(b"\xff\xfe\xfd not deflate", "Content-Encoding: deflate"),
    ],
)
def test_a_malformed_reply_is_an_error_in_words(data: bytes) -> None:
    assert "can't be read" in refused(data)


def test_nobody_there_is_an_error_in_words() -> None:
    async def nobody() -> None:
        async with serving(sends(b"")) as server:
            url = server.url()
        await fetch(url, allow_loopback=True)

    with pytest.raises(ExternalError, match="can't connect"):
        run(nobody())
    with pytest.raises(ExternalError, match="has no address"):
        run(fetch("http://nowhere.example/", resolver=names()))


def test_stopping_closes_the_connection() -> None:
    async def whole() -> bool:
        gone = asyncio.Event()

        async def waits(_: bytes, writer: asyncio.StreamWriter) -> None:
            arrived.set()
            try:
                while True:
                    writer.write(b".")
                    await writer.drain()
                    await asyncio.sleep(0.01)
            except OSError:
                gone.set()
                raise

        arrived = asyncio.Event()
        async with serving(waits) as server:
            task = asyncio.create_task(fetch(server.url(), allow_loopback=True))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(gone.wait(), 30)
            return gone.is_set()

    assert run(whole())
