"""What the tokens of a parsed README say: plain text, words, hosts of links, lines of bytes."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from secondbrain.discovery.shape import UNFIT_FOR_A_LINE

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_WORD = re.compile(r"[^\W\d_]{4,}")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


def source_lines(data: bytes) -> list[bytes]:
    """Return the lines of a file with their ends, counted as CommonMark counts them."""
    return _LINE.findall(data)


def plain_text(inline: "Token") -> str:
    """Return the text of an inline token on one line, without marks, images and HTML."""
    parts = (
        child.content if child.type in ("text", "code_inline") else " "
        for child in inline.children or ()
        if child.type in ("text", "code_inline", "softbreak", "hardbreak")
    )
    return " ".join(UNFIT_FOR_A_LINE.sub(" ", "".join(parts)).split())


def words_of(tokens: Iterable["Token"]) -> list[str]:
    """Return the words of four letters or more, folded, in order; code counts, HTML and addresses do not."""
    found: list[str] = []
    for token in _flat(tokens):
        if token.type in ("text", "code_inline", "fence", "code_block"):
            found += _WORD.findall(token.content.casefold())
    return found


def link_hosts(tokens: Iterable["Token"]) -> list[str]:
    """Return the hosts that links lead to, sorted, each once; relative links have none."""
    hosts = set()
    for token in _flat(tokens):
        if token.type == "link_open":
            hosts.add(_host(str(token.attrs.get("href", ""))))
        elif token.type in ("html_block", "html_inline"):
            links = _Links()
            links.feed(token.content)
            hosts.update(map(_host, links.addresses))
    return sorted(hosts - {""})


def _flat(tokens: Iterable["Token"]) -> Iterator["Token"]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _host(address: str) -> str:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:  # a broken IPv6 address in someone's README is no reason to stop
        return ""
    return host if _HOST.fullmatch(host) else ""


class _Links(HTMLParser):
    """Collects where the ``<a href>`` of a piece of HTML lead."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.addresses += [value for name, value in attrs if name == "href" and value]
