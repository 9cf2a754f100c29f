"""The self-test: scores of maps beside the truth, bars, and the null model."""

import json

import numpy as np
import pytest

from headatlas.atlas.records import Diagnostic
from headatlas.errors import UsageError
from headatlas.methods import METHODS
from headatlas.methods.base import Measured, Method
from headatlas.methods.signs import WRONG_SIGNS
from headatlas.planted import PLANTED
from headatlas.planted.record import ModelTruth, NullDraws, Score, SelfTest
from headatlas.planted.truth import HeadTruth, Truth
from headatlas.workflows.choose_methods import choose_methods
from headatlas.workflows.selftest import selftest
from headatlas.workflows.selftest.bars import BARS
from headatlas.workflows.selftest.null import draw_null
from headatlas.workflows.selftest.run import testable_methods as methods_to_test
from headatlas.workflows.selftest.score import score_map
from tests import tiny
from tests.atlases import Known, write_atlas

ROLES = np.array([["helps", "none", "none"], ["hurts", "backup", "none"]])
SURE, UNSURE = 1e-6, 0.9
QUIET = tiny.Listener()


def truth():
    rows = [HeadTruth("Task", i, j, 0.0, 0.0, str(ROLES[i, j])) for i in range(2) for j in range(3)]
    return Truth(tuple(rows), {"Task": 5.0})


def scored(tmp_path, *maps, diagnostics=None):
    atlas = write_atlas(tmp_path / "atlas", maps, diagnostics=diagnostics)
    return score_map(atlas, maps[0].method, "Task", "made-up", truth())


def known(values, p=None, **more):
    errors = None if p is None else np.full((2, 3), 0.1)
    return Known(np.array(values), errors, None if p is None else np.array(p), **more)


def test_a_perfect_map(tmp_path):
    score = scored(
        tmp_path,
        known([[4, 0.1, 0], [-3, 2, 0.2]], [[SURE, UNSURE, UNSURE], [SURE, SURE, UNSURE]], method="ablate"),
    )
    assert (score.heads, score.positives, score.irrelevant) == (5, 2, 3), "the backup head counts neither way"
    assert score.looks_for == ("helps", "hurts")
    assert (score.auroc, score.average_precision, score.recall) == (1, 1, 1)
    assert (score.has_q, score.sign_errors, score.roles_wrong, score.false_discoveries) == (True, 0, 0, 0)
    assert (score.backups, score.backups_named) == (1, 1)


def test_a_map_with_every_kind_of_error(tmp_path):
    """The helping head is said to hurt, the hurting one is missed, and one that does not matter is said to help."""
    score = scored(
        tmp_path,
        known([[-4, 5, 0], [-0.01, 0, 0.2]], [[SURE, SURE, UNSURE], [UNSURE, UNSURE, UNSURE]], method="ablate"),
    )
    assert score.sign_errors == 1
    assert (score.roles_right, score.roles_wrong, score.false_discoveries) == (2, 3, 1)
    # Sizes of the five heads that count: 4+ 5 0 0.01+ 0.2. Of six pairs, the positives win 2 and 1.
    assert score.auroc == pytest.approx(3 / 6)
    assert score.recall == 0.5
    assert score.backups_named == 0


def test_a_map_without_q_has_signs_and_no_roles(tmp_path):
    entry = Diagnostic("attribute", WRONG_SIGNS, 1.0, "Task")
    score = scored(tmp_path, known([[-4, 0, 0], [-3, 0, 0.2]], method="attribute"), diagnostics=[entry])
    assert (score.has_q, score.sign_errors, score.roles_right, score.false_discoveries) == (False, 1, None, None)
    assert score.auroc == 1
    assert score.flagged is True


def test_gates_are_judged_by_their_roles(tmp_path):
    grids = {
        "facilitation": [[0.9, 0.1, 0.6], [0.0, 0.1, 0.1]],
        "interference": [[0.0, 0.1, 0.0], [0.3, 0.1, 0.1]],
        "irrelevance": [[0.1, 0.9, 0.3], [0.7, 0.8, 0.9]],
    }
    score = scored(tmp_path, *(known(grid, method="gate", measure=name) for name, grid in grids.items()))
    assert (score.positives, score.looks_for) == (1, ("helps",)), "facilitation is about heads that help"
    assert (score.roles_right, score.roles_wrong) == (3, 2), "a head that hurts is missed, and one is said to help"
    assert (score.sign_errors, score.false_discoveries, score.auroc) == (0, 1, 1)


def test_a_method_for_backups_is_judged_by_backups_alone(tmp_path):
    """Heads that it did not measure come last."""
    value = np.full((2, 3), np.nan)
    value[1, 1], value[0, 1] = 2.0, 0.1
    score = scored(tmp_path, known(value, [[1, UNSURE, 1], [1, SURE, 1]], method="repair"))
    assert (score.heads, score.positives, score.auroc, score.recall) == (6, 1, 1, 1)
    assert (score.roles_wrong, score.backups_named, score.sign_errors) == (0, 1, None)


def test_a_method_that_says_nothing_of_signs_has_no_sign_errors(tmp_path):
    """Whatever its values: a probe finds information, and a takeover is no help by itself."""
    sure = np.full((2, 3), SURE)
    for method in ("probe", "repair"):
        assert scored(tmp_path / method, known(np.full((2, 3), -1.0), sure, method=method)).sign_errors is None


@pytest.mark.slow
def test_a_contrast_is_judged_by_the_heads_that_only_the_forgotten_task_needs():
    """Forgetting `Turn` closes its own head, and not the one that it shares with `Give`."""
    test = selftest(["shared"], ["contrast"], reporter=QUIET)
    assert [(score.task, score.positives) for score in test.scores] == [("Give", 1), ("Turn", 1), ("Spot", 2)]
    assert {score.looks_for for score in test.scores} == {("spared",)}
    assert min(score.auroc for score in test.scores) > 0.9
    assert {score.sign_errors for score in test.scores} == {score.false_discoveries for score in test.scores} == {None}


def one(method, model="induction", **more):
    usual = {"task": "T", "looks_for": ("helps", "hurts"), "heads": 10, "positives": 2, "irrelevant": 8, "auroc": 1.0,
             "average_precision": 1.0, "recall": 1.0, "has_q": False, "sign_errors": 0, "roles_right": None,
             "roles_wrong": None, "false_discoveries": None, "backups": 0, "backups_named": 0,
             "flagged": None}  # fmt: skip
    return Score(method=method, model=model, **{**usual, **more})


def judged(*scores, null=()):
    models = tuple(
        ModelTruth(name=name, shows="", saturated=name == "saturated", margins={}) for name in {s.model for s in scores}
    )
    test = SelfTest(version="0", seconds=0, processor_seconds=0, models=models, scores=scores, null=null)
    return {outcome.name: (outcome.met, outcome.missed_by) for outcome in (bar.judge(test) for bar in BARS)}


def test_bars_that_nothing_was_run_for_are_not_met_and_not_missed():
    assert {met for met, _ in judged().values()} == {None}


def test_a_sign_error_misses_the_bar_only_with_q():
    assert judged(one("ablate", has_q=True, sign_errors=1))["signs"] == (False, ("ablate on induction (T): 1",))
    assert judged(one("attribute", sign_errors=1))["signs"] == (None, ())


@pytest.mark.parametrize(("method", "enough", "short"), [("ablate", 0.99, 0.98), ("gate", 0.95, 0.94)])
def test_bars_of_ranking(method, enough, short):
    assert judged(one(method, auroc=enough))[f"auroc {method}"] == (True, ())
    met, missed = judged(one(method, auroc=enough), one(method, "saturated", auroc=short))[f"auroc {method}"]
    assert not met and missed == (f"{method} on saturated (T): {short:.3f}",)


def test_attribution_may_be_wrong_where_attention_is_saturated_if_it_says_so():
    flagged, silent = (one("attribute", "saturated", auroc=0.5, flagged=f) for f in (True, False))
    assert judged(flagged)["auroc attribute"] == (None, ())
    assert judged(flagged)["saturation"] == (True, ())
    assert judged(silent)["saturation"] == (False, ("attribute on saturated (T) is not flagged",))
    assert not judged(one("attribute", auroc=0.9))["auroc attribute"][0]


def test_one_method_that_changes_several_heads_has_to_name_the_backup():
    sure = {"backups": 1, "backups_named": 1, "false_discoveries": 0}
    blind = one("gate", "backup", **{**sure, "backups_named": 0})
    seeing, single = one("repair", "backup", **sure), one("ablate", "backup", **sure)
    assert judged(blind, seeing)["backup"] == (True, ())
    assert judged(blind, single)["backup"] == (False, ("gate on backup (T) names 0 of 1, 0 falsely",))
    guessing = one("repair", "backup", backups=1, backups_named=1, false_discoveries=3)
    assert judged(guessing)["backup"] == (False, ("repair on backup (T) names 1 of 1, 3 falsely",))


def test_discoveries_where_there_is_nothing():
    few, many = (NullDraws(method="ablate", draws=100, with_discovery=n) for n in (5, 6))
    assert judged(null=(few,))["null"] == (True, ())
    assert judged(null=(many,))["null"] == (False, ("ablate: 94 of 100 draws",))


def test_every_method_that_makes_maps_is_tested():
    assert set(methods_to_test()) == {name for name, method in METHODS.items() if method.info.kind != "description"}
    with pytest.raises(UsageError, match="'attention' cannot be tested on planted models"):
        selftest(["loud"], ["attention"])
    with pytest.raises(UsageError, match="'probe' compares tasks, and no model that was asked for has 2"):
        selftest(["loud"], ["probe"])
    with pytest.raises(UsageError, match=r"Unknown planted model 'lout'. Did you mean 'loud'\?"):
        selftest(["lout"])


def test_a_self_test_finds_the_backup_head():
    test = selftest(["backup"], ["attribute", "ablate", "repair"], reporter=QUIET)
    by_method = {score.method: score for score in test.scores}
    assert [by_method[name].auroc for name in ("attribute", "ablate", "repair")] == [1, 1, 1]
    assert by_method["ablate"].sign_errors == by_method["ablate"].roles_wrong == 0
    assert by_method["repair"].backups_named == 1 and by_method["repair"].false_discoveries == 0
    assert test.passed and test.null == ()
    assert test.models[0].margins["Pick"] > 3
    assert SelfTest.model_validate_json(test.model_dump_json()) == test


class AlwaysSure(Method):
    """Discovers its first head, whatever the model."""

    info = METHODS["ablate"].info

    def measure(self, context):
        (real,) = choose_methods(["ablate"], "quick", context.splits["fit"], {}, {})
        for head_map in (maps := real.measure(context).maps):
            head_map.summary.p_value[0] = 0.0
        return Measured(maps)


def test_discoveries_in_the_null_model_are_counted():
    (honest,) = choose_methods(["ablate"], "quick", PLANTED["null"].suite(0), {}, {})
    assert draw_null(PLANTED["null"], [honest], 2, QUIET)[0].draws == 2
    (counted,) = draw_null(PLANTED["null"], [AlwaysSure()], 2, QUIET)
    assert counted.with_discovery == 2


def test_the_command_writes_prints_and_exits(tmp_path, command, monkeypatch):
    out = tmp_path / "selftest.json"
    good = command("selftest", "--model", "loud", "--method", "attribute", "--out", out)
    assert good.returncode == 0, good.stderr
    assert "Maps of models with known heads by attribute" in good.stdout
    assert "loud" in good.stdout and "1 of 18" in good.stdout
    assert "met  AUROC of attribute at least 0.95" in good.stdout
    assert SelfTest.model_validate_json(out.read_text()).methods == ["attribute"]

    late = command("selftest", "--model", "loud", "--method", "attribute", "--out", tmp_path)
    assert late.returncode == 2 and "is a folder. Give the name of a file." in late.stderr
    late = command("selftest", "--out", out / "selftest.json")
    assert late.returncode == 2 and "selftest.json cannot be written: " in late.stderr

    missed = SelfTest(
        version="0", seconds=0, processor_seconds=0, models=(), scores=(one("ablate", auroc=0.5),), null=()
    )
    missed = missed.model_copy(update={"bars": tuple(bar.judge(missed) for bar in BARS)})
    monkeypatch.setattr("headatlas.workflows.selftest.selftest", lambda *_, **__: missed)
    short = command("selftest", "--out", out, "--json")
    assert short.returncode == 1
    assert json.loads(short.stdout) == json.loads(out.read_text()) == json.loads(missed.model_dump_json())
