"""The number of threads of a call."""

from __future__ import annotations

import operator
import os
import sys

_MAX_THREADS = 1024
"""What the extension allows; no machine that reads files has more cores."""

_chosen: int | None = None
_cores: int | None = None


def set_threads(n: int | None, /) -> None:
    """Sets the number of threads that calls use without `threads=`, in this process.

    n : 1 or more, of which at most 1024 are used; None for the default: the environment variable HOLDALL_NUM_THREADS, else the number of cores
        that this process may use, and 1 in a task of Dask

    Raises ValueError below 1, TypeError for what is no integer.
    """
    global _chosen
    _chosen = None if n is None else _number(n)


def _number(n: int) -> int:
    n = operator.index(n)
    if n < 1:
        raise ValueError("a number of threads is 1 or more")
    return min(n, _MAX_THREADS)


def _default() -> int:
    global _cores
    if _cores is None:
        text = os.environ.get("HOLDALL_NUM_THREADS", "")
        if text.isdecimal() and int(text) > 0:
            _cores = int(text)
        elif hasattr(os, "sched_getaffinity"):
            _cores = len(os.sched_getaffinity(0))
        else:
            _cores = os.cpu_count() or 1
    return _cores


def _in_task() -> bool:
    """True in a task of Dask, whose scheduler has given the cores to its own threads."""
    distributed = sys.modules.get("distributed.worker")
    if distributed is not None and getattr(distributed.thread_state, "key", None) is not None:
        return True
    import threading

    # Dask's own threaded scheduler runs tasks in a pool of this name.
    return threading.current_thread().name.startswith("ThreadPoolExecutor") and "dask" in sys.modules


def threads(asked: int | None) -> int:
    """The number of threads of a call that asks for this number."""
    if asked is not None:
        return _number(asked)
    if _chosen is not None:
        return _chosen
    n = _default()
    return 1 if n > 1 and _in_task() else n
