"""What is said at the end of a stage."""

import numpy as np
import pytest

from headatlas.atlas.records import Diagnostic, Evidence
from headatlas.atlas.run_record import Quantity
from headatlas.evidence import TESTS
from headatlas.methods import METHODS
from headatlas.views.terminal.stages import competence_line, evidence_line, method_line, strongest_sentence
from tests.atlases import Known, competent, write_atlas
from tests.views.notes.test_ablate import race


def one_head(value, at=(1, 2), shape=(3, 4), rest=0.1):
    grid = np.full(shape, rest)
    grid[at] = value
    return grid


def test_competence_counts_tasks_and_names_the_best(tmp_path):
    judged = [competent("A"), competent("B", able=False)]
    atlas = write_atlas(tmp_path / "a", [Known(np.ones((2, 2)), task="A")], competence=judged)
    atlas.run.pending = ["attribute", "gate"]
    assert competence_line(atlas, 75) == (
        "Competence, 1 min 15 s. The model can do 1 of 2 tasks, best A: 80 % right, 25 % by guessing. "
        "Still to come: attribute, gate."
    )


def test_a_model_that_can_do_nothing_has_no_best_task(tmp_path):
    judged = [competent("A", able=False, mapped=True)]
    atlas = write_atlas(tmp_path / "a", [Known(np.ones((2, 2)), task="A")], competence=judged)
    assert competence_line(atlas, 1) == "Competence, 1 s. The model can do 0 of 1 task."


def test_of_all_maps_the_head_that_stands_out_most(tmp_path):
    """Not the one with the largest value: tasks may be measured in other units."""
    maps = [Known(one_head(3.0, rest=2.5), task="A"), Known(one_head(1.5, at=(0, 1)), task="B")]
    twins = {"attribute": dict.fromkeys(("A", "B"), Quantity(metric="margin", baseline="twin"))}
    atlas = write_atlas(tmp_path / "a", maps, quantities=twins)
    assert method_line(atlas, METHODS["attribute"].info, 4) == (
        "Attribution, 4 s. B: L0H1 comes first, needed 1.5 nats of margin, against the twin."
    )


def test_a_share_with_its_certainty_where_a_head_is_specific(tmp_path):
    p = one_head(1e-6, rest=0.9)
    maps = [
        Known(one_head(value), stderr=np.full((3, 4), 0.01), p=p, method="ablate", measure=measure, task=task)
        for task, share in (("A", 0.22), ("B", 0.001))
        for measure, value in (("needed", share), ("share", share), ("specific", share))
    ]
    atlas = write_atlas(tmp_path / "a", maps)
    q = 1e-6 * 24 / 2  # of 24 heads and tasks, two with this p
    assert strongest_sentence(atlas, "ablate") == (
        f"A: L1H2 holds 22 % of the positive effects, and is specific to the task (q {q:.1e}).".replace("e-05", "e−5")
    )


def test_of_heads_that_were_tested_only_those_that_differ_from_zero_come_first(tmp_path):
    """A large value with a large error says less than a small one without."""
    large = Known(one_head(9.0), p=np.full((3, 4), 0.9), method="ablate", measure="needed", task="A")
    sure = Known(
        one_head(0.5, at=(0, 1)), p=one_head(1e-6, at=(0, 1), rest=0.9), method="ablate", measure="needed", task="B"
    )
    assert strongest_sentence(write_atlas(tmp_path / "both", [large, sure]), "ablate") == (
        "B: L0H1 is the one head that differs from zero, needed 0.5 nats (q 1.2e−5)."
    )
    assert strongest_sentence(write_atlas(tmp_path / "none", [large]), "ablate") == (
        "no head differs from zero with q < 0.05; first is L1H2 for A, needed 9 nats."
    )


def test_a_head_that_others_come_before_is_the_first_of_those_that_differ_from_zero(tmp_path):
    """L1H2 comes first in the map, and is not sure."""
    values = one_head(9.0)
    values[0, 1], values[0, 0] = 0.5, -0.5
    p = np.full((3, 4), 0.9)
    p[0, :2] = 1e-6
    head_map = Known(values, p=p, method="ablate", measure="needed", task="A")
    assert strongest_sentence(write_atlas(tmp_path / "a", [head_map]), "ablate") == (
        "A: L0H1 comes first of 2 heads that differ from zero, needed 0.5 nats (q 6e−6)."
    )


@pytest.mark.parametrize(
    ("method", "measure", "sentence"),
    [
        ("repair", "takeover", "no head differs from zero with q < 0.05; first is L1H2 for A, takeover 0.4 nats."),
        ("contrast", "gate", "A: L0H0 comes first, gate 0.1."),
    ],
)
def test_methods_of_roles_without_several_fits_name_a_head(tmp_path, method, measure, sentence):
    p = np.full((3, 4), 0.9) if method == "repair" else None
    head_map = Known(one_head(0.4), p=p, method=method, measure=measure, task="A")
    assert strongest_sentence(write_atlas(tmp_path / "a", [head_map]), method) == sentence


def test_of_fits_what_they_agree_on(tmp_path):
    def fits(task, *rows):
        return [
            Known(np.array([row]), method="gate", measure="facilitation", task=task, seed=seed)
            for seed, row in enumerate(rows)
        ]

    maps = [*fits("A", [0.9, 0.9, 0.1], [0.9, 0.1, 0.9]), *fits("B", [0.9, 0.9, 0.1], [0.9, 0.9, 0.1])]
    assert strongest_sentence(write_atlas(tmp_path / "a", maps[:2]), "gate") == (
        "A: 1 of 3 heads has facilitation above 0.5 in every fit, 3 in some."
    )
    both = write_atlas(tmp_path / "b", maps)
    assert strongest_sentence(both, "gate") == "B: 2 of 3 heads have facilitation above 0.5 in every fit."
    both.run.doubts = {"gate": {"B": "masks do not hold when binarised"}}
    assert strongest_sentence(both, "gate").endswith("; masks do not hold when binarised, so this is not to be read.")


def test_what_a_race_has_settled_is_said_before_anything_else(tmp_path):
    maps = [Known(one_head(1.5), p=one_head(1e-6, rest=0.9), method="ablate", measure="needed", task="A")]
    atlas = write_atlas(tmp_path / "a", maps, diagnostics=race("A", [(1, 2)], [], asked=1))
    assert strongest_sentence(atlas, "ablate") == "A: the strongest head is settled at 95 %: L1H2."


def test_a_description_names_the_head_that_fits_it_best(tmp_path):
    looks = [Diagnostic("attention", "first", 0.2 + 0.1 * head, layer=1, head=head) for head in range(4)]
    atlas = write_atlas(tmp_path / "a", [Known(np.ones((2, 4)))], diagnostics=looks)
    assert strongest_sentence(atlas, "attention") == "L1H3: the head looks at the first token (50 %)."


def test_a_test_says_how_many_of_its_comparisons_hold_by_its_first_metric():
    def row(metric, value, q=None, compared_with=None):
        return Evidence("mask", "A", None, "top", metric, value, compared_with=compared_with, q_value=q)

    levels = [row("margin", 1.0), row("logprob", 1.0)]
    compared = [row("margin", -1.0, q, "random") for q in (0.01, 0.2)] + [row("logprob", -1.0, 0.01, "random")]
    assert evidence_line(TESTS["mask"].info, levels + compared, 75) == (
        "mask, 1 min 15 s: 5 results; top against random: q < 0.05 in 1 of 2 comparisons by margin."
    )
    assert evidence_line(TESTS["mask"].info, levels, 2) == "mask, 2 s: 2 results."
