"""What `headatlas.verify` was asked for, as a file that workers read too, and the trial that follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence import TESTS
from headatlas.evidence.base import Evidence, EvidenceTest
from headatlas.evidence.trial import Trial
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.store import TESTING
from headatlas.suites.suite import Suite
from headatlas.workflows.held_out import held_out_examples, model_of, prepare_trial, suite_of
from headatlas.workflows.order import WorkOrder
from headatlas.workflows.presets import choose_settings
from headatlas.workflows.stages import enter_stage


class TestOrder(WorkOrder):
    """The parameters of `headatlas.verify`, as far as results depend on them."""

    FILE = TESTING

    tests: list[str] | None = None
    method: str | None = None
    preset: str | None = None
    ks: list[int] | None = None
    draws: int | None = None
    limit: int | None = None
    baseline: str | None = None
    measure: str | None = None
    distractors: bool = True
    model: str | None = None
    load_options: dict[str, Any] = Field(default_factory=dict)
    command: str | None = None


@dataclass(frozen=True)
class Prepared:
    """Tests with the trial that they are given; `method` and `settings` are what was asked for, spelt out."""

    trial: Trial
    tests: list[EvidenceTest]
    method: str
    settings: dict[str, Any]


def check_finished(atlas: Atlas) -> None:
    if atlas.run.pending:
        raise HeadAtlasError(
            f"The atlas {atlas.path} is not finished. {atlas.run.still_to_come} Evidence would not outlast the rest of "
            f"the run; continue it with: {atlas.run.asked.command or 'headatlas.map'}"
        )


def prepare_tests(
    atlas: Atlas,
    order: TestOrder,
    reporter: Reporter,
    model: HeadModel | str | Path | None = None,
    suite: Suite | None = None,
) -> Prepared:
    """Check everything, then load the model; `model` and `suite` are those of the atlas unless given."""
    check_finished(atlas)
    method = atlas.choose_method(order.method)
    chosen = _tests(atlas, method, order.tests)
    name = order.preset or atlas.run.settings.preset
    settings = choose_settings(
        name, atlas.shape, order.ks, order.draws, order.limit, order.baseline, order.distractors
    )  # fmt: skip
    measure = atlas.choose_measure(method, order.measure)
    suite = suite_of(atlas, suite)
    splits, chains = held_out_examples(atlas, method, suite, settings)
    model = model_of(atlas, model or order.model, order.load_options, reporter)
    trial = prepare_trial(atlas, model, method, measure, splits, chains, suite, settings, reporter)
    return Prepared(trial, chosen, method, {"measure": measure, **asdict(settings)})


def outcomes(ready: Prepared) -> Iterator[tuple[EvidenceTest, list[Evidence]]]:
    """One test after the other, with what came out."""
    for test in ready.tests:
        enter_stage(ready.trial.context, test.info.name)
        yield test, test.run(ready.trial)


def read_test_order(out: Path) -> TestOrder | None:
    """What is being tested in a folder; None where nothing is."""
    path = out / "work" / TESTING
    try:
        return TestOrder.model_validate_json(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError, ValueError):
        raise HeadAtlasError(
            f"{path} cannot be read, or another version of headatlas wrote it. Use the same version for all workers."
        ) from None


def _tests(atlas: Atlas, method: str, names: Sequence[str] | None) -> list[EvidenceTest]:
    """The tests asked for, or all that apply to the method."""
    info = atlas.info(method)
    if names is None:
        chosen = [test for _, test in TESTS.items() if test.info.applies_to(info)]
        if not chosen:
            raise HeadAtlasError(f"No test applies to the maps of {method!r}.")
    else:
        chosen = [TESTS[name] for name in names]
        for test in chosen:
            if not test.info.applies_to(info):
                needs = f" It needs the measures {', '.join(test.info.needs)}." if test.info.needs else ""
                raise UsageError(f"The test {test.info.name!r} does not apply to the maps of {method!r}.{needs}")
    return [test() for test in chosen]
