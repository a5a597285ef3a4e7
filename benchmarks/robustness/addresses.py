"""Addresses with a password in every spelling: nothing of it may be left, and all be given back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from urllib.parse import quote

from benchmarks.robustness.outcome import Outcome, Tally
from teiten.addresses import SECRET, AddressError, read_address, without_secrets
from teiten.connections import to_address

WORD = "Planted"
"""In every password."""
ODD = "@:/?#&=%'\" \\,;[]{}+ü…$`!*()|^~"
HOSTS = ("h", "127.0.0.1", "[::1]", "a.example", "%2Fvar%2Frun", "h1,h2", "h1:1,h2:2", "")


@dataclass(frozen=True)
class Spelling:
    """An address, and what is secret in it."""

    text: str
    secrets: dict[str, str]
    valid: bool
    """libpq reads it as it is meant."""


def spell_addresses(count: int, seed: int) -> Tally:
    """Take the secrets out of ``count`` addresses, and give them back."""
    tally = Tally("addresses")
    for number in range(count):
        spelled = spelling(Random(seed * 1_000_003 + number))
        wrong = list(_wrong(spelled))
        shown = f"address {number} of seed {seed}: {spelled.text!r}"
        outcome = Outcome(1 if wrong else 0, "", "error: " + "; ".join(wrong), 0.0)
        tally.add(shown, outcome)
    return tally


def spelling(random: Random) -> Spelling:
    """One of the forms that libpq knows, or that people write."""
    secret = WORD + "".join(random.choice(ODD) for _ in range(random.randrange(5))) + "X"
    form = random.choice((_userinfo, _unescaped, _query, _keywords, _cut_off))
    return form(secret, random)


def _userinfo(secret: str, random: Random) -> Spelling:
    tail = random.choice(("", "/d", "/d?sslmode=prefer", "?application_name=a%40b", ":5433/d"))
    host = random.choice(HOSTS[:5])
    text = f"postgres{random.choice(('', 'ql'))}://u:{_escaped(secret, random)}@{host}{tail}"
    return Spelling(text, {"password": secret}, valid=True)


def _unescaped(secret: str, random: Random) -> Spelling:
    """As people write it who do not know of percent signs."""
    plain = secret.replace("%", "").replace("?", "")
    return Spelling(
        f"postgresql://u:{plain}@{random.choice(HOSTS[:2])}/d", {"password": plain}, valid=False
    )


def _query(secret: str, random: Random) -> Spelling:
    keyword = random.choice(("password", "sslpassword"))
    others = random.sample(("user=u", "sslmode=prefer", "connect_timeout=3"), random.randrange(3))
    parts = [*others, f"{_escaped_word(keyword, random)}={_escaped(secret, random)}"]
    random.shuffle(parts)
    text = f"postgresql://{random.choice(HOSTS[:5])}/d?{'&'.join(parts)}"
    return Spelling(text, {keyword: secret}, valid=True)


def _keywords(secret: str, random: Random) -> Spelling:
    keyword = random.choice(("password", "sslpassword"))
    quoted = "'" + secret.replace("\\", "\\\\").replace("'", "\\'") + "'"
    bare = "".join(f"\\{letter}" if letter in " '\\" else letter for letter in secret)
    space = random.choice(("", " ", "  "))
    parts = ["host=h", "dbname=d", f"{keyword}{space}={space}{random.choice((quoted, bare))}"]
    random.shuffle(parts)
    return Spelling(" ".join(parts), {keyword: secret}, valid=True)


def _cut_off(secret: str, random: Random) -> Spelling:
    """What libpq refuses, so that its message must not show it either."""
    plain = secret.replace("'", "").replace("\\", "").replace(" ", "")
    text = random.choice(
        (
            f"host=h password='{plain}",
            f"hots=h password={plain}",
            f"host=h password={plain} =",
            f"postgresql://h/d?nothing=1&password={quote(plain, safe='')}",
            f"postgresql://u:{quote(plain, safe='')}@[::1/d",
            f"POSTGRESQL://u:{quote(plain, safe='')}@h/d",
        )
    )
    return Spelling(text, {"password": plain}, valid=False)


def _escaped(secret: str, random: Random) -> str:
    """Percent signs where they are needed, and at random where they are not."""
    return "".join(
        quote(letter, safe="") if letter in ODD or random.random() < 0.3 else letter
        for letter in secret
    )


def _escaped_word(word: str, random: Random) -> str:
    return "".join(f"%{ord(letter):02x}" if random.random() < 0.3 else letter for letter in word)


def _wrong(spelled: Spelling) -> Iterator[str]:
    clean, secrets = without_secrets(spelled.text)
    if WORD in clean:
        yield f"left in {clean!r}"
    if not secrets:
        yield "nothing was found"
    try:
        read_address(spelled.text)
    except AddressError as error:
        if WORD in str(error):
            yield f"left in {error}"
    if not spelled.valid:
        return
    if secrets != spelled.secrets:
        yield f"found {secrets}"
    known = read_address(spelled.text)
    if read_address(clean) != {key: known[key] for key in known if key not in SECRET}:
        yield f"the rest became {clean!r}"
    if read_address(to_address(clean, secrets)) != known:
        yield "not given back"
