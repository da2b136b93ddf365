"""Lock curves of bench rtl: the cases, the rates of two machines side by side, errors and ranks."""
# SPDX-License-Identifier: BSD-3-Clause
import schema

# Turns of two instructions: think and its spread, section; lines written by a section besides its
# own, or read by a look-up; look-ups of 16 works; cycles counted; kinds, if not all.
CASES = {
    "L1": {"think": 200, "spread": 50, "section": 50, "lines": 0, "looks": 0, "cycles": 60_000},
    "L2": {"think": 25, "spread": 6, "section": 10, "lines": 0, "looks": 0, "cycles": 30_000},
    "L3": {"think": 200, "spread": 50, "section": 50, "lines": 4, "looks": 0, "cycles": 60_000},
    "M1": {"think": 100, "spread": 25, "section": 10, "lines": 4, "looks": 15, "cycles": 30_000, "kinds": ("mcs", "rw", "seq", "combine")},
}
KINDS = ("tas", "ttas", "ticket", "mcs", "clh", "backoff", "rw", "seq", "combine")
WARM = 5000       # cycles before counting begins: code and data are in the caches then
TELLS_APART = 0.02 # rates that are as near as this have no order


def cells(cases, kinds, harts):
    return [(case, kind, n) for case in cases for kind in kinds if kind in CASES[case].get("kinds", kinds) for n in harts]


def words(cell, seed):
    case, kind, _ = cell
    of = CASES[case]
    return [schema.lock_kind_names().index(kind), of["think"], of["spread"], of["section"], of["lines"], WARM, of["cycles"], seed, of["looks"]]


def rate(answer, cell):
    """Sections in 1000 cycles, of all harts."""
    if answer[0] != 1:
        raise ValueError(f"the lock of {cell} did not exclude, or a look-up was torn")
    return 1000 * sum(answer[1:]) / CASES[cell[0]]["cycles"]


def errors(rtl, clock):
    """cell → relative error of the virtual clock's rate."""
    return {cell: clock[cell] / rtl[cell] - 1 for cell in rtl}


def mean(errs):
    return sum(map(abs, errs)) / len(errs)


def order(rates):
    """Kinds, best first."""
    return sorted(rates, key=lambda kind: -rates[kind])


def swapped(rtl, clock):
    """Pairs of kinds that the RTL orders significantly, and the virtual clock the other way round.
    """
    return [(a, b) for a in rtl for b in rtl if rtl[a] > rtl[b] * (1 + TELLS_APART) and clock[a] < clock[b]]


def ranks(rtl, clock):
    """(case, harts) → both orders of the kinds, and the swapped pairs."""
    out = {}
    for case, n in dict.fromkeys((case, n) for case, _, n in rtl):
        of = [{kind: rates[c, kind, m] for c, kind, m in rates if (c, m) == (case, n)} for rates in (rtl, clock)]
        out[case, n] = {"rtl": order(of[0]), "clock": order(of[1]), "swapped": swapped(*of)}
    return out


def summary(rtl, clock):
    """case or `all` → mean and greatest error."""
    errs = errors(rtl, clock)
    groups = {case: [e for cell, e in errs.items() if cell[0] == case] for case in dict.fromkeys(cell[0] for cell in errs)}
    groups["all"] = list(errs.values())
    return {name: {"mean": mean(of), "most": max(map(abs, of))} for name, of in groups.items()}


def rows(rtl, clock):
    """A line for each case and kind: RTL, virtual clock and error by harts."""
    errs = errors(rtl, clock)
    harts = sorted({n for _, _, n in rtl})
    return [[f"{case} {kind}", *(f"{rtl[case, kind, n]:.2f}/{clock[case, kind, n]:.2f} ({100 * errs[case, kind, n]:+.0f} %)" for n in harts)]
            for case, kind in dict.fromkeys((case, kind) for case, kind, _ in rtl)]
