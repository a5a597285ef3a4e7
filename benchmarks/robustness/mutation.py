"""Values that nobody expects, and ways to spoil a text."""

from __future__ import annotations

from random import Random

WILD_VALUES = (
    "0", "-1", "1", "2", "1e400", "-1e400", "nan", "inf", "-inf", "9" * 5000, "0x" + "f" * 400,
    "1" + "_0" * 600, "0.1e-400", "18446744073709551616", "2147483648", "true", "false", '""',
    "''", '"auto"', '" "', '"\\u0000"', '"\\u001b[31mred\\u001b[0m"', '"\\u202edlrow"', '"\\ud7ff"',
    '"x\\ny"', '"../../../etc/passwd"', '"/dev/null"', '"/dev/zero"', '"/proc/self/mem"', '"/"',
    '"."', '"' + "a" * 300 + '"', '"' + "ü" * 200 + '"', '"' + "/x" * 3000 + '"', "[]", "[[]]",
    "[1, 1]", '["a", "a"]', "[1, 2.5]", '[""]', "{}", "{ a = 1 }", '{ en = "x" }', "{ en = 1 }",
    '{ en = "x", ja = "y", de = "z" }', "[" * 3000 + "]" * 3000, "{a=" * 500 + "1" + "}" * 500,
    "1979-05-27T07:32:00Z", "07:32:00", "1979-05-27", '"5 %"', '"-5%"', '"1e9s"', '"99999h"',
    '"1s1m"', '"1GiB"', '"999999999TB"', '"0B"', '"1.5.5"', '"18"', "18", "18.1", '"17,18"',
    '"postgresql://u:planted@h/d"', '"postgresql://h/d?pass%77ord=planted"', '"%s%n"',
    '"${HOME}"', '"-"', '"--help"', '"last"', '"\\\\"', '"\'"', '"$$"', '"; DROP TABLE x"',
    '"read"', '["read"]', '"server"', '["server", "clients"]', '"guc:"', '"guc:x y"', "1.0",
)  # fmt: skip


def spoiled(text: bytes, random: Random) -> bytes:
    """A text with one to four changes."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        text = random.choice(_WAYS)(text, random)
    return text


def _another_value(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    places = [number for number, line in enumerate(lines) if b" = " in line]
    if not places:
        return text
    number = random.choice(places)
    key, _, _ = lines[number].partition(b" = ")
    lines[number] = key + b" = " + random.choice(WILD_VALUES).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _mistyped_word(text: bytes, random: Random) -> bytes:
    """A letter less in a key, also inside an inline table."""
    ends = [number for number in range(1, len(text)) if text[number : number + 2] == b" ="]
    if not ends:
        return text
    end = random.choice(ends)
    return text[: end - 1] + random.choice((b"", b"x", b"S", b".")) + text[end:]


def _without_line(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    del lines[random.randrange(len(lines))]
    return b"\n".join(lines)


def _line_twice(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    lines.insert(random.randrange(len(lines)), random.choice(lines))
    return b"\n".join(lines)


def _cut_off(text: bytes, random: Random) -> bytes:
    return text[: random.randrange(len(text) + 1)]


def _other_bytes(text: bytes, random: Random) -> bytes:
    place = random.randrange(len(text) + 1)
    return text[:place] + random.randbytes(random.randrange(1, 6)) + text[place + 2 :]


def _marks(text: bytes, random: Random) -> bytes:
    mark = (b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\x1b[2J", "\u202e".encode(), b"\r\n")
    return random.choice(mark) + text


def _swapped_sections(text: bytes, random: Random) -> bytes:
    parts = text.split(b"\n[")
    random.shuffle(parts)
    return b"\n[".join(parts)


def _renamed_section(text: bytes, random: Random) -> bytes:
    parts = text.split(b"\n[")
    number = random.randrange(len(parts))
    name, bracket, rest = parts[number].partition(b"]")
    new_name = random.choice((b"study", b"workloads", b"x", b"servers.a", b"profiles.quick", b""))
    parts[number] = (new_name if number else name) + bracket + rest
    return b"\n[".join(parts)


def _more(text: bytes, random: Random) -> bytes:
    value = random.choice(WILD_VALUES)
    name = random.choice(("study", "measure", "factors", "x", "profiles.quick", "settings.x"))
    return text + f"\n[{name}]\nx = {value}\n".encode("utf-8", "surrogatepass")


_WAYS = (
    _another_value,
    _another_value,
    _another_value,
    _another_value,
    _mistyped_word,
    _mistyped_word,
    _without_line,
    _line_twice,
    _cut_off,
    _other_bytes,
    _marks,
    _swapped_sections,
    _renamed_section,
    _more,
)
