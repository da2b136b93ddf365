"""PNG plots in one style; matplotlib is loaded only here."""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import os

from common.runs import StudyError


def try_to(draw):
    """Calls draw() last: without matplotlib only the plot is missing."""
    try:
        return draw()
    except ImportError as error:
        raise StudyError(f"there is no plot, but the figures are complete: {error} (./hartzone setup installs what is missing)") from None


def figure(columns=1, height=3.6):
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1") # they take as long to start as all else that is loaded, and have nothing to do
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    fig = Figure(figsize=(4.8 * columns, height)) # not by pyplot, which keeps all figures, and warns of more than 20
    FigureCanvasAgg(fig)
    axes = fig.subplots(1, columns, squeeze=False)
    for ax in axes[0]:
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    return fig, list(axes[0])


def bars(ax, groups, series, title, unit):
    """series: name → one value per group, None where there is none; each group is a cluster of bars with their values on top."""
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        at = [i + (number - (len(series) - 1) / 2) * width for i, v in enumerate(values) if v is not None]
        drawn = ax.bar(at, [v for v in values if v is not None], width, label=name)
        ax.bar_label(drawn, [f"{v:.3g}" for v in values if v is not None], fontsize=7)
    ax.set_xticks(range(len(groups)), groups)
    ax.set(title=title, ylabel=unit)
    ax.grid(axis="x", visible=False)
    ax.legend(frameon=False, fontsize=8)


def amplification(groups, series_of):
    """The write amplification and the speed of writes. series_of(field): of the fields waf and mib_s, as bars() has series."""
    fig, axes = figure(2)
    for ax, field, title, unit in zip(axes, ("waf", "mib_s"), ("Write amplification", "Writes"), ("bytes programmed per byte", "MiB/s")):
        bars(ax, groups, series_of(field), title, unit)
    return fig


def numbers(values):
    """For line plots: a gap where a point is missing."""
    return [float("nan") if v is None else v for v in values]


@functools.cache
def lay_out(fig):
    """Called last, once for all formats: the axes of a row share the space left by their labels,
    all with equal width. matplotlib's own layout measures each label twice, a fifth of the time of
    a study's pictures."""
    width, height = fig.bbox.size
    pad = 0.04 * fig.dpi
    around = []  # of each: left, right, below, above
    for ax in fig.axes:
        outer = ax.get_tightbbox(for_layout_only=True)  # a title may be wider
        inner = ax.bbox
        around.append((inner.x0 - outer.x0, outer.x1 - inner.x1, inner.y0 - outer.y0, outer.y1 - inner.y1))
    lefts, rights, below, above = zip(*around)
    wide = (width - sum(lefts) - sum(rights) - 2 * pad * len(fig.axes)) / len(fig.axes)
    high = height - max(below) - max(above) - 2 * pad
    x = 0
    for ax, left, right in zip(fig.axes, lefts, rights):
        x += pad + left
        ax.set_position([x / width, (pad + max(below)) / height, wide / width, high / height])
        x += wide + right + pad


def save(fig, path):
    lay_out(fig)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130)
