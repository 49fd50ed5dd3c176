"""The wheel holds the library alone, with the spec inside, and finds it in every install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

PROBE = """
import dsb_ifeval, json
from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.paths import spec_dir
from dsb_ifeval.adapters import load_system
import numpy as np
from dsb_ifeval.vad import PAPER_SETTINGS, speech_spans
model = load_system("talker")
talk = np.concatenate([model.step(np.zeros(480, np.float32)) for _ in range(100)])
print(json.dumps({
    "package": dsb_ifeval.__file__,
    "spec": str(spec_dir()),
    "roles": len(load_benchmark().roles),
    "spans": len(speech_spans(talk, 24_000, PAPER_SETTINGS)),
}))
"""


def probe(python_path: Path, cwd: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(python_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools", "77")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    source = folder / "source"
    _copy_tracked(source)
    done = subprocess.run(
        [*command, "--quiet", "--wheel-dir", folder, source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def _copy_tracked(target: Path) -> None:
    """What a build from a clean checkout would see, without the checkout's build leftovers."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in names.stdout.splitlines():
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(source.read_bytes())


def test_the_wheel_holds_the_library_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"dsb_ifeval"}
    inside = {Path(name).name for name in names if name.startswith("dsb_ifeval/spec/")}
    assert inside == {path.name for path in (ROOT / "spec").glob("*.yaml")}
    assert any(name.endswith("talk.flac") for name in names)
    assert any(name.startswith("dsb_ifeval/vad/weights/") for name in names)


def test_the_wheel_has_every_library_module(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")}
    library = {str(path.relative_to(ROOT)) for path in (ROOT / "dsb_ifeval").rglob("*.py")}
    assert library <= inside


def test_the_wheel_works_from_elsewhere(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    found = probe(site, tmp_path)
    assert Path(str(found["spec"])) == site / "dsb_ifeval" / "spec"
    assert found["roles"] == 8
    assert found["spans"]


def test_a_checkout_works_from_elsewhere(tmp_path: Path) -> None:
    found = probe(ROOT, tmp_path)
    assert Path(str(found["spec"])) == ROOT / "spec"
    assert found["roles"] == 8


def test_the_installed_package_works_from_elsewhere(tmp_path: Path) -> None:
    """Whatever install the tests run in (scripts/test.sh: editable)."""
    found = probe(tmp_path, tmp_path)
    assert found["roles"] == 8
