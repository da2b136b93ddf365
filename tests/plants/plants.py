"""The five plants: each applies one recipe of CONTRIBUTING.md to a copy of the tree. Their files
are in new/, by place."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import shutil

NEW = pathlib.Path(__file__).resolve().parent / "new"

KIND = 'LT_LOCK_KIND(PLANTED, planted, "none", "the lock, written by each retry", "pauses as often as it has spun")\n'
KEY = """  timing.planted:
    help: added to the array time of each read
    type: duration
    default: 0
"""
POLICY = """/* The opposite of FIFO among those that are at most half valid: to copy the youngest again and again would gain nothing. */
static bool filled_after(const struct gc_view *view, const struct gc_candidate *a, const struct gc_candidate *b)
{
	if (a->valid * 2 > view->capacity || b->valid * 2 > view->capacity)
		return fewer_valid(view, a, b);
	return a->filled > b->filled;
}

"""


def add(tree, name):
    """A file or a folder of new/, where there is none yet."""
    if (tree / name).exists():
        raise AssertionError(f"{tree / name} is there already: a plant needs a name of its own")
    (shutil.copytree if (NEW / name).is_dir() else shutil.copy)(NEW / name, tree / name)


def put_before(path, anchor, text):
    """Inserts the text before the only match of a regular expression."""
    old = path.read_text(encoding="utf-8")
    found = list(re.finditer(anchor, old, re.M))
    if len(found) != 1:
        raise AssertionError(f"{path}: {len(found)} places match {anchor!r}; one is needed, to put this there: {text.strip()}")
    at = found[0].start()
    path.write_text(old[:at] + text + old[at:], encoding="utf-8")


def lock_kind(tree):
    add(tree, "libthread/locks/planted.c")
    put_before(tree / "libthread/CMakeLists.txt", r"locks/rw\.c", "locks/planted.c ")
    put_before(tree / "libthread/include/lt/lock_kinds.def", r"^#undef LT_LOCK_KIND$", KIND)


def device_key(tree):
    put_before(tree / "protocol/device_keys.yaml", r"^  timing\.read_age_limit:", KEY)
    put_before(tree / "firmware/tsu/tsu_timing.c", r"(?<=ns = region->read_ns\[type\]);", " + cfg->planted_ns")


def gc_policy(tree):
    put_before(tree / "protocol/device_keys.yaml", r"^      wear: ", "      planted: youngest of those at most half valid\n")
    put_before(tree / "firmware/ftl/gc/victim.c", r"^gc_better_fn \*const gc_policies\[", POLICY)
    put_before(tree / "firmware/ftl/gc/victim.c", r"^\t\[HZ_GC_WEAR\]", "\t[HZ_GC_PLANTED] = filled_after,\n")


def preset(tree):
    add(tree, "configs/devices/planted.yaml")


def study(tree):
    add(tree, "studies/planted")


# The most files that each may change or add. All that a study adds is one folder.
LIMITS = {lock_kind: 3, device_key: 2, gc_policy: 2, preset: 1, study: 1}
