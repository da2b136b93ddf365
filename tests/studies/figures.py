"""A study's figures against its record, which the README files show."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "studies"))
from common import readme  # noqa: E402

# How near a figure must be with other programs than those of the record: another compiler, or a firmware changed since.
PERCENT_OF_IT, POINTS = 3.0, 2.0 # whichever is more, where the figure is itself in %


def has_plot(name):
    return hasattr(readme.module(name), "draw")


def same_programs(a, b):
    """Device time depends on these two; the driver only hands commands over."""
    return all(a[part] == b[part] for part in ("firmware", "plugin"))


def differences(name, found):
    """Sentences about figures, and digests, of a study.json that its record has otherwise. A study without a record has none."""
    if not readme.record_path(name).exists():
        return
    record = readme.record(name)
    exact, uncertain = same_programs(found["software"], record["software"]), getattr(readme.module(name), "UNCERTAIN", {})
    for figure in found["figures"]:
        here, there = figure["measured"], record["figures"].get(figure["name"])
        if there is None or not (here == there if exact else near(here, there, figure["unit"], uncertain.get(figure["name"], 1))):
            yield f"{figure['name']}: {here} {figure['unit']}, but the record says {there}"
    for point in found["points"]:
        if exact and point["digests"] != record["digests"].get(point["name"]):
            yield f"{point['name']}: the digests are others, though the programs are the same"


def near(here, there, unit, times):
    """A sentence is the same or another one."""
    if isinstance(here, str) or isinstance(there, str):
        return here == there
    return abs(here - there) <= times * max(PERCENT_OF_IT / 100 * abs(there), POINTS if unit == "%" else 0)
