"""Root writes, reads and deletes where its user says, in folders of another user who has planted
links there: nothing outside of them is changed or published. An ordinary user's own links lead
where he wants."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from teiten.cli.site.output import BEGUN, MANIFEST, Output
from teiten.datasets.ssb.rows.blocks import Watch
from teiten.datasets.ssb.rows.files import PART_SUFFIX, write_files
from teiten.errors import LedgerError, UsageError
from teiten.export import files as export_files
from teiten.export.tables import ArrowTable, tables
from teiten.host.system import held_folder, target_folder
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.target_folder import append_file, write_file
from teiten.ledger.lock import campaign_lock, is_locked
from teiten.ledger.store import Ledger
from teiten.model.ssb import SsbData, SsbFormat, SsbTable
from tests.fixtures.synthetic import write_synthetic_ledger
from tests.fixtures.verbs import Verbs, verbs_in

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has what another user may not have"),
]
STRANGER = 65534
SECRET = "root's secret"
SUPPLIERS = SsbData(0.01, tables=(SsbTable.SUPPLIER,))


@dataclass(frozen=True)
class Home:
    """A folder of another user beside root's."""

    home: Path
    campaign: Path
    """The stranger's, below his home."""
    etc: Path
    """A folder of root's with the secret in it."""
    secret: Path
    workdir: Path

    def plant(self, place: Path, target: Path) -> None:
        """Put a link of the stranger's in a folder of his, which is made where it is missing."""
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        self.give()

    def give(self) -> None:
        """Make all below the home the stranger's, where it has no second name outside."""
        for path in (self.home, *self.home.rglob("*")):
            if path.is_dir() or path.is_symlink() or path.stat().st_nlink == 1:
                os.lchown(path, STRANGER, STRANGER)

    def assert_kept(self) -> None:
        """Nothing of root's was changed, made or deleted."""
        assert self.secret.read_text(encoding="utf-8") == SECRET
        assert [path.name for path in self.etc.iterdir()] == [self.secret.name]


@pytest.fixture(scope="module")
def written(module_folder: Path) -> Path:
    write_synthetic_ledger(module_folder / "camp", trials=20, samples=240)
    return module_folder / "camp"


@pytest.fixture
def home(written: Path, tmp_path: Path) -> Iterator[Home]:
    made = Home(
        tmp_path / "home",
        tmp_path / "home" / "camp",
        tmp_path / "etc",
        tmp_path / "etc" / "shadow",
        tmp_path / "work",
    )
    shutil.copytree(written, made.campaign)
    made.etc.mkdir()
    made.secret.write_text(SECRET, encoding="utf-8")
    made.give()
    yield made
    made.assert_kept()


@pytest.fixture
def teiten(home: Home, capsys: pytest.CaptureFixture[str]) -> Verbs:
    return verbs_in(home.workdir, capsys)


@pytest.mark.parametrize("name", [".report.html.part", "report.html"])
def test_a_report_replaces_a_link(teiten: Verbs, home: Home, name: str) -> None:
    home.plant(home.campaign / "report" / name, home.secret)
    assert teiten("report", str(home.campaign)).code == 0
    report = home.campaign / "report" / "report.html"
    assert report.is_file() and not report.is_symlink()


@pytest.mark.parametrize("linked", ["out", "out/charts", "out/data"])
def test_a_report_goes_through_no_folder_that_is_a_link(
    teiten: Verbs, home: Home, linked: str
) -> None:
    home.plant(home.home / linked, home.etc)
    target = str(home.home / "out")
    refused = teiten("report", str(home.campaign), "--format", "markdown", "--to", target)
    assert refused.code == 3 and "link" in refused.err


def test_a_lock_writes_its_holder_through_no_link(home: Home) -> None:
    home.plant(home.campaign / "lock.pid", home.secret)
    with campaign_lock(home.campaign):
        assert is_locked(home.campaign)
    assert not os.path.lexists(home.campaign / "lock.pid")


def test_a_lock_is_no_second_name_of_a_file(home: Home) -> None:
    (home.campaign / "lock").unlink(missing_ok=True)
    (home.campaign / "lock").hardlink_to(home.secret)
    with pytest.raises(UnsafePlaceError, match="no plain file with one name"):
        campaign_lock(home.campaign)
    assert not is_locked(home.campaign)


def test_rm_deletes_through_no_link(teiten: Verbs, home: Home) -> None:
    for name in ("evidence", "report"):
        home.plant(home.campaign / name, home.etc)
    home.plant(home.campaign / "lock.pid", home.secret)
    assert teiten("rm", str(home.campaign), "--yes").code == 0
    assert not home.campaign.exists()


def test_rm_deletes_no_campaign_to_which_a_stranger_leads(
    teiten: Verbs, home: Home, written: Path
) -> None:
    shutil.rmtree(home.campaign)
    home.plant(home.campaign, written)
    refused = teiten("rm", str(home.campaign), "--yes")
    assert refused.code != 0
    assert (written / "ledger.sqlite").is_file()


def test_root_continues_no_campaign_of_a_stranger(teiten: Verbs, home: Home) -> None:
    home.plant(home.campaign / "evidence", home.etc)
    refused = teiten("resume", str(home.campaign))
    assert refused.code == 2 and "root continues no campaign in" in refused.err


def test_a_ledger_is_no_link_of_a_stranger(home: Home, written: Path) -> None:
    shutil.rmtree(home.campaign)
    home.plant(home.campaign / "ledger.sqlite", written / "ledger.sqlite")
    with pytest.raises(LedgerError, match="is not a plain file"):
        Ledger.open(home.campaign, read_only=True)


def test_a_ledger_with_a_journal_is_not_written(home: Home) -> None:
    """SQLite would delete the file that the journal names."""
    (home.campaign / "ledger.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
    home.give()
    with pytest.raises(LedgerError, match="is no file of a ledger"):
        Ledger.open(home.campaign)
    Ledger.open(home.campaign, read_only=True).close()


def site_of(home: Home, names: list[str]) -> Path:
    """A site of the stranger's, whose manifest names these pages."""
    site = home.home / "site"
    site.mkdir()
    manifest = {"format": 1, "files": dict.fromkeys(names, "old")}
    (site / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    home.give()
    return site


def test_a_site_removes_nothing_through_a_link(home: Home) -> None:
    site = site_of(home, ["x/shadow", "old/page.html"])
    home.plant(site / "x", home.etc)
    (site / "old").mkdir()
    (site / "old" / "page.html").write_text("old", encoding="utf-8")
    output = Output(site)
    output.write("index.html", "new", b"new")
    assert output.finish() == 2
    assert {path.name for path in site.iterdir()} == {"index.html", "x", MANIFEST}


def test_a_site_of_an_ordinary_user_removes_nothing_through_a_link(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that somebody else has made, for example an archive."""
    as_ordinary_user(monkeypatch)
    test_a_site_removes_nothing_through_a_link(home)


@pytest.mark.parametrize("name", [BEGUN, MANIFEST])
def test_a_site_takes_no_list_that_is_a_link(home: Home, name: str) -> None:
    site = site_of(home, [])
    (site / name).unlink(missing_ok=True)
    home.plant(site / name, home.secret)
    with pytest.raises(UnsafePlaceError, match="is a symbolic link, not a plain file"):
        Output(site)


def test_a_site_is_written_again_where_root_has_written_it(home: Home) -> None:
    site = site_of(home, [])
    for content in ("one", "two"):
        output = Output(site)
        output.write("pages/index.html", content, content.encode())
        output.finish()
    assert (site / "pages" / "index.html").read_text(encoding="utf-8") == "two"
    assert Output(site).has("pages/index.html", "two")


@pytest.mark.parametrize("by", ["link", "second name"])
def test_a_site_publishes_nothing_that_is_not_the_strangers(
    teiten: Verbs, home: Home, by: str
) -> None:
    reports = home.campaign / "report"
    reports.mkdir()
    for language in ("en", "ja"):
        place = reports / f"report.{language}.html"
        if by == "link":
            place.symlink_to(home.secret)
        else:
            place.hardlink_to(home.secret)
    home.give()
    out = home.workdir / "site"
    assert teiten("site", str(home.campaign), "--to", str(out)).code == 0
    published = [path.read_text(encoding="utf-8") for path in out.rglob("report.*.html")]
    assert len(published) == 2 and not any(SECRET in text for text in published)


def test_a_site_publishes_no_campaign_to_which_a_stranger_leads(
    teiten: Verbs, home: Home, written: Path
) -> None:
    home.plant(home.home / "roots.sqlite", written / "ledger.sqlite")
    out = home.workdir / "site"
    made = teiten("site", str(home.home), "--to", str(out), "--json")
    assert made.code == 0
    (missing,) = json.loads(made.out)["left_out"]
    assert "is not a plain file" in missing["why"]


def test_tables_are_written_to_new_files(home: Home) -> None:
    for name in (f"supplier.tbl{PART_SUFFIX}", f"supplier.parquet{PART_SUFFIX}"):
        home.plant(home.home / "ssb" / name, home.secret)
    for form in (SsbFormat.TBL, SsbFormat.PARQUET):
        write_files(SUPPLIERS, form, home.home / "ssb", 1, Watch())
    names = {path.name for path in (home.home / "ssb").iterdir()}
    assert names == {"supplier.tbl", "supplier.parquet"}


def test_an_export_writes_through_no_link_that_appears_meanwhile(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home.home / "numbers"

    def planting(*arguments: object) -> Iterator[ArrowTable]:
        home.plant(folder / "trials.csv.part", home.secret)
        yield from tables(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(export_files, "tables", planting)
    with Ledger.open(home.campaign, read_only=True) as ledger, pytest.raises(UsageError):
        export_files.export(ledger, (), folder, [export_files.Format.CSV])


def test_a_named_file_of_a_stranger_is_replaced(home: Home) -> None:
    for name in ("table.md", "summary.md"):
        home.plant(home.home / name, home.secret)
    write_file(home.home / "table.md", b"new")
    assert (home.home / "table.md").read_bytes() == b"new"
    with pytest.raises(UnsafePlaceError):
        append_file(home.home / "summary.md", b"new")
    (home.etc.parent / "led").symlink_to(home.home / "summary.md")  # root's own link into the home
    write_file(home.etc.parent / "led", b"new")
    assert (home.home / "summary.md").read_bytes() == b"new"
    append_file(home.home / "summary.md", b"er")
    assert (home.home / "summary.md").read_bytes() == b"newer"


def test_a_named_file_of_ones_own_is_written_in_place(home: Home) -> None:
    own = home.etc.parent / "own"
    own.mkdir()
    (own / "link").symlink_to("table.md")
    write_file(own / "link", b"new")
    assert (own / "table.md").read_bytes() == b"new" and (own / "link").is_symlink()
    reading, writing = os.pipe()
    write_file(Path(f"/dev/fd/{writing}"), b"to a pipe")
    assert os.read(reading, 100) == b"to a pipe"
    for descriptor in (reading, writing):
        os.close(descriptor)


def as_ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (held_folder, target_folder):
        monkeypatch.setattr(module, "own_uid", lambda: 1000)


def test_an_ordinary_users_own_links_lead_where_he_wants(
    teiten: Verbs, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_ordinary_user(monkeypatch)
    data = home.home / "data"
    data.mkdir()
    home.plant(home.home / "reports", data)
    assert teiten("report", str(home.campaign), "--to", str(home.home / "reports/new")).code == 0
    home.plant(home.campaign / "report", data)
    assert teiten("report", str(home.campaign)).code == 0
    assert {path.name for path in data.iterdir()} == {"new", "report.html"}
