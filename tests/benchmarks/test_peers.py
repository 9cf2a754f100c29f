"""The comparison with other libraries, without them: its table from given numbers, and its prompts."""

import json
import py_compile
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.peers import environments
from benchmarks.peers.report import Timing, as_markdown, summarise
from benchmarks.peers.worker import logprobs
from benchmarks.texts import TASK, Texts
from headatlas.methods.effects import exact_effects, single_heads
from headatlas.model.heads import HeadModel
from tests import tiny

FOLDER = Path(environments.__file__).parent


def timing(name, repeat, heads, cpu, difference=0.0):
    return Timing(name, repeat, heads, cpu, wall=2 * cpu, peak=5e8 + repeat * 1e8, difference=difference)


TIMINGS = {
    "short": [
        timing("ours", 0, 9, 9.0), timing("loop", 0, 3, 6.0, 1e-6),
        timing("ours", 1, 9, 18.0), timing("loop", 1, 3, 18.0, 4e-5),
        timing("ours", 2, 9, 9.0), timing("loop", 2, 3, 12.0),
    ]
}  # fmt: skip


def test_ratios_are_taken_within_a_repeat():
    """A repeat on a busy machine, in which both took twice as long, changes no ratio."""
    rows = summarise(TIMINGS, "ours", ["ours", "loop"], {})["tasks"]["short"]
    assert rows["ours"] == {"cpu": 1.0, "wall": 2.0, "ratio": 1.0, "peak": 500.0, "difference": 0.0}
    assert rows["loop"] == pytest.approx({"cpu": 4.0, "wall": 8.0, "ratio": 3.0, "peak": 500.0, "difference": 4e-5})


def test_the_table_says_what_could_not_be_measured():
    summary = summarise(TIMINGS, "ours", ["ours", "absent", "loop"], {"absent": "no such version"})
    assert json.loads(json.dumps(summary)) == summary
    assert as_markdown(summary).splitlines()[2:] == [
        "| short | ours | 1.00 | 1.00 | 500 MB |  |",
        "|  | loop | 4.00 | 3.00 | 500 MB | 4e-05 |",
        "",
        "absent could not be measured: no such version",
    ]


@pytest.mark.parametrize("peer", [environments.OURS, *environments.PEERS], ids=lambda peer: peer.name)
def test_the_file_of_every_library_compiles(peer, tmp_path):
    source = FOLDER / f"{peer.module.rsplit('.', 1)[-1]}.py"
    assert py_compile.compile(str(source), str(tmp_path / "compiled"), doraise=True)


def test_every_library_is_measured_as_documented_and_tuned():
    ways = {(peer.module, peer.requirement): [] for peer in environments.LIBRARIES}
    for peer in environments.PEERS:
        ways[peer.module, peer.requirement].append((peer.name.rsplit(", ")[-1], peer.logits))
    assert len(ways) == 4
    assert all(way == [("as documented", 0), ("tuned", 1)] for way in ways.values())


def test_logits_of_all_positions_give_the_scores_of_the_last_one():
    """What `as documented` and `tuned` ask of transformers, on a tiny model."""
    module, ids, answers = tiny.model("llama").module, torch.tensor([[5, 6, 7], [8, 9, 10]]), torch.tensor([3, 4])
    with torch.inference_mode():
        whole, last = (module(input_ids=ids, logits_to_keep=keep).logits for keep in (0, 1))
    assert (whole.shape[1], last.shape[1]) == (3, 1)
    np.testing.assert_allclose(logprobs(whole, answers), logprobs(last, answers), atol=1e-6)


def test_texts_are_measured_without_a_tokenizer():
    model = HeadModel(tiny.model("llama").module)
    units = {TASK: single_heads([(0, 1), (2, 3)])}
    effects = Texts(model).measure(
        [[5, 6, 7], [8, 9, 10]], lambda quantities: exact_effects("Heads", quantities, units)
    )
    assert effects.shape == (2, 2)
    assert np.abs(effects).max() > 1e-4


def test_environments_share_the_versions_of_headatlas_torch_first():
    pins = environments.pinned(Path("constraints.txt").read_text())
    assert [pin.split("==")[0] for pin in pins] == ["torch", "transformers", "numpy"]
    assert environments.pinned("torchvision==1\ntorch==2.0\nnumpy>=1") == ["torch==2.0"]


def test_a_version_that_does_not_exist_is_reported_with_what_pip_says(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setattr(environments.sys, "executable", "false")
    with pytest.raises(OSError, match="nothing was said"):
        environments.python_of(environments.Peer("absent", "absent", "absent==0"))
