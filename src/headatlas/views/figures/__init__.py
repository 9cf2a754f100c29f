"""Figures of an atlas, for papers: they draw what was measured and compute nothing."""

from headatlas.views.figures.drawing import draw, figure_files, write_comparison_figure, write_figures
from headatlas.views.figures.registry import FIGURES, FigureInfo, figure_list, register_figure

__all__ = [
    "FIGURES",
    "FigureInfo",
    "draw",
    "figure_files",
    "figure_list",
    "register_figure",
    "write_comparison_figure",
    "write_figures",
]
