"""What plain YAML scalars become, and keys written twice."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dsb_ifeval.benchmark.checks import Problems, read_yaml
from dsb_ifeval.benchmark.load import FILES
from dsb_ifeval.benchmark.strict_yaml import parse_yaml
from dsb_ifeval.paths import spec_dir


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("2.50", 2.5),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("012", "012"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1e3", "1e3"),
        (".5", ".5"),
        (".inf", ".inf"),
        ("yes", "yes"),
        ("Off", "Off"),
        ("True", "True"),
        ("2024-01-01", "2024-01-01"),
        ("1,5", "1,5"),
        ('"12"', "12"),
        ("s5.off + 10", "s5.off + 10"),
    ],
)
def test_plain_scalars(written: str, value: object) -> None:
    document, duplicates = parse_yaml(f"key: {written}\n")
    assert document == {"key": value}
    assert type(document["key"]) is type(value)
    assert duplicates == ()


def test_keys_written_twice_are_all_found() -> None:
    _, duplicates = parse_yaml("a: 1\nb: {c: 1, c: 2}\na: 3\n")
    assert sorted((found.line, found.key) for found in duplicates) == [(2, "c"), (3, "a")]


def test_a_key_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("1: x\n")
    problems = Problems()
    read_yaml(path, problems, "a.yaml").done()
    assert problems.lines == ("a.yaml: 1: got the key 1, expected text (in quotes)",)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("9" * 5000, f"cannot read '{'9' * 56}... as int"),
        ("!!int abc", "cannot read 'abc' as int"),
        ('!!int ""', "cannot read '' as int"),
        ("!!bool abc", "cannot read 'abc' as bool"),
        ("!!timestamp abc", "cannot read 'abc' as timestamp"),
    ],
)
def test_a_value_that_does_not_fit_its_tag(tmp_path: Path, written: str, expected: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"a: 1\nb:\n  - c: {written}\n")
    problems = Problems()
    assert read_yaml(path, problems, "a.yaml").quiet
    assert problems.lines == (f"a.yaml: line 3, column 8: not YAML: {expected}",)


@pytest.mark.parametrize("name", FILES)
def test_any_yaml_library_reads_spec_the_same_way(name: str) -> None:
    text = (spec_dir() / f"{name}.yaml").read_text(encoding="utf-8")
    assert parse_yaml(text)[0] == yaml.safe_load(text)
