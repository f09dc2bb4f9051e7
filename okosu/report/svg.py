# SPDX-License-Identifier: Apache-2.0
"""Matplotlib figures as inline SVG: the same bytes each time, the page's font, colours that follow light and dark."""

from __future__ import annotations

import html
import io
import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from okosu.errors import OkosuError
from okosu.report import formats

# Matplotlib wants fixed colours; each of these stands for one of the page's CSS variables and is replaced by it.
COLOURS = {
    name: f"#0{i:x}0{i:x}0{i:x}"
    for i, name in enumerate(("ink", "muted", "line", "band", "base", "arm", "fresh", "paper", "good", "bad"), 1)
}
_BY_CODE = {code: f"var(--{name})" for name, code in COLOURS.items()}
_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.edgecolor": COLOURS["line"],
    "axes.labelcolor": COLOURS["muted"],
    "axes.labelsize": 11,
    "axes.linewidth": 1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "xtick.color": COLOURS["line"],
    "ytick.color": COLOURS["line"],
    "xtick.labelcolor": COLOURS["muted"],
    "ytick.labelcolor": COLOURS["muted"],
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "text.color": COLOURS["ink"],
    "figure.dpi": 72,
    "savefig.dpi": 72,
    "savefig.transparent": True,
}


def _matplotlib() -> Any:
    try:
        # matplotlib's log is about caches and fonts and means nothing to a reader of reports.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        import matplotlib
    except ImportError as error:
        raise OkosuError("okosu report needs matplotlib", f"{error}", "pip install 'okosu[report]'") from error
    return matplotlib


@contextmanager
def figure(width: float, height: float) -> Iterator[Any]:
    """Yield an empty figure of so many CSS pixels, under okosu's style and not under the user's matplotlibrc."""
    matplotlib = _matplotlib()
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Where matplotlib's font, used to measure texts, lacks a script, the browser can still draw it.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield Figure(figsize=(width / 72, height / 72), frameon=False)


def row_margin(names: Iterable[str], longest: int) -> float:
    """The pixels that names of rows take at the left of a chart, of at most `longest` characters each."""
    return 20 + min(longest, max(map(len, names))) * 6.6


def name_rows(ax: Any, names: Sequence[str], longest: int) -> None:
    """Name the rows of a chart that has one row below the other, the last of them at 0."""
    shown = [formats.shorten(formats.printable(name), longest) for name in names]
    ax.set_yticks(range(len(names)), shown[::-1])
    ax.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"], pad=8)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(-0.6, len(names) - 0.4)


def render(drawn: Any, name: str, label: str) -> str:
    """The figure as an <svg> element. `name` is unique in the page; `label` describes the figure in words."""
    matplotlib = _matplotlib()
    buffer = io.StringIO()
    matplotlib.rcParams["svg.hashsalt"] = name
    drawn.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    width, height = (round(size * 72) for size in drawn.get_size_inches())
    body = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<[^>]+>", lambda tag: _tidy(tag[0]), body)
    body = re.sub(r"\s*\n\s*", "\n", _own_ids(body, name))
    body = _ungroup(re.sub(r"<defs>\s*</defs>\n?", "", body)).strip()
    title = html.escape(formats.printable(label))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{title}">\n{body}\n</svg>'
    )


def _tidy(tag: str) -> str:
    """One tag on one line, with the page's colours and font, and coordinates rounded to a hundredth of a pixel."""
    tag = re.sub(r"\s+", " ", tag.replace("xlink:href", "href"))
    tag = re.sub(r" transform=\"rotate\(-0 [^\"]*\"| font-family: [^;\"]*;", "", tag)
    tag = re.sub(r"#(0[0-9a-f])\1\1", lambda code: _BY_CODE.get(code[0], code[0]), tag)
    return re.sub(r"(\.\d\d)\d+", r"\1", tag)


def _ungroup(body: str) -> str:
    """Drop groups without attributes: they have no effect, and matplotlib writes several around each mark."""
    said: list[bool] = []

    def keep(found: re.Match[str]) -> str:
        if found[0].startswith("</"):
            return found[0] if said.pop() else ""
        said.append(found[1] != "")
        return found[0] if said[-1] else ""

    return re.sub(r"<g([^>]*)>\n?|</g>\n?", keep, re.sub(r"<g[^>]*/>\n?", "", body))


def _own_ids(body: str, name: str) -> str:
    """Drop the ids that nothing refers to, and make the others unique in the page."""
    used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", body))
    wanted = {one or other for one, other in used}

    def keep(found: re.Match[str]) -> str:
        return f' id="{name}-{found[1]}"' if found[1] in wanted else ""

    body = re.sub(r' id="([^"]+)"', keep, body)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{name}-", body)
