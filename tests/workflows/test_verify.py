"""From an atlas to its evidence: what is tested on what, what is kept, what is refused."""

import functools
import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.tables import EVIDENCE
from headatlas.errors import HeadAtlasError
from headatlas.evidence import trial as trial_module
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS, Suite, to_jsonl
from headatlas.workflows import held_out
from headatlas.workflows.map import map_heads
from headatlas.workflows.presets import TEST_PRESETS, choose_settings
from headatlas.workflows.verify import verify
from tests import tiny

CONTEXT = 2048  # room for neutral text, which the small tokenizer spells letter by letter
SUITE = tiny.copying(36)
TESTS = ["mask", "keep"]
check = functools.partial(verify, ks=[1], draws=6, limit=8)


@functools.cache
def planted():
    return tiny.planted(CONTEXT)


@pytest.fixture(autouse=True, scope="module")
def quick():
    """Nothing is published and built-in suites are made once: both take longest, and have tests of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headatlas.workflows.map.publish", lambda atlas, reporter: None)
        patch.setattr("headatlas.workflows.verify.publish", lambda atlas, reporter: None)
        patch.setattr(held_out, "load_suite", functools.cache(held_out.load_suite))
        yield


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    """Three methods; ablation measured some heads only."""
    out, methods = tmp_path_factory.mktemp("verify") / "atlas", ["attribute", "ablate", "probe"]
    settings = {"probe": {"shuffles": 10}}
    return map_heads(planted(), SUITE, methods, out=out, settings=settings, reporter=tiny.Listener()).path


@pytest.fixture
def atlas(mapped, tmp_path):
    """A copy to write into."""
    return shutil.copytree(mapped, tmp_path / "atlas")


def test_the_table_keeps_its_contract(atlas):
    assert len(Atlas(atlas).evidence) == 0
    tested = check(atlas, planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
    assert pq.read_schema(atlas / "evidence.parquet").equals(EVIDENCE)
    columns = (
        "model method test settings task eval_task control factor compared_with k draw metric value intact low high "
        "p_value"
    )
    assert EVIDENCE.names == columns.split()
    assert set(tested.evidence["model"]) == {"tiny-llama"}


@pytest.mark.parametrize("method", ["attribute", "ablate", "probe"])
def test_the_map_of_every_method_can_be_tested(atlas, method):
    """Also one of some heads, whose others take no part. Maps that find the helpers do damage, and more than others."""
    tested = check(atlas, planted(), SUITE, tests=TESTS, method=method, reporter=tiny.Listener())
    found = tested.evidence
    assert set(found["method"]) == {method}
    assert set(found["test"]) == set(TESTS)
    measured = tested.scores[(tested.scores["method"] == method) & (tested.scores["measure"] == "importance")]
    assert found["k"].max() <= (12 if method != "ablate" else measured.groupby("task").size().max())
    for task, helper in tiny.HELPERS.items():
        strongest = tested.grid(task, method)
        top = found.query("task == @task and test == 'mask' and control == 'top' and metric == 'logprob' and k == 1")
        (row,) = top[top["compared_with"].isna()].itertuples()
        damaged = row.high < row.intact - 1
        assert damaged == (np.unravel_index(np.nanargmax(strongest), strongest.shape) == helper)
        if method == "attribute":
            assert damaged


def test_without_a_method_the_default_map_is_tested_and_with_it_all_tests_run(atlas):
    said = tiny.Listener()
    tested = check(atlas, planted(), SUITE, reporter=said)
    assert set(tested.evidence["method"]) == {tested.choose_method()} == {"probe"}
    assert set(tested.evidence["test"]) == {"mask", "keep", "specificity", "steer"}
    assert any(
        "No test of the hierarchy: there is no map of a task that the suite calls low-level" in text
        for text in said.said
    )
    assert any("is not steered" in text for text in said.said), "the planted model gets everything right"
    assert set(tested.evidence.query("test == 'specificity'")["eval_task"]) == {"Colours", "Numbers", "Neutral"}


class Killed(Exception):
    pass


def test_a_killed_run_is_continued_and_gives_the_same_bytes(atlas, tmp_path, monkeypatch):
    whole = shutil.copytree(atlas, tmp_path / "whole")
    run = functools.partial(check, model=planted(), suite=SUITE, tests=["mask", "keep", "specificity"])
    run(whole, reporter=tiny.Listener())
    plain, calls = trial_module.score_under, []

    def breaking(*args):
        calls.append(1)
        if len(calls) == 3:
            raise Killed
        return plain(*args)

    monkeypatch.setattr(trial_module, "score_under", breaking)
    with pytest.raises(Killed):
        run(atlas, reporter=tiny.Listener())
    assert not (atlas / "evidence.parquet").exists()
    finished = {path.name: path.stat().st_mtime_ns for path in (atlas / "cells").iterdir()}
    run(atlas, reporter=tiny.Listener())
    assert (atlas / "evidence.parquet").read_bytes() == (whole / "evidence.parquet").read_bytes()
    assert all((atlas / "cells" / name).stat().st_mtime_ns == time for name, time in finished.items()), "none anew"
    assert len(calls) > 3
    count = len(calls)
    run(atlas, reporter=tiny.Listener())
    assert len(calls) == count, "a third run computes nothing"
    assert (atlas / "evidence.parquet").read_bytes() == (whole / "evidence.parquet").read_bytes()


def test_evidence_of_other_methods_and_tests_stays_and_the_same_is_replaced(atlas):
    run = functools.partial(check, atlas, planted(), SUITE, reporter=tiny.Listener())
    first = run(tests=["mask"], method="attribute").evidence
    second = run(tests=["keep"], method="attribute").evidence
    third = run(tests=["mask"], method="probe").evidence
    fourth = run(tests=["mask"], method="attribute", draws=3).evidence

    def part(table, method, test):
        chosen = table[(table["method"] == method) & (table["test"] == test)].reset_index(drop=True)
        return chosen.astype({"k": float, "draw": float})

    for later in (second, third):
        assert part(later, "attribute", "mask").equals(part(first, "attribute", "mask"))
    assert part(fourth, "attribute", "keep").equals(part(second, "attribute", "keep"))
    assert part(fourth, "probe", "mask").equals(part(third, "probe", "mask"))
    assert part(fourth, "attribute", "mask")["draw"].max() == 2
    assert part(first, "attribute", "mask")["draw"].max() == 5
    assert not fourth.drop(columns=["value", "intact", "low", "high", "p_value", "settings"]).duplicated().any()


def test_the_settings_of_every_test_are_recorded_and_never_mixed(atlas):
    run = functools.partial(check, atlas, planted(), SUITE, reporter=tiny.Listener())
    run(tests=["mask", "keep"], method="attribute")
    tested = run(tests=["mask"], method="attribute", draws=3)
    recorded = {(entry.method, entry.test): entry for entry in tested.run.verifications}
    assert set(recorded) == {("attribute", "mask"), ("attribute", "keep")}
    assert recorded["attribute", "mask"].settings["draws"] == 3
    assert recorded["attribute", "keep"].settings["draws"] == 6
    keys = tested.evidence.groupby(["method", "test"])["settings"].unique()
    for (method, test), values in keys.items():
        assert list(values) == [recorded[method, test].key]
    assert recorded["attribute", "mask"].key != recorded["attribute", "keep"].key
    assert {info.name for info in tested.run.tests} == {"mask", "keep"}


def test_the_heads_that_are_tested_are_the_first_in_rank(atlas):
    """One rule for `top` and `verify`: the head removed first is the one that `table` puts first."""
    tested = check(atlas, planted(), SUITE, tests=["mask"], method="attribute", reporter=tiny.Listener())
    for task, helper in tiny.HELPERS.items():
        assert tested.ranking(task, "attribute")[0] == helper
        (row,) = tested.evidence.query(
            "task == @task and control == 'top' and metric == 'logprob' and k == 1 and compared_with.isna()"
        ).itertuples()
        assert row.value < row.intact - 1


def test_a_test_that_does_not_apply_is_refused(atlas):
    with pytest.raises(
        HeadAtlasError, match="'order' does not apply to the maps of 'attribute'. It needs the measures"
    ):
        check(atlas, planted(), SUITE, tests=["order"], method="attribute", reporter=tiny.Listener())


def test_the_same_atlas_object_can_be_tested_twice(atlas):
    opened = Atlas(atlas)
    check(opened, planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
    check(opened, planted(), SUITE, tests=["keep"], reporter=tiny.Listener())
    assert set(Atlas(atlas).evidence["test"]) == {"mask", "keep"}


def test_a_new_map_takes_its_evidence_with_it_and_the_same_map_keeps_it(tmp_path):
    remap = functools.partial(map_heads, planted(), out=tmp_path / "a", reporter=tiny.Listener())
    remap(SUITE, ["attribute"])
    check(tmp_path / "a", planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
    remap(SUITE, ["attribute"])
    assert (tmp_path / "a" / "evidence.parquet").exists()
    remap(tiny.copying(30), ["attribute"])
    assert not (tmp_path / "a" / "evidence.parquet").exists()


# Which examples


def settings(**changes):
    from dataclasses import replace

    return replace(TEST_PRESETS["quick"], **{"examples": None, **changes})


def test_what_is_evaluated_shares_no_group_with_what_made_the_map(atlas):
    opened = Atlas(atlas)
    splits, _ = held_out.held_out_examples(opened, "probe", SUITE, settings())
    groups = {split: {example.group for example in part.examples} for split, part in splits.items()}
    assert not groups["evaluate"] & (groups["fit"] | groups["choose"])
    assert not groups["fit"] & groups["choose"]
    parts = SUITE.split(opened.run.settings.split_seed)
    for split in SPLITS:
        mapped = [example for example in splits[split].examples if example.task != "Neutral"]
        assert mapped == list(parts[split].examples)
    assert "Neutral" in splits["evaluate"].tasks


def test_fit_and_choose_keep_the_limits_of_the_map_and_evaluate_its_own(tmp_path):
    suite = tiny.copying(72)
    opened = map_heads(planted(), suite, ["attribute"], limit=20, out=tmp_path / "a", reporter=tiny.Listener())
    limits = opened.run.settings.limits
    assert limits == {"fit": 8, "choose": 6, "evaluate": 6}
    whole, _ = held_out.held_out_examples(opened, "attribute", suite, settings())
    few, _ = held_out.held_out_examples(opened, "attribute", suite, settings(examples=3))
    split = suite.split(0)
    for task in ("Colours", "Numbers"):
        for part in ("fit", "choose"):
            assert whole[part].of(task) == few[part].of(task) == split[part].limit(limits[part], 0).of(task)
        assert whole["evaluate"].of(task) == split["evaluate"].of(task)
        trial = held_out.prepare_trial(
            opened, planted(), "attribute", few, [], suite, settings(examples=3), tiny.Listener()
        )
        assert len(trial.context.examples(task, "evaluate")) == 3
        assert set(trial.context.examples(task, "evaluate")) < set(whole["evaluate"].of(task))


@pytest.mark.parametrize("limit", [2, 30])
def test_known_items_alone_are_tested_where_they_alone_were_mapped(tmp_path, limit):
    model, suite = tiny.model(context=CONTEXT), tiny.suite(96)
    opened = map_heads(
        model, suite, ["attribute"], known_only=True, at_chance=True, preset="paper", out=tmp_path / "a",
        reporter=tiny.Listener(),
    )  # fmt: skip
    tested = check(opened, model, suite, tests=["mask"], preset="quick", limit=limit, reporter=tiny.Listener())
    intact = tested.evidence.query("metric == 'accuracy' and control == 'top'")
    assert set(intact["task"]) == {"Colours", "Numbers"}
    assert (intact["intact"] == 1).all()


def test_answers_alone_give_the_same_log_probabilities_and_exact_match(atlas):
    plain = check(atlas, planted(), SUITE, tests=["mask"], reporter=tiny.Listener()).evidence
    bare = check(atlas, planted(), SUITE, tests=["mask"], distractors=False, reporter=tiny.Listener()).evidence
    one, other = (table.query("metric == 'logprob'")["value"].to_numpy() for table in (plain, bare))
    np.testing.assert_allclose(one, other, atol=1e-5)
    shares = [table.query("metric == 'accuracy' and control == 'top'")["value"].mean() for table in (plain, bare)]
    assert shares[1] < shares[0], "to write the word is harder than to prefer it"


# Chains


def chained(count: int = 30) -> Suite:
    """A suite of chains: the word of the prompt, a word that is known, and what follows from both."""
    examples = []
    for i in range(count):
        word, number = tiny.COLOURS[i % 4], tiny.NUMBERS[(i // 4) % 4]
        parts = [
            ("Retrieval", f"box {i} of {word} is", f" {word}", tuple(f" {w}" for w in tiny.COLOURS if w != word)),
            (
                "Knowledge Recall",
                f" and {number} is",
                f" {number}",
                tuple(f" {w}" for w in tiny.NUMBERS if w != number),
            ),
            ("Inference", " and the sum is", f" {word}", tuple(f" {w}" for w in tiny.COLOURS if w != word)),
        ]
        text = ""
        for step, (task, question, answer, wrong) in enumerate(parts):
            examples.append(
                Example(
                    id=f"c{i:02d}-{step}", task=task, prompt=text + question, answer=answer, distractors=wrong,
                    group=f"c{i:02d}", chain=f"c{i:02d}", step=step,
                )
            )  # fmt: skip
            text += question + answer
    return Suite("chained", tuple(examples))


def test_held_out_chains_of_the_suite_itself_are_walked(tmp_path):
    suite = chained()
    map_heads(planted(), suite, ["attribute"], at_chance=True, out=tmp_path / "a", reporter=tiny.Listener())
    _, chains = held_out.held_out_examples(Atlas(tmp_path / "a"), "attribute", suite, settings(chains=4))
    assert len({example.chain for example in chains}) == 4
    unseen = {example.group for example in suite.split(0)["evaluate"].examples}
    assert {example.group for example in chains} <= unseen
    tested = check(tmp_path / "a", planted(), suite, tests=["hierarchy"], reporter=tiny.Listener())
    found = tested.evidence
    assert set(found["task"]) == {"Retrieval", "Knowledge Recall"}
    assert set(found["eval_task"]) == {"Inference"}


def test_chains_are_whole_where_only_some_of_their_tasks_were_mapped(tmp_path):
    suite = chained()
    tasks = ["Retrieval", "Inference"]
    map_heads(planted(), suite, ["attribute"], tasks=tasks, out=tmp_path / "a", reporter=tiny.Listener())
    tested = check(tmp_path / "a", planted(), suite, tests=["mask", "hierarchy"], reporter=tiny.Listener())
    assert "mask" in set(tested.evidence["test"])


# The model and the suite must be those of the atlas


@pytest.fixture
def from_files(tmp_path):
    """An atlas of a model folder and a task file."""
    folder, tasks = tmp_path / "model", tmp_path / "tasks.jsonl"
    planted().module.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    tasks.write_text(to_jsonl(SUITE.examples))

    def make(**load_options):
        return map_heads(
            folder, tasks, ["attribute"], load_options=load_options, out=tmp_path / "a", reporter=tiny.Listener()
        )

    return make


def test_a_model_and_a_suite_in_files_are_found_again(from_files, atlas):
    found = check(from_files().path, tests=["mask"], reporter=tiny.Listener()).evidence
    in_memory = check(atlas, planted(), SUITE, tests=["mask"], method="attribute", reporter=tiny.Listener()).evidence
    np.testing.assert_allclose(found["value"], in_memory["value"], atol=1e-6)


def test_a_model_or_a_suite_in_memory_must_be_given_again(atlas):
    with pytest.raises(HeadAtlasError, match=r"The suite 'copying' was made in Python; give it again: verify\("):
        verify(atlas, planted(), reporter=tiny.Listener())
    with pytest.raises(HeadAtlasError, match=r"The model 'tiny-llama' was given in memory; give it again: verify\("):
        verify(atlas, suite=SUITE, reporter=tiny.Listener())


def test_another_model_or_suite_is_refused_by_its_fingerprint(atlas):
    changed = tiny.planted(CONTEXT)
    with torch.no_grad():
        changed.out_projections[1].weight[3, 5] += 1e-3
    with pytest.raises(HeadAtlasError, match=r"tiny-llama is not the model of this atlas \(fingerprint \w+, not \w+\)"):
        check(atlas, changed, SUITE, reporter=tiny.Listener())
    with pytest.raises(
        HeadAtlasError, match=r"The suite 'copying' is not the one of this atlas \(fingerprint \w+, not"
    ):
        check(atlas, planted(), tiny.copying(35), reporter=tiny.Listener())
    assert not (atlas / "evidence.parquet").exists()


def test_weights_that_were_edited_in_their_folder_are_noticed(from_files, tmp_path):
    path = from_files().path
    changed = tiny.planted(CONTEXT)
    with torch.no_grad():
        changed.out_weight(1)[2] = 0
    changed.module.save_pretrained(tmp_path / "model")
    with pytest.raises(HeadAtlasError, match="its weights or its configuration differ. Map it first"):
        check(path, reporter=tiny.Listener())


def loaded_with(monkeypatch) -> list[dict]:
    """What the model is loaded with, from here on."""
    calls, plain = [], held_out.load

    def load(source, **options):
        calls.append({key: value for key, value in options.items() if key != "reporter"})
        return plain(source, **options)

    monkeypatch.setattr(held_out, "load", load)
    return calls


def test_leave_to_run_foreign_code_is_not_taken_from_the_atlas(from_files, monkeypatch):
    path = from_files(trust_remote_code=True, dtype="float32", device="cpu").path
    recorded = json.loads((path / "run.json").read_text())["asked"]["load"]
    assert "trust_remote_code" in recorded
    calls = loaded_with(monkeypatch)
    check(path, tests=["mask"], reporter=tiny.Listener())
    check(path, tests=["mask"], load_options={"trust_remote_code": True, "device": None}, reporter=tiny.Listener())
    assert calls[0] == {"dtype": "float32", "device": "cpu"}
    assert calls[1] == {"dtype": "float32", "device": "cpu", "trust_remote_code": True}


def test_a_dtype_of_torch_is_found_again(from_files):
    tested = check(from_files(dtype=torch.float32).path, tests=["mask"], reporter=tiny.Listener())
    assert len(tested.evidence)


# Requests


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tests": ["masks"]}, r"Unknown test 'masks'. Did you mean 'mask'\?"),
        ({"method": "sense"}, "Unknown method in this atlas 'sense'"),
        ({"preset": "fast"}, "Unknown preset 'fast'"),
        ({"ks": [0]}, "`k` 0 was asked for; it must be from 1 to 11"),
        ({"ks": [3, 12]}, "`k` 12 was asked for; it must be from 1 to 11"),
        ({"draws": 0}, "`draws` 0 was asked for; it must be at least 1"),
        ({"limit": 1}, "`limit` 1 was asked for; it must be at least 2"),
        ({"baseline": "mode"}, "Unknown baseline 'mode'"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_written(atlas, options, message):
    before = sorted(path.name for path in atlas.rglob("*"))
    with pytest.raises(HeadAtlasError, match=message):
        verify(atlas, planted(), SUITE, reporter=tiny.Listener(), **options)
    assert sorted(path.name for path in atlas.rglob("*")) == before


def test_the_request_overrides_the_preset_and_the_preset_the_atlas(atlas):
    assert choose_settings("paper", (3, 4)) == TEST_PRESETS["paper"]
    changed = choose_settings("paper", (3, 4), [4, 2, 4], 7, 9, "zero", distractors=False)
    assert (changed.ks, changed.k, changed.draws, changed.examples, changed.chains) == ((2, 4), 4, 7, 9, 9)
    assert (changed.baseline, changed.distractors) == ("zero", False)
    tested = verify(atlas, planted(), SUITE, tests=["mask"], draws=2, ks=[1], reporter=tiny.Listener())
    assert tested.run.verifications[0].settings["examples"] == TEST_PRESETS["quick"].examples, "the preset of the map"


def test_two_processes_do_not_write_one_atlas(atlas):
    from filelock import FileLock

    with FileLock(atlas / ".lock"), pytest.raises(HeadAtlasError, match="Another process is writing"):
        check(atlas, planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
