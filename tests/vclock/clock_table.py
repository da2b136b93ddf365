"""The table of docs/internals/clock-evidence.md: what plain multi-threaded emulation reports for the lock benchmark, beside the virtual clock.

Both columns run the same lockbench.elf. Numbers are completions per second of the machine's own time, relative to
one hart; in brackets the spread of the runs, (max - min) / mean. Prints Markdown. Needs HARTZONE_VCLOCK and
HARTZONE_FIRMWARE_DIR."""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import os
import sys

import lockbench
from suite import LOCKBENCH, PLUGIN, what_is_missing


def rate(kind, harts, think, section, duration_ns, plugin, timeout):
    """Completions per second, or None if the run does not end in time."""
    with lockbench.Lockbench(LOCKBENCH, harts, kind, think, section, think // 4, duration_ns, plugin=plugin) as m:
        try:
            if m.run(timeout):
                raise SystemExit(m.output)
        except AssertionError:
            return None
        r = m.results()
        return sum(r["operations"]) / duration_ns * 1e9


def cell(kind, harts, think, section, options, plugin):
    duration_ns = options.virtual_ns if plugin else options.real_ns
    runs = [rate(kind, harts, think, section, duration_ns, plugin, options.timeout) for _ in range(options.runs)]
    done = [r for r in runs if r is not None]
    if not done or not sum(done):
        return None, None
    return sum(done) / len(done), (max(done) - min(done)) / (sum(done) / len(done))


def row(kind, think, section, options, plugin):
    text, base = [], None
    for harts in options.harts:
        mean, spread = cell(kind, harts, think, section, options, plugin)
        base = base or mean
        text.append("no end" if mean is None else f"{mean / base:.3g} ({spread:.0%})")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--harts", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--kinds", nargs="+", default=lockbench.EXCLUDING)
    parser.add_argument("--think", type=int, nargs="+", default=[200, 2000], help="turns of 2 instructions")
    parser.add_argument("--section", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--real-ns", type=int, default=300_000_000)
    parser.add_argument("--virtual-ns", type=int, default=1_000_000)
    parser.add_argument("--timeout", type=float, default=30)
    options = parser.parse_args()
    problem = what_is_missing([("lockbench.elf", LOCKBENCH)])
    if problem:
        raise SystemExit(problem)
    print(f"{os.cpu_count()} host cores, load {os.getloadavg()[0]:.1f}; section {2 * options.section} instructions, "
          f"{options.runs} runs\n")
    print("| lock, think | clock | " + " | ".join(f"{n} harts" for n in options.harts) + " |")
    print("|---" * (len(options.harts) + 2) + "|")
    for think in options.think:
        for kind in options.kinds:
            for name, plugin in (("real", None), ("virtual", PLUGIN)):
                cells = row(kind, think, options.section, options, plugin)
                print(f"| {kind}, {2 * think} | {name} | " + " | ".join(cells) + " |")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
