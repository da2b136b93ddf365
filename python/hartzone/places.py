"""Places of the library, the program and the device files: named by the environment, built in the
tree of this package, or installed on the system."""
# SPDX-License-Identifier: BSD-3-Clause
import ctypes.util
import os
import pathlib
import shutil

from hartzone.errors import HartzoneError

try:
    from hartzone._tree import TREE
except ImportError:  # not installed: imported from the tree itself
    TREE = pathlib.Path(__file__).resolve().parents[2]


def _installed():
    """The prefix that the program in PATH is installed in, or None."""
    program = shutil.which("hartzone")
    return pathlib.Path(program).resolve().parents[1] if program else None


def _first(variable, below_tree, below_prefix, what):
    named = os.environ.get(variable)
    if named:
        if not os.path.exists(named):
            raise HartzoneError(f"{variable} names {named}, which does not exist")
        return named
    prefix = _installed()
    for path in [pathlib.Path(TREE) / below_tree, *([prefix / below_prefix] if prefix else [])]:
        if path.exists():
            return str(path)
    raise HartzoneError(f"{what} was not found: build it with ./hartzone build in {TREE}, put an installed hartzone into PATH, "
                        f"or name it in {variable}")


def libhartzone():
    found = ctypes.util.find_library("hartzone")
    try:
        return _first("HARTZONE_LIBRARY", "build/host/lib/libhartzone.so", "lib/libhartzone.so", "libhartzone.so")
    except HartzoneError:
        if found and not os.environ.get("HARTZONE_LIBRARY"):
            return found
        raise


def program():
    return _first("HARTZONE_DRIVER", "build/host/bin/hartzone", "bin/hartzone", "the hartzone program")


def device_file(device):
    """A file itself; a name as one of configs/devices."""
    if os.path.exists(device):
        return str(device)
    prefix = _installed()
    folders = [pathlib.Path(TREE) / "configs/devices", *([prefix / "share/hartzone/configs/devices"] if prefix else []),
               *([pathlib.Path(os.environ["HARTZONE_WITH"]) / "devices"] if os.environ.get("HARTZONE_WITH") else [])]
    for folder in folders:
        if (folder / f"{device}.yaml").exists():
            return str(folder / f"{device}.yaml")
    names = sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})
    raise HartzoneError(f"there is no device file {device}, and configs/devices has only {', '.join(names) or 'none'}")
