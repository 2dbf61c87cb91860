"""Lets a process and all its children have the pretended GPU: a folder for PYTHONPATH.

Python imports this module as it starts. The pretence begins once torch is imported: most processes
of a workflow never do that.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class Finder(MetaPathFinder):
    """Finds torch, once."""

    def find_spec(self, name: str, path: Sequence[str] | None, _: Any = None) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = ThenPretend(spec.loader)  # type: ignore[assignment]
        return spec


class ThenPretend(Loader):
    """Loads a module, and begins the pretence."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        import pretence

        self.pretended = pretence.pretended_cuda()  # kept: it ends with its generator
        self.pretended.__enter__()
        begin = threading.Thread.run

        def run(thread: threading.Thread) -> None:
            with pretence.OnTheDevice():
                begin(thread)

        threading.Thread.run = run  # type: ignore[method-assign]


sys.meta_path.insert(0, Finder())
