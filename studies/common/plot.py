"""PNG plots in one style; matplotlib is loaded only here."""


def figure(columns=1, height=3.6):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    fig, axes = pyplot.subplots(1, columns, figsize=(4.8 * columns, height), squeeze=False, layout="constrained")
    for ax in axes[0]:
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    return fig, list(axes[0])


def save(fig, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130)
