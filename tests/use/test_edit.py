"""Edited checkpoints, from the command line and from Python."""

import json

import pytest
import torch
from transformers import AutoModelForCausalLM

import headatlas as ha
from headatlas.errors import HeadAtlasError
from headatlas.use.edit import edit
from tests import tiny

HEADS = tiny.HELPERS


@pytest.fixture(scope="module")
def masked(mapped, tmp_path_factory):
    """Without the head that copies colours."""
    return edit(
        tmp_path_factory.mktemp("edit") / "masked", atlas=mapped, mask="top:1:Colours", reporter=tiny.Listener()
    )


def cost(done, task, metric):
    (row,) = [row for row in done.costs if (row.task, row.metric) == (task, metric)]
    return row


def test_the_first_head_of_a_map_is_gone(masked, mapped, planted_folder):
    assert dict(masked.factors) == {HEADS["Colours"]: 0.0}
    ids = torch.tensor([tiny.tokenizer()("the box is red is")["input_ids"]])
    module = AutoModelForCausalLM.from_pretrained(masked.path)
    original = ha.load(planted_folder)
    gates = torch.ones(original.shape)
    gates[HEADS["Colours"]] = 0
    with torch.inference_mode(), original.gate(gates):
        assert (module(input_ids=ids).logits - original.logits(ids)).abs().max() <= 1e-5
    assert masked.largest_difference <= 1e-5


def test_what_an_edit_costs_is_measured(masked):
    colours, numbers, neutral = (cost(masked, task, "margin") for task in ("Colours", "Numbers", "Neutral"))
    assert colours.after < colours.before - 1 and colours.high < 0
    assert abs(numbers.after - numbers.before) < 0.5
    assert neutral.groups > 5 and neutral.low is not None
    assert cost(masked, "Colours", "accuracy").before > cost(masked, "Colours", "accuracy").after
    assert [row.task for row in masked.costs][-1] == "Neutral"


def test_the_record_says_what_was_done(masked, mapped):
    record = json.loads((masked.path / "edit.json").read_text())
    assert record["original"] == {"name": "original", "fingerprint": mapped.run.model.fingerprint}
    assert record["fingerprint"] == ha.load(masked.path).fingerprint() != mapped.run.model.fingerprint
    assert record["factors"] == {"L2H0": 0.0} and record["baseline"] == "zero" and not record["pruned"]
    assert len(record["costs"]) == len(masked.costs) and record["parameters"][0] == record["parameters"][1]


def test_an_edited_model_is_not_the_original(masked, mapped, tmp_path):
    with pytest.raises(HeadAtlasError, match="masked is not the model of this atlas .*: it is an edited model. Map it"):
        edit(tmp_path / "out", atlas=mapped, model=masked.path, mask="L0H0", reporter=tiny.Listener())
    assert not (tmp_path / "out").exists()


def test_means_are_those_of_the_texts_that_were_asked_for(mapped, tmp_path, planted_folder):
    biases = []
    for text in ("Colours", None):
        done = edit(
            tmp_path / str(text), atlas=mapped, mask="L0H1", baseline="mean", mean_over=text, cost=False,
            reporter=tiny.Listener(),
        )  # fmt: skip
        assert done.largest_difference <= 1e-5 and done.costs == ()
        edited = ha.load(done.path)
        assert edited.module.config.attention_bias and not edited.module.model.layers[0].self_attn.q_proj.bias.any()
        assert not edited.out_projections[1].bias.any()
        biases.append(edited.out_projections[0].bias)
    examples = tiny.copying(48).split(mapped.run.settings.split_seed)["fit"].limit(48).of("Colours")
    model, z = ha.load(planted_folder), []
    for example in examples:
        with torch.inference_mode(), model.capture([0]) as captured:
            model.logits(torch.tensor([model.tokenizer(example.prompt + example.answer)["input_ids"][:-1]]))
        z.append(captured[0][0, :, 1])
    expected = torch.cat(z).mean(0) @ model.out_weight(0)[1]
    torch.testing.assert_close(biases[0], expected, atol=1e-5, rtol=1e-4)
    assert (biases[1] - expected).abs().max() > 1e-3, "neutral text has another mean"


def test_pruning_saves_parameters_and_cache(tmp_path, tmp_path_factory, command):
    out, tiny_folder = tmp_path / "pruned", tmp_path_factory.mktemp("grouped")
    tiny.module(context=512).save_pretrained(tiny_folder)
    tiny.tokenizer().save_pretrained(tiny_folder)
    heads = ",".join(f"L{layer}H{head}" for layer in range(3) for head in (2, 3))
    done = command("edit", "--model", tiny_folder, "--mask", heads, "--prune", "--limit", 8, "-o", out)
    assert done.returncode == 0, done.stderr
    before, after = (sum(p.numel() for p in ha.load(path).module.parameters()) for path in (tiny_folder, out))
    assert f"Parameters: {before:,} before, {after:,} after" in done.stdout
    assert "Cache: 384 bytes for each token before, 192 after (50 % less)" in done.stdout
    assert "Neutral" in done.stdout and str(out) in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pruned"]
    assert ha.load(out).shape == (3, 2)


def test_scaling_from_the_command_line(tmp_path, tiny_folder, command):
    out = tmp_path / "scaled"
    scaled = ("--scale", "L0H1,L1H2=0.5", "--scale", "L2H0=2")
    done = command("edit", "--model", tiny_folder, *scaled, "--no-cost", "--json", "-o", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["factors"] == {"L0H1": 0.5, "L1H2": 0.5, "L2H0": 2.0}
    original, edited = ha.load(tiny_folder), ha.load(out)
    assert torch.equal(edited.out_weight(2)[0], 2 * original.out_weight(2)[0])
    assert torch.equal(edited.out_weight(2)[1], original.out_weight(2)[1])


def test_bad_requests_are_one_sentence_and_leave_nothing(tmp_path, tiny_folder, mapped, command):
    out, of_model, of_atlas = tmp_path / "out", ("--model", tiny_folder), (mapped.path,)
    full = tmp_path / "full"
    full.mkdir()
    (full / "a.txt").touch()
    for code, message, arguments in (
        (2, "There is no head L9H9: the model has 3 layers of 4 heads", (*of_model, "--mask", "L9H9")),
        (2, "There is no head L9H9", (*of_atlas, "--mask", "L9H9")),
        (2, "Unknown task in this atlas 'Colors'. Did you mean 'Colours'", (*of_atlas, "--mask", "top:2:Colors")),
        (2, "give the folder of an atlas", (*of_model, "--mask", "top:2:Colours")),
        (2, "Nothing to edit: name heads with --mask or --scale", of_model),
        (2, "Give the folder of an atlas, or a model with --model", ("--mask", "L0H0")),
        (2, "write HEADS=FACTOR", (*of_model, "--scale", "L0H0")),
        (2, "L0H0 is given two factors, 0.5 and 0", (*of_model, "--scale", "L0H0=0.5", "--mask", "L0H0")),
        (2, "Unknown baseline of an edit 'twin'", (*of_model, "--mask", "L0H0", "--baseline", "twin")),
        (2, "--mean-over goes with the baseline mean", (*of_model, "--mask", "L0H0", "--mean-over", "Neutral")),
        (2, "--prune removes masked heads", (*of_model, "--scale", "L0H0=2", "--prune")),
        (2, "of L0H0, L0H1 only L0H0 was named", (*of_model, "--mask", "L0H0", "--prune")),
        (1, "is not the model of this atlas",
         (*of_atlas, *of_model, "--mask", "L0H0")),
        (2, "is not empty. Give a new folder", (*of_model, "--mask", "L0H0", "-o", full)),
        (1, "There is no folder", (tmp_path / "none", "--mask", "L0H0")),
    ):  # fmt: skip
        done = command("edit", *arguments, *(() if "-o" in arguments else ("-o", out)), "--quiet")
        assert (done.returncode, done.stdout) == (code, ""), (arguments, done.stderr)
        assert message in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]
    assert command("edit", *of_model, "--mask", "L0H0").returncode == 2


def test_an_edited_model_is_mapped_and_compared_with_the_original(masked, mapped, copying_file, tmp_path):
    """The head that was masked is the one that differs, with an interval that leaves out zero."""
    edited = ha.map(
        masked.path, copying_file, ["ablate"], out=tmp_path / "edited", at_chance=True, report=False,
        reporter=tiny.Listener(),
    )  # fmt: skip
    assert edited.run.model.fingerprint != mapped.run.model.fingerprint
    comparison = ha.compare(mapped, edited)
    differing = {task.task: task.differing for task in comparison.tasks}
    (row,) = differing["Colours"].itertuples()
    assert (row.layer, row.head) == HEADS["Colours"] and row.low > 1 and abs(row.second) < 1e-3
    assert HEADS["Colours"] not in {(r.layer, r.head) for r in differing["Numbers"].itertuples()}
