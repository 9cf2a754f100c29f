"""What a probe is fitted on: features and labels, shuffled labels as a null, halves without a common group."""

from dataclasses import replace

import numpy as np
import torch

from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.features import collect
from headatlas.methods.probe.reading import Reading
from headatlas.suites.suite import SPLITS
from tests.methods.probe.probing import synthetic
from tests.run.contexts import run_context


def test_the_data_hold_every_example_with_its_task_and_group(tmp_path):
    context, reading = run_context(tmp_path), Reading("first")
    data = ProbeData.collect(context, reading)
    assert data.tasks == ("Colours", "Numbers")
    for split in SPLITS:
        features = collect(context, split, reading)
        expected = np.concatenate([features["Colours"], features["Numbers"]])
        np.testing.assert_array_equal(data.features[split].flatten(1).numpy(), expected)
        assert data.features[split].shape[1:] == (12, context.model.head_dim)
        examples = [example for task in data.tasks for example in context.examples(task, split)]
        assert [data.tasks[label] for label in data.labels[split]] == [example.task for example in examples]
        assert data.groups[split].tolist() == [example.group for example in examples]
    assert not set(data.groups["fit"]) & set(data.groups["evaluate"])


def test_shuffled_labels_keep_their_counts_and_stay_whole_in_groups_of_one_size():
    data = synthetic()
    for seed in range(5):
        shuffled = data.shuffled(seed)
        for split in ("fit", "choose"):
            dealt = getattr(shuffled, split)
            np.testing.assert_array_equal(np.bincount(dealt), np.bincount(data.labels[split]))
            assert not np.array_equal(dealt, data.labels[split])
            for group in np.unique(data.groups[split]):
                assert len(set(dealt[data.groups[split] == group])) == 1
        assert shuffled.used.all()


def test_labels_are_dealt_in_runs_where_groups_differ_in_size():
    """Laid out group by group in the order they are dealt in, labels change hardly more often than they did."""
    sizes = np.array([1, 2, 3, 4, 5] * 6)
    groups = np.repeat([f"g{i:02d}" for i in range(30)], sizes)
    labels = np.repeat(np.arange(30) % 3, sizes)
    data = replace(synthetic(), labels={"fit": labels, "choose": labels}, groups={"fit": groups, "choose": groups})
    mixed_groups, singly = [], []
    for seed in range(20):
        dealt = data.shuffled(seed).fit
        np.testing.assert_array_equal(np.bincount(dealt), np.bincount(labels))
        alone = np.random.default_rng(seed).permutation(labels)
        for mixed, values in ((mixed_groups, dealt), (singly, alone)):
            mixed.append(np.mean([len(set(values[groups == g])) for g in np.unique(groups)]))
    assert np.mean(mixed_groups) < 1.7 < 1.9 < np.mean(singly)


def test_shuffles_and_halves_depend_on_nothing_but_the_seed():
    one, other = synthetic(seed=1), synthetic({0: 1}, seed=2)
    for seed in (0, 3):
        np.random.seed(seed)
        torch.manual_seed(seed)
        np.testing.assert_array_equal(one.shuffled(seed).fit, other.shuffled(seed).fit)
        np.testing.assert_array_equal(one.shuffled(seed).choose, other.shuffled(seed).choose)
        np.testing.assert_array_equal(one.halves(seed)[0].used, other.halves(seed)[0].used)
    assert not np.array_equal(one.shuffled(0).fit, one.shuffled(1).fit)
    assert not np.array_equal(one.halves(0)[0].used, one.halves(1)[0].used)


def test_halves_share_no_group_and_together_are_everything():
    data = synthetic()
    for seed in range(5):
        first, second = data.halves(seed)
        assert (first.used ^ second.used).all()
        assert not set(data.groups["fit"][first.used]) & set(data.groups["fit"][second.used])
        assert first.used.sum() == second.used.sum()
        for half in (first, second):
            np.testing.assert_array_equal(half.fit, data.labels["fit"])
            np.testing.assert_array_equal(half.choose, data.labels["choose"])


def test_the_key_knows_features_labels_groups_and_names():
    data = synthetic()
    features = {**data.features, "choose": data.features["choose"].clone()}
    features["choose"][3, 2, 1] += 1e-3
    labels = {**data.labels, "evaluate": data.labels["evaluate"][::-1].copy()}
    groups = {**data.groups, "fit": data.groups["fit"][::-1].copy()}
    others = [
        replace(data, features=features),
        replace(data, labels=labels),
        replace(data, groups=groups),
        replace(data, tasks=("A", "B", "X")),
    ]
    assert synthetic().key == data.key
    assert len({data.key, *(other.key for other in others)}) == 5
