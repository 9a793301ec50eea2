"""Tables as Markdown, and the plot of all ratios."""

import math

SCALE = {"us": 1e6, "ms": 1e3}


def figure(row, cell, unit):
    """The median and, in brackets, the best."""
    if unit == "GF/s":
        a, b = (row["work"] / cell[key] / 1e9 for key in ("median", "best"))
    else:
        a, b = (cell[key] * SCALE[unit] for key in ("median", "best"))
    digits = 0 if min(a, b) >= 100 else 1
    return f"{a:.{digits}f} ({b:.{digits}f})"


def ratio(row):
    """How many times as fast as the best peer ours is, by medians, and that peer; None where there
    is nothing to compare."""
    ours = row["cells"].get("ours", {})
    peers = {n: c["median"] for n, c in row["cells"].items() if n != "ours" and "median" in c}
    if "median" not in ours or not peers:
        return None
    best = min(peers, key=peers.get)
    return peers[best] / ours["median"], best


def cell_text(row, name, unit):
    cell = row["cells"].get(name)
    if cell is None:
        return ""
    if "median" in cell:
        return figure(row, cell, unit)
    return f"wrong by {cell['wrong']:.0e}" if "wrong" in cell else "–"


def memory_text(row, name):
    count = row["cells"].get(name, {}).get("bytes")
    return "" if count is None else f"{count / 1e6:.1f}"


def markdown(header, lines):
    """Columns of equal width, so that the text reads well too."""
    rows = [header, *lines]
    widths = [max(len(r[k]) for r in rows) for k in range(len(header))]
    join = lambda r: "| " + " | ".join(c.ljust(w) for c, w in zip(r, widths)) + " |"
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([join(header), rule, *(join(r) for r in lines)])


def contestants(table):
    names = []
    for row in table["rows"]:
        names += [n for n in row["cells"] if n not in names]
    return names


def table_text(table):
    title, unit = table["title"], table["unit"]
    text = f"## {title}\n\n"
    if table["columns"]:
        lines = [[r["case"], *(f"{x:.3g}" for x in r["figures"])] for r in table["rows"]]
        return text + markdown(["", *table["columns"]], lines)
    names, lines = contestants(table), []
    with_peak = any(r["work"] for r in table["rows"])
    weighed = [n for n in names if any("bytes" in r["cells"].get(n, {}) for r in table["rows"])]
    for row in table["rows"]:
        found = ratio(row)
        line = [row["case"], *(cell_text(row, n, unit) for n in names)]
        if with_peak:
            ours = row["cells"]["ours"].get("median")
            line.append(f"{100 * row['work'] / ours / row['peak']:.0f} %" if ours else "")
        line += [memory_text(row, n) for n in weighed]
        lines.append(line + [f"{found[0]:.2f} ({found[1]})" if found else ""])
    header = [f"{unit}", *names, *(["ours of peak"] if with_peak else []),
              *(f"MB, {n}" for n in weighed), "ours to the best peer"]
    return text + markdown(header, lines) + "\n\n" + notes(table)


def notes(table):
    """What was checked, who is absent, and what was refused."""
    errors = [(r["cells"]["ours"]["error"], r) for r in table["rows"] if "error" in
              r["cells"].get("ours", {})]
    text = ""
    if errors:
        worst, row = max(errors, key=lambda e: e[0])
        text += (f"Checked against float64 before timing; the greatest error of ours is {worst:.1e} "
                 f"({row['case']}).")
    peaks = [r["peak"] / 1e9 for r in table["rows"]]
    text += f" Peak in the same run: {min(peaks):.0f} to {max(peaks):.0f} GF/s."
    if any("bytes" in c for r in table["rows"] for c in r["cells"].values()):
        text += (" MB: the most that a call allocates at once, outputs and gradients among it, but not "
                 "its parameters and inputs. Ours trains by forward_backward.")
    absent = sorted({n for r in table["rows"] for n in r["absent"]})
    if absent:
        text += f" Not installed: {', '.join(absent)}."
    refusals = {}
    for row in table["rows"]:
        for name, cell in row["cells"].items():
            if "refused" in cell:
                refusals.setdefault((name, cell["refused"]), []).append(row["case"])
    for (name, why), cases in refusals.items():
        text += f"\n- {name} refused {len(cases)} of {len(table['rows'])}: {why}"
    return text.strip()


def shortfalls(tables):
    """The cases in which the best peer is faster, the worst first."""
    found = []
    for table in tables.values():
        for row in table["rows"]:
            if "cells" not in row:
                continue
            r = ratio(row)
            if r and r[0] < 1:
                found.append((r[0], r[1], table["title"], row["case"]))
            elif "median" not in row["cells"]["ours"]:
                found.append((0, "", table["title"], row["case"]))
    return sorted(found)


def compared(tables):
    return sum(1 for t in tables.values() for r in t["rows"] if "cells" in r and ratio(r))


def write(tables, out):
    short = shortfalls(tables)
    machines = dict.fromkeys(t["machine"] for t in tables.values())
    lines = [[f"{r:.2f}" if peer else "none", peer, case, title] for r, peer, title, case in short]
    text = [
        "# Results\n",
        "Written by `bench/run.sh`, which says how to repeat them. Figures are medians, and in "
        "brackets the best, of at least ten calls, contestants taking turns in one process on the "
        "same arrays, in a random order and each when the others' threads are still; each has its "
        "library's defaults and as many threads as the title says. "
        "Operations are 2 for every visible pair of a query and a key and every feature of keys and "
        "values (half of N² for causal attention in the first table), times 2.5 for the gradients. "
        "The peak is of fused multiply-adds in f32, measured between the turns. The last column is "
        "how many times as fast as the best peer ours is.\n",
        "Measured on: " + "; ".join(machines) + ".\n",
        "![How many times as fast as the best peer](ratios.svg)\n",
    ]
    for table in tables.values():
        text.append(table_text(table) + "\n")
        where = f"; {table['machine']}" if len(machines) > 1 else ""
        text.append(f"{table['date']}, commit {table['commit']}, load {table['load']:.1f}"
                    f"{', the quick form' if table['quick'] else ''}{where}; {table['versions']}.\n")
    text.append(f"## Where the best peer is faster\n\n{len(short)} of {compared(tables)} cases.\n")
    if lines:
        text.append(markdown(["ours to it", "peer", "case", "table"], lines) + "\n")
    (out / "RESULTS.md").write_text("\n".join(text))
    plot(tables, out / "ratios.svg")


def plot(tables, path):
    """A bar for every case, from 1 to the ratio, on a logarithmic axis."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    parts = []
    for table in tables.values():
        bars = [(r["case"], ratio(r)[0]) for r in table["rows"] if "cells" in r and ratio(r)]
        if bars:
            parts.append((table["title"], bars))
    if not parts:
        return
    heights = [len(bars) + 1.5 for _, bars in parts]
    figure_, axes = plt.subplots(len(parts), 1, sharex=True, squeeze=False,
                                 figsize=(9, 0.8 + 0.22 * sum(heights)),
                                 gridspec_kw={"height_ratios": heights}, layout="constrained")
    every = [math.log2(r) for _, bars in parts for _, r in bars]
    least, most = 2 ** max(min(every + [-1]), -6), 2 ** min(max(every + [1]), 6)
    for (title, bars), axis in zip(parts, axes[:, 0]):
        places = range(len(bars))
        colours = ["#2a7f62" if r >= 1 else "#b3532d" for _, r in bars]
        axis.barh(places, [r - 1 for _, r in bars], left=1, color=colours, height=0.7)
        for y, (_, r) in zip(places, bars):
            axis.annotate(f"{r:.2f}", (min(max(r, least), most), y), xytext=(3 if r >= 1 else -3, 0),
                          textcoords="offset points", va="center",
                          ha="left" if r >= 1 else "right", fontsize=7)
        axis.set_yticks(places, [case for case, _ in bars], fontsize=7)
        axis.set_xscale("log", base=2)
        axis.set_xlim(least / 1.4, most * 1.4)
        axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        axis.tick_params(axis="x", labelbottom=True, labelsize=7)
        axis.invert_yaxis()
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(title, fontsize=9, loc="left")
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
    axes[-1, 0].set_xlabel("times as fast as the best peer", fontsize=8)
    figure_.savefig(path, metadata={"Date": None})
    plt.close(figure_)
