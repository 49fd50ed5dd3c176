"""The segment cache and the speaking of what it lacks."""

from __future__ import annotations

import tokenize
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from dataset_builder.cache import Request, SegmentCache
from dataset_builder.clips import Clip, make_clip
from dataset_builder.synthesis import missing_requests, synthesize_all
from dsb_ifeval.errors import FileError

from .conftest import ToneEngine

pytestmark = pytest.mark.unit

HELLO = Request("hello there", "alto")


@pytest.fixture
def cache(tmp_path: Path) -> SegmentCache:
    return SegmentCache(tmp_path / "segments", ToneEngine())


def _clip(request: Request) -> Clip:
    return make_clip(ToneEngine().synthesize(request.spoken_text, request.voice))


def test_round_trip(cache: SegmentCache) -> None:
    assert cache.load(HELLO) is None
    clip = _clip(HELLO)
    cache.store(HELLO, clip)
    loaded = cache.load(HELLO)
    assert loaded is not None
    assert np.array_equal(loaded.pcm, clip.pcm)
    assert loaded.words == clip.words


def test_key_holds_everything_that_changes_a_sample(tmp_path: Path) -> None:
    def path(request: Request = HELLO, **changes: object) -> Path:
        engine = ToneEngine()
        for name, value in changes.items():
            setattr(engine, name, value)
        return SegmentCache(tmp_path, engine).path(request)

    versions: Mapping[str, str] = {"tone": "2"}
    paths = [
        path(),
        path(Request("hello here", "alto")),
        path(Request("hello there", "bass")),
        path(name="other"),
        path(model_sha256="1" * 64),
        path(speed=1.1),
        path(versions=versions),
    ]
    assert len(set(paths)) == len(paths)
    assert path() == path()


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "text"])
def test_corrupt_entries_are_spoken_again(cache: SegmentCache, damage: str) -> None:
    clip = _clip(HELLO)
    cache.store(HELLO, clip)
    path = cache.path(HELLO)
    data = bytearray(path.read_bytes())
    if damage == "flipped":
        data[len(data) // 2] ^= 0xFF
    path.write_bytes({"truncated": data[:-100], "empty": b"", "text": b"hello"}.get(damage, data))
    with pytest.warns(UserWarning, match="corrupt cache entry, speaking it again"):
        missing = missing_requests([HELLO], cache)
    assert missing == [HELLO]
    synthesize_all(missing, ToneEngine(), cache, cache.folder, 1, lambda request: None)
    loaded = cache.load(HELLO)
    assert loaded is not None
    assert np.array_equal(loaded.pcm, clip.pcm)


@pytest.mark.parametrize(
    ("old", "new"), [(b"{'descr'", b"{(((scr'"), (b"pcm.npy", b"pcn.npy"), (b"PK", b"KP")]
)
def test_damage_of_any_kind_is_a_warning(cache: SegmentCache, old: bytes, new: bytes) -> None:
    cache.store(HELLO, _clip(HELLO))
    path = cache.path(HELLO)
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    with pytest.warns(UserWarning, match="corrupt cache entry, speaking it again"):
        assert cache.load(HELLO) is None


@pytest.mark.parametrize("error", [NotImplementedError, tokenize.TokenError, MemoryError])
def test_any_exception_while_loading_is_a_warning(
    cache: SegmentCache, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("damaged")

    cache.store(HELLO, _clip(HELLO))
    monkeypatch.setattr(np, "load", fail)
    with pytest.warns(UserWarning, match="corrupt cache entry, speaking it again"):
        assert missing_requests([HELLO], cache) == [HELLO]


def test_an_interrupted_write_leaves_nothing(
    cache: SegmentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: object, **arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(FileError, match="No space left"):
        cache.store(HELLO, _clip(HELLO))
    assert [path for path in cache.folder.rglob("*") if path.is_file()] == []


def test_only_missing_segments_are_spoken_once(cache: SegmentCache) -> None:
    engine = ToneEngine()
    requests = [HELLO, Request("a b c d", "bass"), HELLO]
    done: list[Request] = []
    missing = missing_requests(requests, cache)
    synthesize_all(missing, engine, cache, cache.folder, 1, done.append)
    assert done == [HELLO, Request("a b c d", "bass")]  # the longest text first
    assert missing_requests(requests, cache) == []
    assert len(engine.spoken) == 2
