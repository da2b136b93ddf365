"""What the lock profile (docs/reference/results.md, vclock.locks) says of a point: which locks cost most, how long each class waits, who waits for
whom, what is taken while what is held, and what is waited for in a queue instead of a spin."""
# SPDX-License-Identifier: BSD-3-Clause
from common import plot

MOST_BLAMES = MOST_LOCKS = MOST_OF_REQUESTS = 8
MOST_EDGES = 16 # of the graph of waits
THIN, THICK = 1.5, 9 # its lines, in points
RANKS = ("p50", "p90", "p99", "p999", "max")
COLUMNS = ("waits", "wait mean", "p50", "p90", "p99", "p99.9", "max", "hold mean", "p50", "p99", "p99.9", "max")


def work_by_role(result):
    """role → part of its harts' busy time → share of that time."""
    out = {}
    for role in sorted({h["role"] for h in result["harts"]}):
        harts = [a for a, h in zip(result["vclock"]["locks"]["accounts"], result["harts"]) if h["role"] == role]
        busy = sum(a["cycles"] - a["idle"] for a in harts)
        parts = {stage: sum(a["work"][stage] for a in harts) for stage in harts[0]["work"]}
        parts.update({part: sum(a[part] for a in harts) for part in ("stalls", "charged")}, spin=sum(sum(a["spin"].values()) for a in harts))
        out[role] = {part: cycles / busy for part, cycles in parts.items()}
    return out


PARTS = ("cycles", "flash", "channel", "flash_queue", "link", "queued", "compute", "spin", "logical")


def requests(result):
    """(kind, slice) → mean µs of each part."""
    mhz = result["vclock"]["parameters"]["mhz"]
    return [{"kind": kind["kind"], "slice": name, "count": kind[name]["count"],
             **{part: kind[name][part] / kind[name]["count"] / mhz for part in PARTS}}
            for kind in result["vclock"]["locks"]["requests"] for name in ("all", "p99", "p999")]


LOCK_PARTS = ("spin", "held", "behind", "waits")


def of_requests(result):
    """The locks with the largest share of the requests' time: (kind, slice) → share in all, and its
    parts."""
    return [{"kind": kind["kind"], "slice": name, "lock": f"{lock['class']} {lock['index']}", "share": lock["share"],
             **{part: lock.get(part, 0) / kind[name]["cycles"] for part in LOCK_PARTS}}
            for kind in result["vclock"]["locks"]["requests"] for name in ("all", "p99", "p999") for lock in kind[name]["locks"][:MOST_OF_REQUESTS]]


def edges(blame):
    """Of the profile's pairs of places: function that waits, function that had taken the lock, class → waits and time, the most first."""
    found = {}
    for b in blame:
        edge = found.setdefault((function(b["waiter"]), function(b["holder"]), b["class"]), {"waits": 0, "wait_ns": 0})
        for part in edge:
            edge[part] += b[part]
    ranked = sorted(found.items(), key=lambda item: (-item[1]["wait_ns"], item[0]))
    return [{"waiter": waiter, "holder": holder, "class": name, **edge} for (waiter, holder, name), edge in ranked[:MOST_EDGES]]


def of_run(result):
    """Of one run; None if its device keeps no statistics of holds."""
    profile = result["vclock"].get("locks")
    if not profile or not profile["classes"]:
        return None
    worst = max(profile["classes"], key=lambda c: (c["wait"]["ns"], c["class"]))
    return {"classes": [{key: c[key] for key in ("class", "wait", "hold")} for c in profile["classes"]],
            "handovers": {"class": worst["class"], "times": worst["handovers"]},
            "lock": profile["locks"][0], "locks": [lock for lock in profile["locks"][:MOST_LOCKS] if lock["contended"]],
            "blame": profile["blame"][:MOST_BLAMES], "graph": edges(profile["blame"]), "nesting": profile["nesting"], "logical": profile["logical"],
            "work": work_by_role(result), "requests": requests(result), "ways": of_requests(result)}


def place(symbol):
    """Function and offset, without the address."""
    return symbol.split(" ")[0]


def function(symbol):
    return place(symbol).partition("+")[0]


def classes_table(profile):
    rows = [[c["class"], c["wait"]["count"], *(c["wait"][k] for k in ("mean", "p50", "p90", "p99", "p999", "max")),
             *(c["hold"][k] for k in ("mean", "p50", "p99", "p999", "max"))] for c in profile["classes"]]
    return ["class", *COLUMNS], rows


def blame_table(profile):
    return (["waits at", "for who took it at", "class", "times", "µs in all"],
            [[place(b["waiter"]), place(b["holder"]), b["class"], b["waits"], b["wait_ns"] / 1e3] for b in profile["blame"]])


def work_table(profile):
    parts = [part for part in next(iter(profile["work"].values())) if any(of_role[part] for of_role in profile["work"].values())]
    return ["role", *parts], [[role, *(100 * shares[part] for part in parts)] for role, shares in profile["work"].items()]


def requests_table(profile):
    return ["requests", "of them", "count", "µs in all", *PARTS[1:]], [[r["kind"], r["slice"], r["count"], *(r[part] for part in PARTS)]
                                                                     for r in profile["requests"]]


def ways_table(profile):
    return (["requests", "of them", "lock", "% of their time", *LOCK_PARTS],
            [[way["kind"], way["slice"], way["lock"], 100 * way["share"], *(100 * way[part] for part in LOCK_PARTS)] for way in profile["ways"]])


def logical_table(profile):
    rows = [[c["class"], c["acquisitions"], c["contended"], *(c["wait"][k] / 1e3 for k in ("mean", *RANKS)), c["depth_mean"], c["depth_max"]]
            for c in profile["logical"]]
    return ["logical lock", "had", "waits", "wait mean µs", "p50", "p90", "p99", "p99.9", "max", "found waiting", "most"], rows


def worst_lock(profile):
    lock = profile["lock"]
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


def top_locks(ax, locks):
    """Longest wait on top."""
    names = [f"{lock['class']} {lock['index']}" for lock in locks]
    drawn = ax.barh(names, [lock["wait_ns"] / 1e3 for lock in locks], color="#6f9fd0")
    ax.bar_label(drawn, [f"{100 * lock['contended'] / lock['acquisitions']:.0f} % of {lock['acquisitions']}" for lock in locks], fontsize=7, padding=2)
    ax.margins(x=0.35)
    ax.invert_yaxis()
    ax.set(xlabel="µs waited in all; contended share of acquisitions", title="Locks that were waited for longest")


def heights(names):
    """name → its place on one side of the graph, the first on top."""
    order = list(dict.fromkeys(names))
    return {name: (len(order) - at - 0.5) / len(order) for at, name in enumerate(order)}


def graph(ax, found):
    """Left who waits, right who had taken what it waits for: a line for each class of locks, as thick as its waits are long."""
    left, right, classes = heights(edge["waiter"] for edge in found), heights(edge["holder"] for edge in found), list(dict.fromkeys(edge["class"] for edge in found))
    most, named = max(edge["wait_ns"] for edge in found), set()
    for number, edge in enumerate(found):
        lift = 0.01 * (number % 5 - 2) # two classes of the same places stay apart
        line, = ax.plot([0, 1], [left[edge["waiter"]] + lift, right[edge["holder"]] + lift], linewidth=THIN + (THICK - THIN) * edge["wait_ns"] / most,
                        color=f"C{classes.index(edge['class'])}", alpha=0.7, label="_" * (edge["class"] in named) + f"class {edge['class']}")
        line.set_gid(f"{edge['waiter']} → {edge['holder']}, {edge['class']}: {edge['waits']:,} waits, {edge['wait_ns'] / 1e3:,.0f} µs")
        named.add(edge["class"])
    for side, at, names in (("right", -0.04, left), ("left", 1.04, right)):
        for name, height in names.items():
            ax.text(at, height, name, ha=side, va="center", fontsize=8)
    ax.set_xticks([0, 1], ["waits in", "for who took the lock in"])
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.set(xlim=(-1, 2), ylim=(-0.02, 1.02), title="Who waits for whom")
    ax.legend(frameon=False, fontsize=8)


def percentiles(ax, classes):
    for c in classes:
        ax.plot(range(len(RANKS)), [max(c["wait"][rank], 1) for rank in RANKS], marker="o", label=c["class"])
    ax.set_xticks(range(len(RANKS)), ["p50", "p90", "p99", "p99.9", "most"])
    ax.set(yscale="log", ylabel="ns", title="Waits of contended acquisitions")
    ax.legend(frameon=False, fontsize=8)


def nesting(ax, pairs):
    held, taken = (sorted({pair[key] for pair in pairs}) for key in ("holding", "takes"))
    cells = [[0] * len(taken) for _ in held]
    for pair in pairs:
        cells[held.index(pair["holding"])][taken.index(pair["takes"])] = pair["times"]
    most = max(map(max, cells))
    ax.imshow(cells, cmap="Blues", aspect="auto")
    ax.grid(visible=False)
    for row, counts in enumerate(cells):
        for column, times in enumerate(counts):
            ax.text(column, row, times or "", ha="center", va="center", fontsize=8, color="white" if times > most / 2 else "black")
    ax.set_xticks(range(len(taken)), taken)
    ax.set_yticks(range(len(held)), held)
    ax.set(xlabel="takes", ylabel="while holding", title="Locks taken under locks")


def pictures(page, profile):
    waited = [c for c in profile["classes"] if c["wait"]["count"]]
    drawn = [(draw, what) for draw, what in ((top_locks, profile["locks"]), (percentiles, waited), (nesting, profile["nesting"])) if what]
    if not drawn:
        return
    fig, axes = plot.figure(len(drawn))
    for ax, (draw, what) in zip(axes, drawn):
        draw(ax, what)
    page.picture(fig, "The locks that cost most, how long those who had to wait did by class of lock, and how often a lock was taken by who held one.")


def show(page, name, workers, profile):
    page.heading(f"Who waits for whom: {name}, {workers} workers, first seed (ns)")
    pictures(page, profile)
    page.table(*classes_table(profile))
    if profile["graph"]:
        fig, (ax,) = plot.figure(1, 3.6)
        graph(ax, profile["graph"])
        page.picture(fig, "Functions of the firmware that waited for a spin lock, and those that had taken it when the wait began. The thicker a line, the longer "
                     "its waits in all; in a browser it says how many and how long under the mouse.")
    page.text("What the harts of each role do when they are not idle, in % of that time: instructions by what they belong to, stalls, spinning.")
    page.table(*work_table(profile))
    page.text("Mean µs of a request, of all and of the slowest, from its fetch to its completion.")
    page.table(*requests_table(profile))
    page.text("Locks on the way of requests, in % of their time: a hart that works at the request spins for the lock, or holds it; the request is "
              "queued behind a hart that spins for it; it waits for a logical lock (turn: at its zone, for nothing that has a name).")
    page.table(*ways_table(profile))
    if profile["logical"]:
        page.text("Logical locks: what requests and zones wait for in a queue, not in a spin.")
        page.table(*logical_table(profile))
    if profile["lock"]["contended"]:
        page.text(worst_lock(profile))
        page.table(*blame_table(profile))
    if profile["handovers"]["times"]:
        fig, (ax,) = plot.figure(1, 4.0)
        heat_map(ax, profile["handovers"])
        page.picture(fig, "How often a lock of the class that waits longest went from one hart to another.")
