"""Which file this process reads: the packaged one, or the operator's projection.

The rules:

 1. SECOND_BRAIN_CORPUS, then AYLLU_BRAIN_CORPUS, name a JSONL projection or a built ``.db``; with
    neither set, it is the packaged file.
 2. SECOND_BRAIN_CORPUS_SHA256 pins that file's bytes, the JSONL's or the ``.db``'s.
 3. A JSONL is built once into the user's cache under its digest and reused; where the cache cannot be
    written, it is built into a temporary folder for this process.
 4. Whatever fails stops with a message that names the variable. The packaged file never steps in.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
import threading
import unicodedata
from pathlib import Path

from secondbrain import resources, text
from secondbrain.digests import sha256_file
from secondbrain.errors import (
    ConfigurationError,
    CorpusIntegrityError,
    IntegrityError,
    SecondBrainError,
    StoreIntegrityError,
)
from secondbrain.projection.aliases import BUILT_IN
from secondbrain.settings import PREFIX, Settings
from secondbrain.store import schema
from secondbrain.store.opened import Store

_PACKAGED = "built with the package; reinstall it, or run `pip install -e .` in a checkout"
_lock = threading.Lock()
_stores: dict[Settings, Store] = {}


def default_store() -> Store:
    """Return the store that the environment names, the same object for the same settings.

    Raises ConfigurationError, CorpusIntegrityError or StoreIntegrityError that names the variable.
    """
    settings = Settings.from_environment()
    with _lock:
        store = _stores.get(settings)
        if store is None:
            store = _stores[settings] = locate(settings)
    return store


def locate(settings: Settings) -> Store:
    """Return the store that settings name, built into the cache where it is a projection."""
    if settings.corpus is None:
        packaged = resources.packaged_database()
        if not packaged.is_file():
            raise StoreIntegrityError(f"{packaged}: the packaged database is missing; it is {_PACKAGED}")
        return Store(packaged)
    variable = settings.corpus_variable
    path = Path(settings.corpus)
    try:
        return _operators_store(path, settings)
    except OSError as error:
        failure: type[SecondBrainError] = ConfigurationError
        reason = f"cannot be read: {error.strerror}"
    except (IntegrityError, ConfigurationError) as error:
        failure, reason = type(error), str(error)
    raise failure(f"{variable}={path}: {reason}. Correct the file or the variable, or unset it")


def _operators_store(path: Path, settings: Settings) -> Store:
    if not path.is_file():
        raise ConfigurationError("no such file")
    pin = settings.corpus_sha256
    database = _is_database(path)
    found = sha256_file(path) if pin is not None or not database else ""
    if pin is not None and found != pin:
        raise StoreIntegrityError(f"its SHA-256 is {found}, {PREFIX}CORPUS_SHA256 pins {pin}")
    if database:
        store = Store(path, pin=pin)
        store.snapshot()
        return store
    if (size := path.stat().st_size) > settings.max_bytes:
        raise CorpusIntegrityError(f"it has {size} bytes; {PREFIX}MAX_BYTES admits {settings.max_bytes}")
    cached = settings.cache_folder() / f"{found}-{_builder_key()}.db"
    try:
        store = Store(cached)
        snapshot = store.snapshot()
    except StoreIntegrityError:
        pass  # not built yet, or damaged: in both cases a build from the projection is the remedy
    else:
        if snapshot.chunk_count > settings.max_rows:
            rows = snapshot.chunk_count
            raise CorpusIntegrityError(f"it has {rows} rows; {PREFIX}MAX_ROWS admits {settings.max_rows}")
        if snapshot.generation_sha256 == found:
            return store
    return _built(path, cached, found, settings)


def _built(path: Path, cached: Path, wanted: str, settings: Settings) -> Store:
    # The builder is large and needed once for a projection: the search path does without it.
    from secondbrain.store.build import build

    try:
        cached.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cached.parent):
            pass
    except OSError:
        folder = tempfile.mkdtemp(prefix="second-brain-")
        atexit.register(_remove, folder, os.getpid())
        cached = Path(folder) / cached.name
    built = build(path, cached, max_bytes=settings.max_bytes, max_rows=settings.max_rows)
    if built.generation_sha256 != wanted:
        raise StoreIntegrityError("the file changed while it was read")
    return Store(cached)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a process that was forked off ends earlier: its parent still reads there
        shutil.rmtree(folder, ignore_errors=True)


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


# A thread that held it while the process forked is not there to let it go.
os.register_at_fork(after_in_child=_renew_lock)


def _is_database(path: Path) -> bool:
    return path.suffix == ".db" or schema.read_header(path) is not None


def _builder_key() -> str:
    """Return what, besides the projection, a built file depends on: schema, text preparation, libraries."""
    import Stemmer  # importlib.metadata, which knows its version too, would cost a tenth of a start

    parts = [step.sql for step in schema.steps()] + [repr(BUILT_IN)]
    parts += [Path(text.__file__).read_text(encoding="utf-8"), Stemmer.version(), unicodedata.unidata_version]
    return hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()[:16]
