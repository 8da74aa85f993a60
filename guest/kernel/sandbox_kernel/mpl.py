# SPDX-License-Identifier: Apache-2.0
"""Matplotlib's backend: figures appear below the cell that made them."""

import sys

from matplotlib import get_backend
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sandbox_kernel.shell import current

FigureCanvas = FigureCanvasAgg
FigureManager = FigureManagerBase

_seen = set()


def _formats():
    """%config InlineBackend.figure_format, where IPython is loaded."""
    config = sys.modules.get("matplotlib_inline.config")
    if config is not None and config.InlineBackend.initialized():
        return config.InlineBackend.instance().figure_formats
    return {"png"}


def _draw(figure, kind, dpi):
    from io import BytesIO

    file = BytesIO()
    if figure.canvas is None or not hasattr(figure.canvas, "print_figure"):
        FigureCanvasAgg(figure)
    figure.canvas.print_figure(
        file,
        format=kind,
        dpi=dpi,
        bbox_inches="tight",
        facecolor=figure.get_facecolor(),
        edgecolor=figure.get_edgecolor(),
    )
    return file.getvalue()


def png(figure):
    """PNG of a figure, or None if there is nothing in it."""
    if not figure.axes and not figure.lines:
        return None
    _seen.add(id(figure))
    retina = "retina" in _formats() or "png2x" in _formats()
    return _draw(figure, "png", figure.dpi * (2 if retina else 1))


def picture(figure):
    """The figure as a mime bundle."""
    from sandbox_kernel.display import encode

    if "svg" in _formats() and figure.axes:
        _seen.add(id(figure))
        return {"image/svg+xml": _draw(figure, "svg", figure.dpi).decode()}
    data = png(figure)
    return {"image/png": encode(data)} if data else {}


def _ours():
    return "sandbox_kernel.mpl" in get_backend()


def show(*args, **keys):
    """Show all open figures now, and close them."""
    from sandbox_kernel import display
    from sandbox_kernel.pretty import safe_repr

    if not _ours():
        return
    shell = current()
    try:
        for manager in Gcf.get_all_fig_managers():
            figure = manager.canvas.figure
            if id(figure) in _seen:
                continue
            data = picture(figure)
            if data:
                data["text/plain"] = safe_repr(figure)
                display.publish(shell, data, {}, {})
    finally:
        Gcf.destroy_all()


def flush(shell, silent):
    """The end of a cell: what was shown by its value is not shown again."""
    try:
        if silent:
            if _ours():
                Gcf.destroy_all()
        else:
            show()
    finally:
        _seen.clear()


def drop(shell):
    """The cell failed: show what there is, its error must not be lost."""
    try:
        flush(shell, False)
    except Exception:
        Gcf.destroy_all()
