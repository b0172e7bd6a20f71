"""What is refused before a stranger's zip is read, in a hand-in and in a zip of many, where it costs only its owner."""

import contextlib
import copy
import io
import json
import re
import struct
import unicodedata
import zipfile

import pytest

from autograder.handins import archives, collect
from autograder.handins.archives import Archive, Unfit
from tests.grading.toy_chapter import CHAPTER, STEM

INSIDE = f"{CHAPTER}/{STEM}.ipynb"
COMPOSED = "é.ipynb"


def zipped(*entries):
    """A zip of (name or ZipInfo, contents)."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in entries:
            twice = name in bundle.namelist()
            with pytest.warns(UserWarning) if twice else contextlib.nullcontext():
                bundle.writestr(name, content, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def renamed(old: bytes, new: bytes):
    """A zip whose entry is named `new`, which zipfile would not write."""
    assert len(old) == len(new)
    return zipped((old.decode(), "{}")).replace(old, new)


def encrypted():
    data = bytearray(zipped((INSIDE, "{}")))
    at = data.index(b"PK\x01\x02")
    flags = struct.unpack_from("<H", data, at + 8)[0]
    struct.pack_into("<H", data, at + 8, flags | 1)
    return bytes(data)


def linked():
    info = zipfile.ZipInfo(INSIDE)
    info.external_attr = 0o120777 << 16
    return zipped((info, "/etc/passwd"))


FAULTY = {
    "a path that climbs": (zipped((f"{CHAPTER}/../../x.ipynb", "{}")), "points outside"),
    "an absolute path": (zipped(("/etc/x.ipynb", "{}")), "points outside"),
    "a drive letter": (zipped(("C:/x.ipynb", "{}")), "points outside"),
    "backslashes": (
        renamed(b"98_tiny-01_first.ipynb", b"98_tiny\\01_first.ipynb"),
        "points outside",
    ),
    "a NUL byte": (
        renamed(b"98_tiny/01_first.ipynb-x", b"98_tiny/01_first.ipynb\0x"),
        "points outside",
    ),
    "a line break": (
        renamed(b"98_tiny/01_first-ipynb", b"98_tiny/01_first\nipynb"),
        "points outside",
    ),
    "a link": (linked(), "holds a link"),
    "an encrypted file": (encrypted(), "is encrypted"),
    "a name twice": (zipped((INSIDE, "{}"), (INSIDE, "[]")), "twice"),
    "names that differ in case": (
        zipped((INSIDE, "{}"), (INSIDE.upper(), "{}")),
        "which are one name on other machines",
    ),
    "names that differ in Unicode form": (
        zipped((COMPOSED, "{}"), (unicodedata.normalize("NFD", COMPOSED), "{}")),
        "twice",
    ),
}


@pytest.fixture
def good(notebook):
    return json.dumps(notebook()).encode()


@pytest.mark.parametrize("data, reason", FAULTY.values(), ids=FAULTY.keys())
def test_a_faulty_hand_in_is_refused_as_a_whole(space, tmp_path, data, reason):
    path = tmp_path / f"{CHAPTER}--ada--20260901-120000.zip"
    path.write_bytes(data)
    (outcome,) = collect.collect(space, CHAPTER, [path])
    assert not outcome.taken and reason in outcome.words[0]
    assert space.students(CHAPTER) == []


@pytest.mark.parametrize("data, reason", FAULTY.values(), ids=FAULTY.keys())
def test_in_a_zip_of_many_a_fault_costs_only_its_owner(space, tmp_path, good, data, reason):
    bundle = zipped(
        ("Mallory M_100_assignsubmission_file/work.zip", data),
        ("Ada Lovelace_101_assignsubmission_file/01_first.ipynb", good),
    )
    (tmp_path / "all.zip").write_bytes(bundle)
    outcomes = collect.collect(space, CHAPTER, [tmp_path / "all.zip"])
    assert [outcome.taken for outcome in outcomes] == [False, True]
    assert reason in outcomes[0].words[0]
    assert space.students(CHAPTER) == ["ada-lovelace"]


def test_a_link_among_many_costs_only_its_owner(space, tmp_path, good):
    info = zipfile.ZipInfo("mallory/01_first.ipynb")
    info.external_attr = 0o120777 << 16
    bundle = zipped((info, "/etc/passwd"), ("ada/01_first.ipynb", good))
    (tmp_path / "all.zip").write_bytes(bundle)
    outcomes = collect.collect(space, CHAPTER, [tmp_path / "all.zip"])
    assert [(o.name, o.taken) for o in outcomes] == [("mallory/", False), ("ada/", True)]


def test_a_zip_within_a_students_zip_is_not_opened(space, tmp_path, good):
    inner = zipped(("deeper.zip", zipped((INSIDE, good))))
    (tmp_path / "all.zip").write_bytes(zipped(("ada/work.zip", inner)))
    (outcome,) = collect.collect(space, CHAPTER, [tmp_path / "all.zip"])
    assert not outcome.taken and "a zip within a zip ('deeper.zip')" in outcome.words[0]


def test_a_zip_of_many_is_not_taken_for_one_students(space, tmp_path, good):
    many = zipped(("ada/01_first.ipynb", good), ("bob/02_second.ipynb", good))
    (tmp_path / "all.zip").write_bytes(zipped(("week1/many.zip", many)))
    (outcome,) = collect.collect(space, CHAPTER, [tmp_path / "all.zip"])
    assert not outcome.taken
    assert "in several folders ('ada', 'bob'): give a zip of many by itself" in outcome.words[0]


def test_what_inflates_too_far_costs_only_its_owner(space, tmp_path, good, monkeypatch):
    monkeypatch.setattr(archives, "FREE", 1_000_000)
    bundle = zipped(("mallory/work.zip", b"0" * 2_000_000), ("ada/01_first.ipynb", good))
    (tmp_path / "all.zip").write_bytes(bundle)
    refused, taken = collect.collect(space, CHAPTER, [tmp_path / "all.zip"])
    assert re.search(r"'mallory/work.zip' in it inflates \d{3,} times", refused.words[0])
    assert taken.taken


def test_entries_that_share_their_bytes_are_refused(tmp_path):
    """The overlap bomb: a small file whose directory lists one body many times."""
    first = zipfile.ZipInfo("a.ipynb")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr(first, b"0" * 1000)
        again = copy.copy(first)
        again.filename = again.orig_filename = "b.ipynb"
        bundle.filelist += [again] * 2
    with pytest.raises(Unfit, match="its files overlap"):
        Archive(data.getvalue())


def test_a_size_that_lies_yields_no_more_than_it_says(good):
    data = bytearray(zipped(("x.ipynb", b"0" * 100_000)))
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)
    (entry,) = Archive(bytes(data)).entries()
    with pytest.raises(Unfit, match="cannot be read"):
        entry.read(1_000_000)


def test_names_in_utf8_without_the_flag_are_read():
    name = "Jörg Müller_12_assignsubmission_file/x.ipynb"
    data = bytearray(zipped((name, "{}")))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature)
        flags = struct.unpack_from("<H", data, at + offset)[0]
        struct.pack_into("<H", data, at + offset, flags & ~0x800)
    (entry,) = Archive(bytes(data)).entries()
    assert "/".join(entry.parts) == name
