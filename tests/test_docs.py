"""The README is run: its code, its commands and its links."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dsb_ifeval.cli import build_parser
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_model_shown_is_the_model_tested() -> None:
    shown = next(block for block in blocks("python") if "class Echo" in block)
    file = (ROOT / "runners" / "echo_model.py").read_text(encoding="utf-8")
    assert shown == file
    assert len(file.splitlines()) <= 40


@pytest.mark.slow
def test_the_python_example_runs(
    tiny_dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: object
) -> None:
    (tmp_path / "dsb-ifeval").symlink_to(tiny_dataset)
    monkeypatch.chdir(tmp_path)
    example = next(block for block in blocks("python") if "load_benchmark" in block)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()  # type: ignore[attr-defined]
    count = printed[-1].split()
    assert count[0] == count[2] != "0"  # the oracle passes all


def commands() -> list[list[str]]:
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    words = [shlex.split(line, comments=True) for line in lines]
    return [line[1:] for line in words if line[:1] == ["dsb-ifeval"]]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_is_understood(command: list[str]) -> None:
    assert build_parser().parse_args(command).handler is not None


def test_there_are_commands_to_check() -> None:
    assert len(commands()) >= 5


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "spec/README.md"])
def test_links_and_files_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        if not link.startswith("http"):
            assert ((ROOT / document).parent / link).exists(), link
    for script in re.findall(r"(?:scripts|benchmarks|runners)/\w+\.(?:py|sh)", text):
        assert (ROOT / script).exists(), script


def test_nothing_was_left_to_fill_in() -> None:
    for path in (ROOT / "README.md", ROOT / "spec" / "README.md", ROOT / "CHANGELOG.md"):
        assert not re.search(r"@@|TODO|TBD|/work/|/tmp/", path.read_text(encoding="utf-8")), path
