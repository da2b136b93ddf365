"""Pictures of the lock study, and its page."""
# SPDX-License-Identifier: BSD-3-Clause
import growth
import lock_profile
import open_loop
import scaling
from common import plot
from common.page import Page
from common.usl import usl


DASHES = ("-", "--", ":", "-.", (0, (1, 3)), (0, (6, 3)))
FEW = 3 # lines, through which laws are drawn


def way_of(line):
    return line.granularity, line.architecture, line.load, line.firmware


def looks(found):
    """line → how it is drawn: a colour for each firmware and way to divide the locks (or for each kind, if there is one), dashes for each kind."""
    ways = list(dict.fromkeys(way_of(line) for line in found))
    kinds = list(dict.fromkeys(line.kind for line in found))
    if len(ways) == 1:
        return {line: {"color": f"C{kinds.index(line.kind)}", "linestyle": "-"} for line in found}
    return {line: {"color": f"C{ways.index(way_of(line))}", "linestyle": DASHES[kinds.index(line.kind) % len(DASHES)]}
            for line in found}


def names(found):
    """line → its name, without the architecture that all have."""
    shown = len({line.architecture for line in found}) > 1
    return {line: line.name if shown else line._replace(architecture="pipeline").name for line in found}


def legend(ax, found):
    ax.legend(frameon=False, fontsize=None if len(found) <= 2 * FEW else 8)


def throughput(ax, found):
    """Measured points; of few lines with three worker counts or more the law through them, beyond them too."""
    for key, look in looks(found).items():
        line = found[key]
        workers = [w for w, _ in line]
        growth.bars(ax, line, color=look["color"])
        law = usl([(w, p["kiops"]) for w, p in line]) if len(found) <= FEW else None
        beyond = [n / 4 for n in range(4, 4 * 2 * max(workers) + 1)] if law else workers
        ax.plot(beyond, [law.at(n) for n in beyond] if law else [p["kiops"] for _, p in line], linewidth=1, label=names(found)[key], **look)
    ax.set(xlabel="FTL workers", ylabel="KIOPS (device time)", ylim=(0, None), title="Throughput")
    legend(ax, found)


def time_lost(ax, found):
    for key, look in looks(found).items():
        ax.plot([w for w, _ in found[key]], [100 * scaling.lost(p) for _, p in found[key]], marker="o", label=key.name, **look)
    ax.set(xlabel="FTL workers", ylabel="% of worker time", ylim=(0, None), title="Time lost to locks")


def stack(ax, name, line):
    """Of N workers, how many work, spin by class, or wait for others: the steps down from N to the
    effective number."""
    uses = ["work", *sorted({use for _, p in line for use in p["time"] if use.startswith("spin")}), "idle"]
    at, below = range(len(line)), [0.0] * len(line)
    for use in uses:
        heights = [workers * p["time"].get(use, 0.0) for workers, p in line]
        ax.bar(at, heights, 0.7, bottom=below, label=use, color={"work": "#a9bccd", "idle": "#dddddd"}.get(use))
        below = [b + h for b, h in zip(below, heights)]
    ax.set_xticks(at, [str(workers) for workers, _ in line])
    ax.set(xlabel="FTL workers", ylabel="workers", title=name)
    ax.legend(frameon=False, fontsize=8)


def roles(ax, found):
    key, line = max(found.items(), key=lambda item: item[1][-1][1]["kiops"]) # the fastest line is the one that may be limited by them
    for role in line[0][1]["busy"]:
        ax.plot([w for w, _ in line], [100 * p["busy"][role] for _, p in line], marker="o", label=role)
    ax.set(xlabel="FTL workers", ylabel="% of its time", ylim=(0, 100), title=f"Busiest harts, and the link ({names(found)[key]})")
    ax.legend(frameon=False)


def of_costs(measured, costs):
    return {key: line for key, line in scaling.lines(measured).items() if key.costs == costs}


def overview(measured, costs):
    found, (fig, (speed, loss, busy)) = of_costs(measured, costs), plot.figure(3)
    throughput(speed, found)
    time_lost(loss, found)
    roles(busy, found)
    return fig


def stacks(found):
    fig, axes = plot.figure(len(found))
    for ax, (key, line) in zip(axes, found.items()):
        stack(ax, key.name, line)
    return fig


def page(args, sweep, drawn, table, conclusions):
    """For people: the conclusions in words first. drawn: the overview of the first costs."""
    measured = sweep.points
    first, *_ = scaling.all_costs(measured)
    page = Page("Lock contention across core counts",
                f"Hartzone, study lock-scaling: device {args.device}, workload {args.trace or args.workload}, case {args.case}, seeds {', '.join(map(str, args.seeds))}, virtual clock")
    page.heading("In words")
    page.list(conclusions)
    growth.show(page, measured)
    open_loop.show(page, getattr(args, "found_open", {}))
    for costs in scaling.all_costs(measured):
        found = of_costs(measured, costs)
        page.heading(f"Costs: {costs}")
        page.picture(drawn if costs == first else overview(measured, costs), "Points are means, their bars the range over seeds; lines are the Universal "
                     "Scalability Law where there are three worker counts.")
        page.picture(stacks(found), "Of N workers, how many work, spin, or are idle since nothing reaches them.")
        for key, line in found.items():
            workers, point = line[-1]
            if point["lock_profile"]:
                lock_profile.show(page, key.name, workers, point["lock_profile"])
    page.heading("All points")
    page.table(*table)
    return page
