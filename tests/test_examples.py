import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_exploring_an_atlas(tiny_atlas, capsys):
    explore = runpy.run_path(str(EXAMPLES / "explore_an_atlas.py"))["explore"]
    page = explore(tiny_atlas.path)
    said = capsys.readouterr().out
    assert page == tiny_atlas.path / "report.html" and page.stat().st_size > 50_000
    assert "3 layers of 4 heads, 2 tasks" in said and "attribute and ablate share" in said
