"""Speaking the segments that the cache does not hold, in this process or in workers.

Workers are started with ``spawn`` (a forked copy of a loaded model is not safe), make one
engine each and write clips into the cache themselves; only the request travels.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from .cache import Request, SegmentCache
from .clips import make_clip
from .engines import Engine, create_engine
from .errors import BuildError

Report = Callable[[Request], None]

MAX_DEFAULT_JOBS = 8
"""A kokoro process needs up to 0.8 GB of memory; more of them have to be asked for."""


def missing_requests(requests: Collection[Request], cache: SegmentCache) -> list[Request]:
    """The distinct requests without a readable clip, longest first (workers end together)."""
    missing = [request for request in set(requests) if cache.load(request) is None]
    return sorted(missing, key=lambda request: (-len(request.spoken_text), request))


def synthesize_all(
    requests: list[Request],
    engine: Engine,
    cache: SegmentCache,
    models: Path,
    jobs: int | None,
    report: Report,
) -> None:
    """Speak every request into the cache.

    Args:
        models: where engines keep converted models.
        jobs: worker processes; 1 speaks in this process, None takes what pays off here.
        report: called after each segment.

    Raises:
        SynthesisError: a segment cannot be spoken.
        BuildError: a worker process died.
    """
    if jobs is None:
        worth_it = round(len(requests) / engine.segments_per_worker)
        jobs = min(os.cpu_count() or 1, MAX_DEFAULT_JOBS, worth_it)
    if jobs <= 1 or len(requests) <= 1:
        for request in requests:
            _speak(engine, cache, request)
            report(request)
        return
    engine.prepare()
    initargs = (engine.name, models, cache.folder)
    for request in _speak_in_workers(requests, initargs, jobs):
        report(request)


def _speak_in_workers(
    requests: list[Request], initargs: tuple[str, Path, Path], jobs: int
) -> Iterator[Request]:
    pool = ProcessPoolExecutor(
        min(jobs, len(requests)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=initargs,
    )
    try:
        futures = {pool.submit(_speak_here, request): request for request in requests}
        for future in as_completed(futures):
            future.result()
            yield futures[future]
    except BrokenProcessPool as error:
        raise BuildError(
            "a speech worker died (out of memory?); what it finished is kept: run the build "
            "again, perhaps with --jobs 1"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _speak(engine: Engine, cache: SegmentCache, request: Request) -> None:
    cache.store(request, make_clip(engine.synthesize(request.spoken_text, request.voice)))


_worker: tuple[Engine, SegmentCache] | None = None


def _start_worker(engine_name: str, models: Path, folder: Path) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent to handle
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    engine = create_engine(engine_name, models)
    _worker = engine, SegmentCache(folder, engine)


def _exit_with_parent() -> None:
    """A worker whose parent was killed would wait for work forever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _speak_here(request: Request) -> None:
    assert _worker is not None
    engine, cache = _worker
    _speak(engine, cache, request)
