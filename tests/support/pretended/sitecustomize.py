"""Lets a process and all its children have the pretended GPU: a folder for PYTHONPATH.

Python imports this module as it starts. The pretence begins once torch is imported: most processes
of a workflow never do that.
"""

import sys
import threading
from importlib.machinery import PathFinder


class Finder:
    """Finds torch, once, and begins the pretence in all threads when it is loaded."""

    def find_spec(self, name, path, _=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        self.load, spec.loader.exec_module = spec.loader.exec_module, self.load_and_begin
        return spec

    def load_and_begin(self, module):
        self.load(module)
        from support import pretence

        self.kept = pretence.pretended_cuda()  # it ends with its generator
        self.kept.__enter__()
        plain = threading.Thread.run

        def run(thread):
            with pretence.OnTheDevice():
                plain(thread)

        threading.Thread.run = run


sys.meta_path.insert(0, Finder())
