import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_exploring_an_atlas(tiny_atlas, capsys):
    explore = runpy.run_path(str(EXAMPLES / "explore_an_atlas.py"))["explore"]
    page = explore(tiny_atlas.path)
    said = capsys.readouterr().out
    assert page == tiny_atlas.path / "report.html" and page.stat().st_size > 50_000
    assert "3 layers of 4 heads, 2 tasks" in said and "heads differ from zero in two tasks or more" in said
    strongest = tiny_atlas.table("Colours").iloc[0]
    assert f"Colours: L{strongest.layer:.0f}H{strongest['head']:.0f} {strongest.value:.4f}" in said
