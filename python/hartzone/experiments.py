"""Runs of the hartzone program, one or a grid of them, and their results."""
# SPDX-License-Identifier: BSD-3-Clause
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from hartzone import places
from hartzone.errors import HartzoneError

KINDS = ("read", "write", "flush", "zone", "gc_read", "gc_write", "trim")


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise HartzoneError("DataFrames need pandas: install it (pip install pandas, or Debian's python3-pandas); "
                            "rows() has the same without it") from error
    return pandas


class Result(dict):
    """result.json of a run (docs/reference/results.md), whose `parameters` are those of this run."""

    def __init__(self, values, parameters):
        super().__init__(values)
        self.parameters = parameters

    def rows(self):
        """A dictionary for each kind of command that occurred: throughput and latency."""
        return [{**self.parameters, "command": kind, "ops": of["ops"], "bytes": of["bytes"], "errors": of["errors"], "iops": of["iops"],
                 "mib_s": of["mib_s"], **{f"latency_{name}_ns": value for name, value in of["latency_ns"].items()}}
                for kind, of in ((kind, self["totals"][kind]) for kind in KINDS) if of["ops"]]

    def frame(self):
        """rows() as a pandas DataFrame."""
        return _pandas().DataFrame(self.rows())


class Sweep(list):
    """The results of a sweep, in the order of the grid."""

    def rows(self):
        """A dictionary for each run: its parameters and its headline figures."""
        return [{**result.parameters, "iops": sum(result["totals"][kind]["iops"] for kind in ("read", "write")),
                 "mib_s": sum(result["totals"][kind]["mib_s"] for kind in ("read", "write")), "waf": result["waf"],
                 "elapsed_ns": result["elapsed_ns"], "digest": result["digest"]} for result in self]

    def frame(self):
        """rows() as a pandas DataFrame."""
        return _pandas().DataFrame(self.rows())

    def commands(self):
        """Result.frame() of all runs, one below the other."""
        return _pandas().DataFrame([row for result in self for row in result.rows()])


def _words(parameters):
    words = []
    for name, value in parameters.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value not in (None, False):
            words += [option, str(value)]
    return words


def _with_files(folder, parameters):
    """Descriptions given as dictionaries become files; JSON is YAML."""
    out = dict(parameters)
    for name in ("device", "workload"):
        if isinstance(out.get(name), dict):
            path = pathlib.Path(folder) / f"{name}.yaml"
            path.write_text(json.dumps(out[name]), encoding="utf-8")
            out[name] = path
    return out


def run(**parameters):
    """One run: every option of ./hartzone run, with _ for -: run(device="small", workload="mixed", workers=4, queue_depth=8, quick=True).

    device and workload: a name, a file, or the description itself as a dictionary. Options without a value are True. Returns a Result;
    raises HartzoneError with the program's sentence if the run fails."""
    with tempfile.TemporaryDirectory(prefix="hartzone-run-") as folder:
        out = parameters.get("out") or folder
        words = _words({**_with_files(folder, parameters), "out": out})
        done = subprocess.run([places.program(), "run", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HartzoneError((done.stderr.strip().splitlines() or [f"the run ended with status {done.returncode}"])[-1])
        values = json.loads((pathlib.Path(out) / "result.json").read_text(encoding="utf-8"))
    return Result(values, {name: value for name, value in parameters.items() if not isinstance(value, dict) and name != "out"})


def _laid_over(parameters, point):
    """"device.harts.workers" names a key of the device's description, which must be a dictionary then."""
    out = json.loads(json.dumps({name: value for name, value in parameters.items() if isinstance(value, dict)}))
    out = {**parameters, **out}
    for name, value in point.items():
        head, *keys = name.split(".")
        if not keys:
            out[name] = value
            continue
        inner = out.setdefault(head, {})
        for key in keys[:-1]:
            inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner
        if not isinstance(inner, dict):
            raise HartzoneError(f"{name}: give {head} as a dictionary to sweep over a key of it")
        inner[keys[-1]] = value
    return out


def sweep(grid, **parameters):
    """A run for every combination of the grid's values: sweep({"workers": [1, 2, 4], "queue_depth": [1, 16]}, workload="mixed").

    The first name changes slowest. A key of a description is named with dots, "device.slc.superblocks". Progress is shown on a terminal."""
    for name, values in grid.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise HartzoneError(f"{name}: give a list of values to sweep over, not {values!r}")
    points = [dict(zip(grid, values)) for values in itertools.product(*(list(values) for values in grid.values()))]
    results, begun = Sweep(), time.monotonic()
    for number, point in enumerate(points):
        if sys.stderr.isatty():
            left = f", {(time.monotonic() - begun) / number * (len(points) - number):.0f} s left" if number else ""
            print(f"\r\033[Krun {number + 1} of {len(points)}{left}", end="", file=sys.stderr, flush=True)
        result = run(**_laid_over(parameters, point))
        result.parameters = {**{name: value for name, value in parameters.items() if not isinstance(value, dict)}, **point}
        results.append(result)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return results
