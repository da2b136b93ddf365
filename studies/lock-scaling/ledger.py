"""What the ledger of locks (docs/results.md, vclock.locks) says of a point: how long each class waits, who waits for whom."""
# SPDX-License-Identifier: BSD-3-Clause
from common import plot

MOST_BLAMES = 8
COLUMNS = ("waits", "wait mean", "p50", "p90", "p99", "p99.9", "max", "hold mean", "p50", "p99", "p99.9", "max")


def of_run(result):
    """Of one run; None where its device keeps no statistics of holds."""
    ledger = result["vclock"].get("locks")
    if not ledger or not ledger["classes"]:
        return None
    worst = max(ledger["classes"], key=lambda c: (c["wait"]["ns"], c["class"]))
    return {"classes": [{key: c[key] for key in ("class", "wait", "hold")} for c in ledger["classes"]],
            "handovers": {"class": worst["class"], "times": worst["handovers"]},
            "lock": ledger["locks"][0], "blame": ledger["blame"][:MOST_BLAMES], "nesting": ledger["nesting"]}


def place(symbol):
    """Function and offset, without the address."""
    return symbol.split(" ")[0]


def classes_table(ledger):
    rows = [[c["class"], c["wait"]["count"], *(c["wait"][k] for k in ("mean", "p50", "p90", "p99", "p999", "max")),
             *(c["hold"][k] for k in ("mean", "p50", "p99", "p999", "max"))] for c in ledger["classes"]]
    return ["class", *COLUMNS], rows


def blame_table(ledger):
    return (["waits at", "for who took it at", "class", "times", "µs in all"],
            [[place(b["waiter"]), place(b["holder"]), b["class"], b["waits"], b["wait_ns"] / 1e3] for b in ledger["blame"]])


def worst_lock(ledger):
    lock = ledger["lock"]
    return (f"The lock that was waited for longest is {lock['class']} {lock['index']}: {lock['acquisitions']} acquisitions, {lock['contended']} of "
            f"them contended, {lock['handovers']} by another hart than before. Jain's fairness over the harts that took it is "
            f"{lock['fairness']:.2f}, the longest row of one hart {lock['longest_streak']}; who came to wait found {lock['depth_mean']:.2f} "
            f"waiting on average, {lock['depth_max']} at most.")


def heat_map(ax, handovers):
    harts = sorted({hart for pair in handovers["times"] for hart in pair[:2]})
    at = {hart: i for i, hart in enumerate(harts)}
    cells = [[0] * len(harts) for _ in harts]
    for before, after, times in handovers["times"]:
        cells[at[before]][at[after]] = times
    ax.imshow(cells, cmap="Blues")
    ax.grid(visible=False)
    ax.set_xticks(range(len(harts)), harts)
    ax.set_yticks(range(len(harts)), harts)
    ax.set(xlabel="to hart", ylabel="from hart", title=f"Hand-overs, class {handovers['class']}")


def show(page, name, workers, ledger):
    page.heading(f"Who waits for whom: {name}, {workers} workers, first seed (ns)")
    page.table(*classes_table(ledger))
    if ledger["lock"]["contended"]:
        page.text(worst_lock(ledger))
        page.table(*blame_table(ledger))
    if ledger["handovers"]["times"]:
        fig, (ax,) = plot.figure(1, 4.0)
        heat_map(ax, ledger["handovers"])
        page.picture(fig, "How often a lock of the class that waits longest went from one hart to another.")
