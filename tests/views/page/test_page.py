"""The page as a file: what is in it, how it is escaped, how large it is."""

import base64
import hashlib
import json
import re

import numpy as np
import pandas as pd
import pytest

from headatlas.cli import app
from headatlas.errors import UsageError
from headatlas.views.page import write_page
from headatlas.views.page.data import describe, number
from headatlas.views.page.page import as_json, render
from tests.views.page import synthetic


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return synthetic.write_atlas(tmp_path_factory.mktemp("page") / "atlas")


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_usual_page_is_one_small_file(atlas):
    path = write_page([atlas], findings=[synthetic.findings()])
    assert path == atlas.path / "report.html"
    assert path.stat().st_size < 1_200_000
    text = path.read_text()
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", text.split("<script")[0])
    assert "http:" not in re.sub(r"http://www\.w3\.org/2000/svg", "", text) and "https:" not in text


def test_policy_allows_only_what_is_in_the_page(atlas):
    text = render([atlas])
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert found.startswith("default-src 'none'; ") and "unsafe" not in found
    script, style = re.findall(r"<script>(.*?)</script>", text, re.S), re.findall(r"<style>(.*?)</style>", text, re.S)
    for kind, bodies in (("script", script), ("style", style)):
        assert len(bodies) == 1
        digest = base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in found


def test_maps_travel_exactly(atlas):
    found = describe(atlas)
    stored = next(m for m in found["maps"] if (m["method"], m["task"]) == ("attribute", "Retrieval"))
    value = np.frombuffer(base64.b64decode(stored["value"]), dtype="<f4").reshape(atlas.shape)
    np.testing.assert_allclose(value, atlas.grid("Retrieval", "attribute"), rtol=1e-6)
    partial = next(m for m in found["maps"] if m["method"] == "ablate")
    value = np.frombuffer(base64.b64decode(partial["value"]), dtype="<f4")
    assert np.isfinite(value).sum() == 54
    gate = next(m for m in found["maps"] if m["method"] == "gate")
    assert gate["stderr"] is None and gate["q"] is None


def test_random_draws_become_a_band(atlas):
    series = [s for s in describe(atlas)["evidence"] if s["test"] == "mask" and s["control"] == "random"]
    chosen = next(s for s in series if (s["method"], s["task"], s["metric"]) == ("probe", "Retrieval", "accuracy"))
    rows = atlas.evidence.query(
        "method == 'probe' and test == 'mask' and task == 'Retrieval' and control == 'random' and metric == 'accuracy'"
    )
    eight = rows[rows["k"] == 8]["value"]
    at = chosen["k"].index(8)
    assert chosen["k"] == [1, 2, 4, 8, 16, 32] and chosen["draws"][at] == 20
    assert chosen["value"][at] == pytest.approx(eight.mean(), rel=1e-3)
    assert [chosen["low"][at], chosen["high"][at]] == pytest.approx(np.quantile(eight, [0.025, 0.975]), rel=1e-3)


def test_few_draws_become_their_range(atlas):
    series = [s for s in describe(atlas)["evidence"] if s["test"] == "keep" and s["control"] == "random"]
    chosen = next(s for s in series if (s["method"], s["task"]) == ("probe", "Retrieval"))
    rows = atlas.evidence.query("method == 'probe' and test == 'keep' and task == 'Retrieval' and control == 'random'")
    eight = rows[rows["k"] == 8]["value"]
    at = chosen["k"].index(8)
    assert chosen["draws"][at] == 10
    assert [chosen["low"][at], chosen["high"][at]] == pytest.approx([eight.min(), eight.max()], rel=1e-3)


def test_nothing_in_the_data_can_end_its_element():
    hostile = {"</script><script>alert(1)</script>": "<!--\u2028\u2029&'\""}
    text = as_json(hostile)
    assert text.isascii() and not set("<>&") & set(text)
    assert json.loads(text) == hostile


def test_marks_in_names_are_not_replaced(tmp_path):
    atlas = synthetic.write_atlas(tmp_path / "a", 4, 4, tasks=["%%data%%", "%%script%%"], unmapped=(), evidence=False)
    assert [task["name"] for task in data_of(render([atlas]))["atlases"][0]["tasks"]] == ["%%data%%", "%%script%%"]


def test_an_atlas_without_diagnostics_or_evidence(tmp_path):
    atlas = synthetic.write_atlas(tmp_path / "a", 4, 4, evidence=False)
    (tmp_path / "a" / "diagnostics.parquet").unlink()
    found = describe(atlas)
    assert found["evidence"] == [] and found["diagnostics"] == {"numbers": [], "curves": []}


def test_large_atlases_stay_readable(tmp_path):
    atlas = synthetic.write_atlas(
        tmp_path / "a", 80, 64, 8, [f"task {i}" for i in range(20)], {"attribute": ("importance",)}, unmapped=()
    )
    assert write_page([atlas]).stat().st_size < 3_000_000


def test_no_more_than_two(atlas):
    with pytest.raises(UsageError, match="one atlas, or two side by side; 3 were given"):
        render([atlas] * 3)


def test_numbers_are_short():
    assert [number(v) for v in (0.123456, 1234567.8, 3.0, float("nan"), -1e-7)] == [0.1235, 1234567.8, 3, None, -1e-7]


def test_the_command_shows_two_atlases_side_by_side(tmp_path):
    from typer.testing import CliRunner

    made = [synthetic.write_atlas(tmp_path / name, 4, 4, evidence=False) for name in "ab"]
    result = CliRunner().invoke(app, ["report", str(made[0].path), str(made[1].path), "--draws", "20"])
    assert result.exit_code == 0
    assert result.output.split() == [str(made[0].path / name) for name in ("report.md", "report.html")]
    assert len(data_of((made[0].path / "report.html").read_text())["atlases"]) == 2


def test_findings_are_carried(atlas):
    found = data_of(render([atlas], [synthetic.findings()]))["atlases"][0]["findings"]
    assert [one["supported"] for one in found] == [True, True, True, False, False]
    assert found[2]["heads"] == [[12, 3]]


def test_notebooks_show_the_figure(tiny_atlas):
    assert tiny_atlas._repr_png_().startswith(b"\x89PNG")
    assert isinstance(tiny_atlas.scores, pd.DataFrame)
