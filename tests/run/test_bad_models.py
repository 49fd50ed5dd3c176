"""Badly written models cost their own cases, or are refused before the first one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dsb_ifeval.adapters import load_system
from dsb_ifeval.cli import main
from dsb_ifeval.dataset import Dataset
from dsb_ifeval.errors import AdapterUnavailable, DatasetError
from dsb_ifeval.plan import Selection
from dsb_ifeval.runner import RunOptions, prepare, record, run_system
from dsb_ifeval.verifiers import Outcome

pytestmark = pytest.mark.slow

HEAD = """
import sys
import numpy as np
from dsb_ifeval import Output

class Base:
    rate_hz = 24_000
    frame_samples = 1_920
    cases = 0
    def reset(self, prompt):
        Base.cases += 1
    def step(self, frame):
        return None

class Mine(BaseException):
    pass

class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no text")
"""


def model_file(folder: Path, body: str) -> str:
    path = folder / "bad.py"
    path.write_text(HEAD + "\n" + body)
    return f"{path}:Bad"


def in_step(code: str) -> str:
    return f"class Bad(Base):\n    def step(self, frame):\n        {code}\n"


SECOND_CASE_FAILS = {
    "exit in step": (in_step("if Base.cases == 2: sys.exit(0)"), "SystemExit"),
    "exit in reset": (
        "class Bad(Base):\n    def reset(self, prompt):\n        super().reset(prompt)\n"
        "        if Base.cases == 2: sys.exit('bye')\n",
        "SystemExit: bye",
    ),
    "own BaseException": (in_step("if Base.cases == 2: raise Mine('odd')"), "Mine: odd (bad.py:"),
    "unprintable": (in_step("if Base.cases == 2: raise Unprintable"), "cannot be shown"),
    "text is no text": (in_step("if Base.cases == 2: return Output(text=5)"), "not a string"),
    "list of floats": (in_step("if Base.cases == 2: return [0.5]"), "np.asarray"),
    "zero-dimensional": (in_step("if Base.cases == 2: return np.array(1.0)"), "returned ndarray"),
    "list in an Output": (
        in_step("if Base.cases == 2: return Output(audio=[0.5])"),
        "expected a numpy array",
    ),
    "an hour a frame": (
        in_step("if Base.cases == 2: return np.zeros(24_000 * 3600, np.float32)"),
        "waiting to be played",
    ),
    "settings no JSON": (
        "class Bad(Base):\n    @property\n    def settings(self):\n"
        "        return {'a': np.float32(1)} if Base.cases == 2 else {}\n",
        "settings of the model are not plain JSON",
    ),
}


@pytest.mark.parametrize("name", SECOND_CASE_FAILS)
def test_only_the_case_at_fault_is_lost(name: str, tiny_dataset: Path, tmp_path: Path) -> None:
    body, words = SECOND_CASE_FAILS[name]
    system = model_file(tmp_path, body)
    selection = Selection(roles=("R2",), levels=("L1", "L2"), limit=3)
    options = RunOptions(system, tiny_dataset, tmp_path / "run", {}, selection, progress=False)
    verdicts = run_system(options).verdicts
    unscored = [verdict for verdict in verdicts if verdict.outcome is Outcome.UNSCORED]
    assert [verdict.case_id for verdict in unscored] == [verdicts[1].case_id]
    assert words in unscored[0].reason
    log = (tmp_path / "run/logs/rank0.jsonl").read_text()
    logged = [json.loads(line) for line in log.splitlines()]
    assert "traceback" in logged[1]


def test_a_lone_surrogate_is_stored_as_a_replacement(tiny_dataset: Path, tmp_path: Path) -> None:
    system = model_file(tmp_path, in_step("return Output(text='a\\ud800')"))
    selection = Selection(limit=1)
    options = RunOptions(system, tiny_dataset, tmp_path / "run", {}, selection, progress=False)
    assert run_system(options).verdicts[0].outcome is not Outcome.UNSCORED


REFUSED = {
    "rate as text": ("rate_hz = '24000'", "rate_hz is '24000', expected a whole number"),
    "rate as float": ("rate_hz = 24000.0", "rate_hz is 24000.0"),
    "no rate": ("rate_hz = None", "rate_hz is None"),
    "odd rate": ("rate_hz = 11025", "does not divide into 20 ms chunks"),
    "zero output rate": ("output_rate_hz = 0", "output_rate_hz is 0"),
    "float frame": ("frame_samples = 1920.0", "frame_samples is 1920.0"),
    "endless frame": ("frame_samples = 10**9", "frame_samples is 1000000000"),
    "capabilities": ("capabilities = 'full'", "expected dsb_ifeval Capabilities"),
    "exit in init": ("def __init__(self): sys.exit(0)", "could not be loaded: SystemExit"),
    "raises in a property": (
        "@property\n    def rate_hz(self): raise RuntimeError('lazy')",
        "lazy",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_for_every_case_is_refused_at_once(name: str, tmp_path: Path) -> None:
    line, words = REFUSED[name]
    system = model_file(tmp_path, f"class Bad(Base):\n    {line}\n")
    with pytest.raises(AdapterUnavailable) as caught:
        load_system(system)
    assert words in str(caught.value)


@pytest.mark.parametrize("latency", ["-500", "float('nan')", "'soon'", "10**9"])
def test_an_impossible_latency_is_refused(latency: str, tmp_path: Path) -> None:
    body = (
        f"class Bad:\n    rate_hz = 16_000\n    latency_ms = {latency}\n"
        "    def reset(self, prompt): pass\n    def respond(self, turn): return None\n"
    )
    with pytest.raises(AdapterUnavailable, match="latency_ms"):
        load_system(model_file(tmp_path, body))


def test_exit_while_importing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(AdapterUnavailable, match="SystemExit"):
        load_system(f"{path}:Bad")


def test_a_forgotten_class_name_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(AdapterUnavailable, match="which class"):
        load_system(model_file(tmp_path, "class Bad(Base): pass").rpartition(":")[0])


def test_a_changed_model_file_is_another_system(
    tiny_dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = model_file(tmp_path, "class Bad(Base): pass")
    run = ["run", system, "--dataset", str(tiny_dataset), "--out", str(tmp_path / "run")]
    assert main([*run, "--limit", "1", "--no-progress"]) == 0
    model_file(tmp_path, "class Bad(Base): pass  # now better")
    assert main([*run, "--limit", "1", "--no-progress"]) == 2
    assert "source_sha256" in capsys.readouterr().err


def test_a_system_that_cannot_start_leaves_no_folder(
    tiny_dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for system in ("cascad", "nothing.py:Model"):
        assert main(["run", system, "--dataset", str(tiny_dataset)]) == 2
    assert not list(tmp_path.rglob("run.json"))


def damage_audio(folder: Path, case_id: str) -> None:
    """Cut one row's FLAC short, in place."""
    for path in folder.glob("data/*.parquet"):
        table = pq.ParquetFile(path).read()
        rows = table.column("turn1").to_pylist()
        ids = table.column("case_id").to_pylist()
        if case_id in ids:
            row = rows[ids.index(case_id)]
            row["bytes"] = row["bytes"][:2000]
            index = table.schema.get_field_index("turn1")
            field = table.schema.field(index)
            column = pa.array(rows, type=field.type)
            pq.write_table(table.set_column(index, field, column), path)


def test_damaged_user_audio_costs_its_own_case(tiny_dataset: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_dataset, tmp_path / "dsb-ifeval"))
    damage_audio(folder, "R2-C3-i1-L1")
    selection = Selection(roles=("R2",), levels=("L1",))
    options = RunOptions("oracle", folder, tmp_path / "run", {}, selection, progress=False)
    found = {verdict.case_id: verdict for verdict in run_system(options).verdicts}
    assert found["R2-C3-i1-L1"].outcome is Outcome.UNSCORED
    assert "user audio" in found["R2-C3-i1-L1"].reason
    assert {v.outcome for name, v in found.items() if name != "R2-C3-i1-L1"} == {Outcome.PASS}
    options = RunOptions("oracle", tiny_dataset, tmp_path / "run", {}, selection, progress=False)
    dataset = Dataset(tiny_dataset)  # the same manifest: the case is simply played again
    prepare(options, dataset)
    assert record(options, dataset).played == 1


def test_a_dataset_that_lacks_rows_is_refused(tiny_dataset: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_dataset, tmp_path / "dsb-ifeval"))
    shard = sorted(folder.glob("data/*.parquet"))[-1]
    table = pq.ParquetFile(shard).read()
    pq.write_table(table.slice(0, len(table) - 1), shard)
    with pytest.raises(DatasetError, match="not those of its manifest"):
        Dataset(folder)


def test_noise_in_the_record_is_unscored_not_failed(tiny_dataset: Path, tmp_path: Path) -> None:
    selection = Selection(roles=("R2",), levels=("L1",), limit=2)
    options = RunOptions("oracle", tiny_dataset, tmp_path / "run", {}, selection, progress=False)
    first, second = run_system(options).cases
    path = options.folder.recordings / f"{first.case_id}.rec.json"
    good = json.loads(path.read_text())
    for field, value in [
        ("turn2_onset_ms", "12"),
        ("turn2_onset_ms", -5),
        ("turn2_onset_ms", 1.5),
        ("turn2_onset_ms", None),
        ("end_ms", []),
        ("trigger_valid", 1),
    ]:
        damaged = {**good, "schedule": {**good["schedule"], field: value}}
        path.write_text(json.dumps(damaged))
        found = {v.case_id: v.outcome for v in score(options)}
        assert found == {first.case_id: Outcome.UNSCORED, second.case_id: Outcome.PASS}, field


def test_a_record_of_another_case_is_unscored(tiny_dataset: Path, tmp_path: Path) -> None:
    selection = Selection(roles=("R2",), probes=("C1",), levels=("L1", "L2"))
    options = RunOptions("oracle", tiny_dataset, tmp_path / "run", {}, selection, progress=False)
    first, second = run_system(options).cases
    for ending in ("stereo.flac", "rec.json"):
        shutil.copy(
            options.folder.recordings / f"{first.case_id}.{ending}",
            options.folder.recordings / f"{second.case_id}.{ending}",
        )
    verdicts = {v.case_id: v for v in score(options)}
    assert verdicts[second.case_id].outcome is Outcome.UNSCORED
    assert f"record of case '{first.case_id}'" in verdicts[second.case_id].reason


def test_a_truncated_recording_is_recorded_again(tiny_dataset: Path, tmp_path: Path) -> None:
    options = RunOptions(
        "silent", tiny_dataset, tmp_path / "run", {}, Selection(limit=2), progress=False
    )
    case = run_system(options).cases[0]
    path = options.folder.recordings / f"{case.case_id}.stereo.flac"
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    assert record(options, Dataset(tiny_dataset)).played == 1
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("run.json", "[]", "not the description of a run"),
        ("run.json", "{}", "not the description of a run"),
        ("cases.jsonl", "[]\n", "line 1"),
        ("cases.jsonl", None, "stands there twice"),
    ],
)
def test_a_damaged_run_folder(
    name: str,
    content: str | None,
    words: str,
    tiny_dataset: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = RunOptions(
        "silent", tiny_dataset, tmp_path / "run", {}, Selection(limit=1), progress=False
    )
    run_system(options)
    path = tmp_path / "run" / name
    path.write_text(path.read_text() * 2 if content is None else content)
    assert main(["score", str(tmp_path / "run")]) == 2
    assert words in capsys.readouterr().err


def test_an_option_that_is_no_number(
    tiny_dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--dataset", str(tiny_dataset), "--out", str(tmp_path / "run")]
    assert main(["run", "random", "--option", "seed=NaN", *where]) == 2
    assert "NaN" in capsys.readouterr().err


def score(options: RunOptions) -> tuple[object, ...]:
    from dsb_ifeval.score import score_run

    return score_run(options.folder.path).verdicts


def test_a_receive_that_never_waits_does_not_hang(tiny_dataset: Path) -> None:
    """Real time on purpose: the event loop itself is what could be starved."""
    import asyncio

    from dsb_ifeval.benchmark import load_benchmark
    from dsb_ifeval.clock import WallClock
    from dsb_ifeval.session import play_stream

    class Busy:
        sent = 0

        async def open(self, prompt: str) -> None: ...
        async def close(self) -> None: ...
        async def receive(self) -> None: ...

        async def send(self, chunk: np.ndarray) -> None:
            self.sent += 1
            if self.sent == 10:
                raise ConnectionError("gone")

        def decode(self, message: None) -> tuple[()]:
            return ()

    dataset = Dataset(tiny_dataset)
    stimulus = dataset.stimulus(dataset.cases[0])
    session = load_benchmark().session
    recording = asyncio.run(play_stream(Busy(), stimulus, session, "busy", WallClock()))
    assert recording.record.status == "failed"
