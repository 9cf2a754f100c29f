import numpy as np
import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.run_record import Quantity, write_run
from headatlas.views.page import about
from headatlas.views.report.not_shown import not_shown_chapter
from tests.atlases import Known, rich_atlas, write_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return rich_atlas(tmp_path_factory.mktemp("about") / "atlas", shape=(12, 9), tested=())


def test_measures_say_in_what_they_were_measured(tmp_path):
    twin, mean = Quantity(metric="margin", baseline="twin"), Quantity(metric="logprob", baseline="mean")
    maps = [Known(np.ones((4, 3)), task=task) for task in ("A", "B")]
    same = write_atlas(tmp_path / "same", maps, quantities={"attribute": {"A": twin, "B": twin}})
    (needed,) = about.describe_method(same, same.info("attribute"))["measures"]
    assert (needed["label"], needed["labels"]) == ("needed (nats of margin, against the twin)", {})
    assert dict(about.describe_run(same))["measured"] == "attribute: margin, against the twin"
    mixed = write_atlas(tmp_path / "mixed", maps, quantities={"attribute": {"A": twin, "B": mean}})
    described = about.describe_method(mixed, mixed.info("attribute"))
    assert described["measures"][0]["labels"]["B"] == "needed (nats of log-probability, against the mean of the head)"
    assert described["notes"]["A"] == "margin, against the twin"
    assert dict(about.describe_run(mixed))["measured"] == (
        "attribute: margin, against the twin (A) and log-probability, against the mean of the head (B)"
    )


def test_maps_that_are_not_to_be_read_say_why(tmp_path):
    maps = [Known(np.ones((4, 3)), task=task, method="gate") for task in ("A", "B")]
    atlas = write_atlas(tmp_path / "atlas", maps, doubts={"gate": {"B": "masks do not hold when binarised"}})
    assert about.describe_method(atlas, atlas.info("gate"))["doubts"] == {"B": "masks do not hold when binarised"}
    said = "\n".join(not_shown_chapter(atlas, "gate", []))
    assert "The map of B by gate is not to be read: masks do not hold when binarised." in said


def test_the_headline(atlas):
    assert about.describe_headline(atlas, ["mask", "keep"]) == {
        "sentence": "7 of 8 tasks of the suite cognitive mapped by probe, attribute, ablate and gate; tested by mask "
        "and keep.",
        "pending": "",
        "small": "standard preset · 2026-01-01 · 1 min 0 s",
    }
    assert about.describe_headline(atlas, [])["sentence"].endswith("gate; not yet tested by intervention.")


def test_the_headline_of_an_atlas_that_still_grows(tmp_path):
    growing = write_atlas(tmp_path / "a", [Known(np.ones((2, 2)))])
    growing.run.pending = ["ablate", "gate"]
    assert about.describe_headline(growing, [])["pending"] == (
        "Still to come: ablate, gate. Findings come at the end, from all maps together."
    )
    growing.run.methods = []  # as before the first method is done
    write_run(growing.path, growing.run)
    empty = about.describe_headline(Atlas(growing.path), [])
    assert empty["sentence"] == "1 task of the suite cognitive; no maps yet."


def test_query_heads_know_their_kv_group(tmp_path):
    model = about.describe_model(write_atlas(tmp_path / "a", [Known(np.zeros((2, 6)))], kv_heads=2))
    assert model["kv_group"] == [0, 0, 0, 1, 1, 1] and model["tick_step"] == {"layers": 1, "heads": 1}


def test_methods_declare_their_picture_and_their_rule(atlas):
    methods = {method: about.describe_method(atlas, atlas.info(method)) for method in atlas.methods}
    assert methods["gate"]["roles"] == ("facilitation", "interference") and methods["probe"]["roles"] is None
    assert methods["gate"]["ranking"] == "largest facilitation first"
    assert methods["probe"]["measures"][0]["label"] == "information (logit)"
    assert methods["probe"]["meaning"] == atlas.info("probe").meaning


def test_a_method_of_roles_without_both_has_no_picture_of_roles(tmp_path):
    made_up = write_atlas(tmp_path / "a", [Known(np.zeros((4, 4)), method="gate", measure="facilitation")])
    assert about.describe_method(made_up, made_up.info("gate"))["roles"] is None


def test_descriptions_say_their_common_words_once(atlas):
    (description,) = about.describe_descriptions(atlas)
    assert description["title"] == "Attention" and description["common"] == "the head looks at the"
    assert [measure["words"] for measure in description["measures"]][:3] == [
        "first token", "token before", "token itself",
    ]  # fmt: skip
    assert all(measure["share"] for measure in description["measures"])


def test_the_audit_names_checks_that_say_the_same(atlas):
    audit = about.describe_audit(atlas)
    warning = "The options alone give the answer away more often than chance."
    assert audit == [
        {"verdict": "warning", "text": f"answer from options: {warning}"},
        {"verdict": "warning", "text": f"answer from lengths: {warning}"},
        {"verdict": "good", "text": "prompt length: 0.12"},
    ]


def test_competence_in_words(atlas):
    entries = {entry["task"]: entry for entry in about.describe_competence(atlas)}
    assert entries["Logical Reasoning"]["texts"] == ["27 %", "25 %", "−2.00", "1.00", "0 of 96"]
    assert not entries["Logical Reasoning"]["competent"] and entries["Retrieval"]["competent"]


def test_the_run_can_be_repeated(atlas):
    facts = dict(about.describe_run(atlas))
    assert facts["command"] == "headatlas map" and facts["folder"] == "atlas"
    assert facts["settings"].startswith('preset standard, limits {"fit": 48') and "chat false" in facts["settings"]
