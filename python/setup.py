"""Packaging: the version is the tree's, and the package records its source tree, with the built
library and program."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re

from setuptools import setup
from setuptools.command.build_py import build_py

TREE = pathlib.Path(__file__).resolve().parents[1]


class BuildWithTree(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "hartzone" / "_tree.py"
        target.write_text(f'"""Where this package was installed from."""\nTREE = {str(TREE)!r}\n', encoding="utf-8")


def version():
    cmake = TREE / "CMakeLists.txt"
    found = re.search(r"project\(hartzone VERSION (\S+)", cmake.read_text(encoding="utf-8")) if cmake.exists() else None
    return found[1] if found else "0"


setup(version=version(), cmdclass={"build_py": BuildWithTree})
