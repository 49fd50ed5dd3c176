"""The dataset folder is replaced whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataset_builder.errors import BuildError
from dataset_builder.folders import MANIFEST, check_replaceable, replacing

pytestmark = pytest.mark.unit


def _fill(folder: Path, text: str) -> None:
    """The files of a dataset whose engine is ``text``."""
    (folder / "data").mkdir()
    (folder / "data" / "test-00000-of-00001.parquet").write_text(text)
    (folder / "README.md").write_text(text)
    manifest = {"manifest_sha256": "0" * 64, "engine": text, "spec_version": "1"}
    (folder / MANIFEST).write_text(json.dumps(manifest))


def _engine(folder: Path) -> object:
    return json.loads((folder / MANIFEST).read_text())["engine"]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "dsb-ifeval"
    folder.mkdir()
    _fill(folder, "old")
    return folder


def _replace(target: Path, text: str = "new") -> None:
    with replacing(target) as folder:
        _fill(folder, text)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_and_replaced(tmp_path: Path) -> None:
    target = tmp_path / "sub" / "dsb-ifeval"
    _replace(target, "first")
    _replace(target, "second")
    assert _engine(target) == "second"
    assert _names(target.parent) == ["dsb-ifeval"]


def test_failure_leaves_the_old_one(old: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(old):
        raise ZeroDivisionError
    assert _engine(old) == "old"
    assert _names(old.parent) == ["dsb-ifeval"]


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "the disk is full"), (errno.EIO, "Input/output error")]
)
def test_operating_system_faults_are_explained(old: Path, number: int, words: str) -> None:
    with pytest.raises(BuildError, match=words) as caught, replacing(old):
        raise OSError(number, os.strerror(number))
    assert "untouched" in str(caught.value)
    assert _engine(old) == "old"


def test_other_folders_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(BuildError, match=r"holds no manifest.json, so it is not a built dataset"):
        _replace(tmp_path / "thesis")
    assert _names(tmp_path / "thesis") == ["chapter1.tex"]


@pytest.mark.parametrize("manifest", ['{"manifest_version": 3}', "[]", "not JSON", "[" * 100_000])
def test_the_manifest_of_something_else_is_no_dataset(tmp_path: Path, manifest: str) -> None:
    (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(BuildError, match=r"its manifest.json is not one of a built dataset"):
        _replace(tmp_path)
    assert (tmp_path / MANIFEST).read_text() == manifest


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("notes.txt", "notes.txt"),
        ("data/notes.txt", "data/notes.txt"),
        ("data/more/x", "data/more"),
        (".git/config", ".git"),
    ],
)
def test_a_dataset_with_foreign_files_is_not_replaced(old: Path, name: str, shown: str) -> None:
    (old / name).parent.mkdir(exist_ok=True)
    (old / name).write_text("mine")
    with pytest.raises(BuildError, match=r"choose another --out") as caught:
        _replace(old)
    assert f"holds {shown}, which no build wrote" in str(caught.value)
    assert (old / name).read_text() == "mine"
    assert _engine(old) == "old"


def test_a_link_is_foreign(old: Path, tmp_path: Path) -> None:
    (old / "data").rename(tmp_path / "shards")
    (old / "data").symlink_to(tmp_path / "shards")
    with pytest.raises(BuildError, match="holds data, which no build wrote"):
        _replace(old)


def test_a_folder_that_only_looks_set_aside_is_kept(old: Path) -> None:
    aside = old.with_name(f".{old.name}.old")
    aside.mkdir()
    (aside / "thesis.tex").write_text("years of work")
    with pytest.raises(BuildError, match=r"holds thesis.tex"):
        _replace(old)
    assert _names(aside) == ["thesis.tex"]


def test_a_half_removed_old_dataset_is_removed(old: Path) -> None:
    aside = old.with_name(f".{old.name}.old")
    (aside / "data").mkdir(parents=True)
    (aside / "data" / "test-00000-of-00001.parquet").write_text("older")
    _replace(old)
    assert _names(old.parent) == [old.name]


def test_without_an_older_dataset_none_is_promised(tmp_path: Path) -> None:
    target = tmp_path / "dsb-ifeval"
    with pytest.raises(BuildError) as caught, replacing(target):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value) == f"cannot write {target}: the disk is full"


def test_a_parent_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BuildError, match=f"not a folder: {tmp_path / 'file'}"):
        check_replaceable(tmp_path / "file" / "sub")


def test_files_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BuildError, match="is a file"):
        _replace(tmp_path / "file")


def test_an_empty_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _replace(tmp_path / "empty")
    assert _engine(tmp_path / "empty") == "new"


def test_a_build_killed_between_the_renames_is_undone(old: Path) -> None:
    aside = old.with_name(f".{old.name}.old")
    old.rename(aside)
    with pytest.raises(ZeroDivisionError), replacing(old):
        raise ZeroDivisionError
    assert _engine(old) == "old"


def test_leftovers_of_dead_builds_are_removed(old: Path) -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    dead = old.with_name(f".{old.name}.building-{done.pid}")
    alive = old.with_name(f".{old.name}.building-{os.getppid()}")
    for folder in (dead, alive):
        folder.mkdir()
    _replace(old)
    assert not dead.exists()
    assert alive.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BuildError, match="no permission for"):
        _replace(tmp_path / "dsb-ifeval")
