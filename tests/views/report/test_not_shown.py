"""What is not shown is said: functions without heads, tasks at chance, limits of methods and texts."""

import numpy as np

from headatlas.atlas.run_record import AuditRecord
from tests.atlases import Known, competent, measured, write_atlas
from tests.views.report.reading import report, section

SHAPE = (10, 6)


def not_shown(atlas) -> str:
    return section(report(atlas, findings=[]), "What is not shown")


def certified(task, *heads):
    """Maps of ablation in which only these heads are sure."""
    value, p = np.zeros(SHAPE), np.ones(SHAPE)
    for head in heads:
        value[head], p[head] = 0.4, 1e-9
    return [Known(value, np.full(SHAPE, 0.05), p, method="ablate", measure=m, task=task)
            for m in ("needed", "share", "specific")]  # fmt: skip


def test_functions_without_heads_are_named(tmp_path):
    atlas = write_atlas(tmp_path / "a", [*certified("A", (3, 2)), *certified("B"), *certified("C")])
    assert "- No head is shown to be specifically for B, C. That is no proof that there is none" in not_shown(atlas)
    both = write_atlas(tmp_path / "b", [*certified("A", (3, 2)), *certified("B", (4, 1))])
    assert "specifically" not in not_shown(both)


def test_limits_of_methods_are_named(tmp_path):
    part = np.where(np.arange(60).reshape(SHAPE) < 12, 0.5, np.nan)
    maps = [measured(np.zeros(SHAPE), 1.0, np.random.default_rng(0), task=task) for task in ("A", "B")]
    limits = not_shown(write_atlas(tmp_path / "atlas", [*maps, Known(part, method="ablate", task="A")]))
    assert "- ablate measured 12 of 60 heads; the others are unknown, not unimportant." in limits
    assert "- The errors of attribute rest on few groups of examples: 24 for A." in limits
    assert "- No intervention has tested these maps yet: `headatlas verify` does." in limits


def test_tasks_at_chance_and_unfair_texts_are_named(tmp_path):
    def check(verdict):
        return AuditRecord(name="length", task="all", value=1.0, limit=0.5, verdict=verdict, note="")

    judged = [competent("A"), competent("C", able=False)]
    audit = [check("bad"), check("warning"), check("warning"), check("good")]
    atlas = write_atlas(tmp_path / "a", certified("A", (3, 2)), competence=judged, audit=audit)
    text = not_shown(atlas)
    assert "- Nothing can be said about C: the intact model is not shown to do it." in text
    assert "- Of 4 checks of the suite's texts 1 are bad and 2 are warnings: the tasks may differ" in text
    fair = write_atlas(tmp_path / "b", certified("A", (3, 2)), audit=[check("good")])
    assert "texts" not in not_shown(fair)
