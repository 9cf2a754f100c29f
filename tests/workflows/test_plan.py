"""What a map will cost, before it is made."""

import json
from dataclasses import replace
from io import StringIO
from itertools import count

import pytest
import torch
import transformers as hf
from rich.console import Console

from headatlas.errors import UsageError
from headatlas.methods import METHODS
from headatlas.methods.base import Method
from headatlas.methods.probe.probe import Probe
from headatlas.model import memory
from headatlas.model.loading import load
from headatlas.model.sizes import sizes
from headatlas.progress import Reporter
from headatlas.run import speed
from headatlas.run.cells import Cell
from headatlas.run.intact import intact_cell
from headatlas.run.speed import Speed, given_speed, time_matrices
from headatlas.suites.suite import SPLITS
from headatlas.wording import gigabytes
from headatlas.workflows import plan as planning
from headatlas.workflows import prepare as preparing
from headatlas.workflows.map import map_heads
from headatlas.workflows.plan import plan_map
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_quantity import twin_suite

SUITE = tiny.suite()
METHODS_OF_MAP = ["attribute", "ablate", "probe", "gate", "attention"]


@pytest.fixture
def ran(monkeypatch):
    """Cells that are computed, in order."""
    cells, compute = [], Cell.result

    def note(self):
        cells.append(self)
        return compute(self)

    monkeypatch.setattr(Cell, "result", note)
    return cells


def test_the_plan_of_a_configuration_is_what_the_run_runs(tmp_path, tiny_folder, ran):
    asked = {"methods": METHODS_OF_MAP, "settings": {"ablate": {"exact": "all"}, "gate": {"steps": 2, "tasks": ()}}}
    plan = plan_map(tiny_folder / "config.json", SUITE, **asked, tokenizer=tiny_folder, tokens_per_second=100)
    map_heads(
        tiny_folder, SUITE, **asked, at_chance=True, out=tmp_path / "atlas", report=False, reporter=tiny.Listener()
    )
    assert sum(stage.cells for stage in plan.stages) == len(ran)
    tokens = sum(cell.tokens for cell in ran)
    inexact = sum(stage.most - stage.tokens for stage in plan.stages)
    assert tokens <= plan.most
    assert abs(plan.tokens - tokens) <= inexact  # signs, whose heads are not known before
    by_name = {stage.name: stage for stage in plan.stages}
    assert list(by_name) == ["competence", "attribute", "attention", "ablate", "probe", "gate"]  # by their turns
    assert [name for name, stage in by_name.items() if stage.exact] == ["competence", "attention", "ablate", "probe"]
    assert by_name["competence"].tokens == sum(cell.tokens for cell in ran if cell.kind.name == "intact scores")
    assert plan.seconds == pytest.approx(plan.tokens / 100)
    assert plan.range == pytest.approx((plan.seconds / 1.5, plan.seconds * 1.5))


def test_cells_that_methods_share_count_once(tiny_folder):
    alone, both = (
        plan_map(tiny_folder, twin_suite(), names, tokens_per_second=1).stages[-1]
        for names in (["ablate"], ["attribute", "ablate"])
    )
    assert both.tokens < alone.tokens and both.cells < alone.cells


def test_features_of_the_probe_are_read_with_competence_where_that_runs_the_same_batches(tmp_path):
    context = run_context(tmp_path)
    batches = [b for task in context.tasks for split in SPLITS for b in context.intact_batches(task, split)]
    tokens = sum(batch.ids.numel() for batch in batches)

    def stages(**options):
        plan = planning.make_plan(context, [Probe()], "tiny", given_speed(1), **options)
        return {stage.name: (stage.cells, stage.tokens, stage.forwards) for stage in plan.stages}

    fits = 1, sum(len(part.examples) for part in context.splits.values()), 0
    assert stages() == {"competence": (2 * len(batches), tokens, len(batches)), "probe": fits}
    alone = 1 + len(batches), tokens + fits[1], len(batches)
    assert stages(known_only=True) == {"competence": (len(batches), tokens, len(batches)), "probe": alone}
    scored = {intact_cell(context, batch).key for batch in batches}
    assert stages(is_done=lambda cell: cell.key in scored) == {"competence": (0, 0, 0), "probe": alone}


def test_more_examples_and_groups_of_heads_cost_more():
    def plan(limit, **shape):
        config = hf.LlamaConfig(
            vocab_size=1000, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, **shape
        )
        return plan_map(config, SUITE, ["ablate"], limit=limit, tokens_per_second=1)

    small, more, dense = plan(12), plan(24), plan(12, num_key_value_heads=2)
    assert small.tokens < more.tokens
    assert small.tokens < dense.tokens  # groups of heads are measured too
    assert "No tokenizer is at hand" in small.assumed[0]


def test_half_precision_also_measures_what_rounding_adds(tiny_folder):
    plan = plan_map(tiny_folder, SUITE, ["attention"], dtype="bfloat16", tokens_per_second=1)
    assert [stage.name for stage in plan.stages] == ["competence", "attention", "rounding"]
    assert any("twice the memory of the weights" in sentence for sentence in plan.assumed)


def test_memory_is_the_weights_and_the_larger_of_two_parts(tiny_folder):
    plan = plan_map(tiny_folder, SUITE, ["attribute"], tokens_per_second=1)
    memory = plan.memory
    assert memory.weights == 4 * sum(parameter.numel() for parameter in tiny.module().parameters())
    assert memory.peak == memory.weights + max(memory.backward, memory.forward)
    assert plan_map(tiny_folder, SUITE, ["attention"], tokens_per_second=1).memory.backward == 0


def test_what_the_process_holds_beside_the_peak_is_measured_before_weights_are_loaded(tiny_folder, monkeypatch):
    loaded = []
    monkeypatch.setattr(planning, "load", lambda *args, **kwargs: loaded.append(1) or load(*args, **kwargs))
    monkeypatch.setattr(planning, "resident_memory", lambda: None if loaded else 480_000_000)
    plan = plan_map(tiny_folder, SUITE, ["attention"])
    assert loaded and plan.memory.process == 480_000_000
    assert plan.memory.peak < 480_000_000, "it is not counted twice"
    assert plan.sentences[-1].startswith("Python and its libraries take 0.48 GB beside that before the model is loaded")
    unknown = plan_map(tiny.model(), SUITE, ["attention"], tokens_per_second=1)
    assert unknown.memory.process is None and not any("Python" in sentence for sentence in unknown.sentences)


def test_the_speed_is_that_of_the_weights_where_they_are_and_of_matrices_elsewhere(tiny_folder):
    timed = plan_map(tiny_folder, SUITE, ["attention"])
    assert timed.speed.source.startswith("timed with the model") and timed.speed.factor == 1.5
    for source in (
        plan_map(tiny_folder, SUITE, ["attention"], load_weights=False),
        plan_map(tiny_folder / "config.json", SUITE, ["attention"]),
    ):
        assert "products of matrices" in source.speed.source and source.speed.factor == 2
        assert source.speed.tokens_per_second > 0


def test_a_machine_elsewhere_is_planned_for_where_its_speed_is_given(tiny_folder, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(planning, "is_here", lambda device: device.type == "cpu")
    plan = plan_map(tiny_folder, SUITE, ["attention"], device="cuda:3", tokens_per_second=1, dtype="bfloat16")
    assert plan.dtype == "bfloat16" and not plan.too_large, "nobody knows what is free there"
    with pytest.raises(UsageError, match="The device 'cuda:3' is not on this machine.* --tokens-per-second"):
        plan_map(tiny_folder, SUITE, ["attention"], device="cuda:3")
    with pytest.raises(UsageError, match="There is no device 'warp'"):
        plan_map(tiny_folder, SUITE, ["attention"], device="warp", tokens_per_second=1)
    with pytest.raises(UsageError, match="There is no device 'meta'"):
        plan_map(tiny_folder, SUITE, ["attention"], device="meta", tokens_per_second=1)


def test_a_model_that_does_not_fit_is_said_with_what_helps(tiny_folder, monkeypatch):
    plan = plan_map(tiny_folder, SUITE, ["attribute"], tokens_per_second=1)
    least = plan.memory.weights + max(plan.memory.checkpointed, plan.memory.forward)
    assert not plan.too_large and plan.dtype == "float32"
    for free, fits in ((2 * least, True), (least / 2, False)):
        monkeypatch.setattr(planning, "free_memory", lambda _, free=free: int(free))
        said = plan_map(tiny_folder, SUITE, ["attribute"], tokens_per_second=1).too_large
        assert bool(said) is not fits
    assert said.startswith(f"It does not fit here: {gigabytes(least / 2)} are free on this machine's cpu, of which")


def test_lanes_are_timed_one_by_one_and_count_together(monkeypatch):
    seen, threads, size = [], torch.get_num_threads(), sizes(tiny.model())

    def timed(lanes):
        ticks = count()
        monkeypatch.setattr(speed.time, "perf_counter", lambda: next(ticks) / 10)
        return time_matrices(size, 16.0, torch.float32, torch.device("cpu"), lanes).tokens_per_second

    monkeypatch.setattr(torch, "set_num_threads", seen.append)
    one, four = timed(1), timed(4)
    assert seen == [threads, threads, max(1, threads // 4), threads]
    assert four == pytest.approx(4 * one)


def test_a_method_that_does_not_say_is_named(tiny_folder):
    class Silent(Method):
        info = METHODS["attention"].info.model_copy(update={"name": "silent"})

    plan = plan_map(tiny_folder, SUITE, [Silent()], tokens_per_second=1)
    assert [stage.name for stage in plan.stages] == ["competence"]
    assert "silent does not say what it runs, and is not counted." in plan.assumed


def test_several_workers_share_the_time(tiny_folder):
    one = plan_map(tiny_folder, SUITE, ["attention"], tokens_per_second=100)
    two = replace(one, workers=2)
    assert two.seconds == pytest.approx(one.seconds / 2)
    assert "tokens at 100 tokens/s for each of 2 workers (" in two.sentences[0]
    assert two.sentences[1].startswith(f"Memory at the peak: about {gigabytes(one.memory.peak)} for each of 2 workers.")
    assert "workers" not in " ".join(one.sentences)


@pytest.mark.parametrize(("rate", "said"), [(0.5, True), (1e9, False)])
def test_a_long_map_says_so_beforehand_and_writes_the_same(tmp_path, monkeypatch, tiny_folder, rate, said):
    monkeypatch.setattr(planning, "time_model", lambda context: Speed(rate, "as given", 1.5))
    text = StringIO()
    reporter = Reporter(console=Console(file=text, width=200))
    monkeypatch.setattr(preparing, "resident_memory", lambda: 480_000_000)
    asked = {"methods": ["attention"], "at_chance": True, "report": False}
    loud = map_heads(tiny_folder, SUITE, **asked, out=tmp_path / "loud", reporter=reporter)
    quiet = map_heads(tiny_folder, SUITE, **asked, out=tmp_path / "quiet", reporter=Reporter(quiet=True))
    assert ("This will take about" in text.getvalue()) is said
    assert ("Memory at the peak: about" in text.getvalue()) is said
    assert ("Python and its libraries take 0.48 GB beside that" in text.getvalue()) is said
    for name in ("competence.parquet", "diagnostics.parquet"):
        assert (loud.path / name).read_bytes() == (quiet.path / name).read_bytes()
    cells = [{path.name for path in (atlas.path / "cells").iterdir()} for atlas in (loud, quiet)]
    assert cells[0] == cells[1]


@pytest.mark.parametrize("free", [1000, None])
def test_a_map_whose_backwards_do_not_fit_says_so(tmp_path, monkeypatch, free):
    monkeypatch.setattr(memory, "free_memory", lambda device: free)
    asked = {"methods": ["attribute"], "at_chance": True, "report": False}
    reporter = Reporter(console=Console(file=(text := StringIO()), width=200))
    map_heads(tiny.model(), SUITE, **asked, out=tmp_path / "atlas", reporter=reporter)
    assert ("more than is free: layers are computed again in it" in text.getvalue()) is (free is not None)


def test_the_command(tmp_path, monkeypatch, tiny_folder, tiny_tasks, command):
    monkeypatch.chdir(tmp_path)
    asked = ("plan", "--model", tiny_folder, "--suite", tiny_tasks, "--tokens-per-second", 50)
    done = command(*asked)
    assert done.returncode == 0, done.stderr
    assert "What a map of tiny will run" in done.stdout and "at 50 tokens/s (as given)" in done.stdout
    outcome = json.loads(command(*asked, "--method", "ablate", "--json").stdout)
    assert [stage["name"] for stage in outcome["stages"]] == ["competence", "ablate"]
    assert outcome["seconds"] == pytest.approx(outcome["tokens"] / 50)
    assert outcome["sizes"]["parameters"] == 48_864
    assert not list(tmp_path.iterdir())
    held = outcome["memory"]["process"]
    if held is not None:  # Linux says
        assert held > 100_000_000, "Python with torch"
        assert "Python and its libraries take" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "no/such-model"), "Error: There is no folder or configuration file 'no/such-model'"),
        (("--tokens-per-second", "-3"), "Error: --tokens-per-second -3 was given; it must be above 0."),
        (("--limit", "3"), "Error: --limit 3 was asked for; it must be at least 12."),
        (("--dtype", "int3"), "int3"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    tmp_path, monkeypatch, tiny_folder, tiny_tasks, command, options, message
):
    monkeypatch.chdir(tmp_path)
    done = command("plan", "--model", tiny_folder, "--suite", tiny_tasks, *options)
    assert done.returncode == 2 and message in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
