"""The page as a file: what is in it, how it is escaped, how large it is."""

import base64
import hashlib
import json
import re

import pytest

from headatlas.errors import UsageError
from headatlas.views.page import write_page
from headatlas.views.page.encoding import as_json
from headatlas.views.page.heads import HEADS_BYTES
from headatlas.views.page.page import SCRIPTS, render, script
from tests.atlases import made_up_findings, rich_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return rich_atlas(tmp_path_factory.mktemp("page") / "atlas")


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_usual_page_is_one_small_file(atlas):
    path = write_page([atlas], findings=[made_up_findings()])
    assert path == atlas.path / "report.html"
    assert path.stat().st_size < 1_200_000
    assert path.stat().st_size + HEADS_BYTES < 5_000_000  # with all the portraits that it may hold
    text = path.read_text()
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", text.split("<script")[0])
    assert "http:" not in re.sub(r"http://www\.w3\.org/2000/svg", "", text) and "https:" not in text


def test_policy_allows_only_what_is_in_the_page(atlas):
    text = render([atlas])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    scripts, styles = re.findall(r"<script>(.*?)</script>", text, re.S), re.findall(r"<style>(.*?)</style>", text, re.S)
    for kind, bodies in (("script", scripts), ("style", styles)):
        assert len(bodies) == 1
        digest = base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_scripts_know_no_method_and_no_test_by_name(atlas):
    names = {*atlas.run.default_method.split(), *(info.name for info in atlas.run.methods + atlas.run.tests)}
    assert {"gate", "probe", "mask", "attention"} <= names
    words = set(re.findall(r"""["'`](\w+)["'`]""", script()))
    assert words & (names | {"facilitation", "interference", "logprob"}) == set()
    assert len(SCRIPTS) == len(set(SCRIPTS))


def test_nothing_in_the_data_can_end_its_element():
    hostile = {"</script><script>alert(1)</script>": "<!--\u2028\u2029&'\""}
    text = as_json(hostile)
    assert text.isascii() and not set("<>&") & set(text)
    assert json.loads(text) == hostile


def test_marks_in_names_are_not_replaced(tmp_path):
    atlas = rich_atlas(tmp_path / "a", shape=(4, 4), tasks=["%%data%%", "%%script%%"], unmapped=(), tested=())
    assert [task["name"] for task in data_of(render([atlas]))["atlases"][0]["tasks"]] == ["%%data%%", "%%script%%"]


def test_an_atlas_without_diagnostics_or_evidence(tmp_path):
    atlas = rich_atlas(tmp_path / "a", shape=(4, 4), tested=())
    (tmp_path / "a" / "diagnostics.parquet").unlink()
    described = data_of(render([atlas]))["atlases"][0]
    assert described["evidence"] == described["nulls"] == described["descriptions"] == []
    assert described["reported"] == {"overall": [], "by_task": []}


def test_large_atlases_stay_readable(tmp_path):
    tasks = [f"task {i}" for i in range(20)]
    atlas = rich_atlas(tmp_path / "a", tasks, (80, 64), kv_heads=8, methods=["attribute"], unmapped=(), tested=())
    assert write_page([atlas]).stat().st_size < 3_000_000


def test_no_more_than_two(atlas):
    with pytest.raises(UsageError, match="one atlas, or two side by side; 3 were given"):
        render([atlas] * 3)


def test_the_default_method_is_that_of_the_run(atlas):
    described = data_of(render([atlas]))["atlases"][0]
    assert described["default_method"] == atlas.run.default_method == "probe"


def test_findings_are_carried(atlas):
    findings = data_of(render([atlas], [made_up_findings()]))["atlases"][0]["findings"]
    assert [finding["supported"] for finding in findings] == [True, True, True, False, False]
    assert findings[2]["heads"] == [[12, 3]]
