"""The dataset folder is replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataset_builder.errors import BuildError
from dataset_builder.folders import replacing

pytestmark = pytest.mark.unit

MARKER = "manifest.json"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "dsb-ifeval"
    folder.mkdir()
    (folder / MARKER).write_text("old")
    return folder


def _replace(target: Path, text: str = "new") -> None:
    with replacing(target, MARKER) as folder:
        (folder / MARKER).write_text(text)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_and_replaced(tmp_path: Path) -> None:
    target = tmp_path / "sub" / "dsb-ifeval"
    _replace(target, "first")
    _replace(target, "second")
    assert (target / MARKER).read_text() == "second"
    assert _names(target.parent) == ["dsb-ifeval"]


def test_failure_leaves_the_old_one(old: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(old, MARKER):
        raise ZeroDivisionError
    assert (old / MARKER).read_text() == "old"
    assert _names(old.parent) == ["dsb-ifeval"]


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "the disk is full"), (errno.EIO, "Input/output error")]
)
def test_operating_system_faults_are_explained(old: Path, number: int, words: str) -> None:
    with pytest.raises(BuildError, match=words) as caught, replacing(old, MARKER):
        raise OSError(number, os.strerror(number))
    assert "untouched" in str(caught.value)
    assert (old / MARKER).read_text() == "old"


def test_other_folders_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(BuildError, match=r"holds no manifest.json, so it is not a built dataset"):
        _replace(tmp_path / "thesis")
    assert _names(tmp_path / "thesis") == ["chapter1.tex"]


def test_files_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BuildError, match="is a file"):
        _replace(tmp_path / "file")


def test_an_empty_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _replace(tmp_path / "empty")
    assert (tmp_path / "empty" / MARKER).is_file()


def test_a_build_killed_between_the_renames_is_undone(old: Path) -> None:
    aside = old.with_name(f".{old.name}.old")
    old.rename(aside)
    with pytest.raises(ZeroDivisionError), replacing(old, MARKER):
        raise ZeroDivisionError
    assert (old / MARKER).read_text() == "old"


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
