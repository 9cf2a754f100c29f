"""The truth about planted models, found by editing weights."""

import dataclasses

import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.planted import PLANTED
from headatlas.planted.truth import IGNORED, MATTERS, margin
from headatlas.planted.words import ids, prompt_ids


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("name", list(PLANTED))
def test_planted_heads_do_what_they_were_planted_for(name, seed):
    """`truth` refuses a model that is not what it was made to be; the gap to all other heads is wide."""
    planted = PLANTED[name]
    truth = planted.truth(seed)
    assert all(value > 2 for value in truth.margins.values()), "the model can do its tasks"
    for row in truth.rows:
        share = row.effect / truth.margins[row.task]
        role = planted.roles.get(row.task, {}).get((row.layer, row.head), "none")
        assert row.role == role
        assert {"helps": share > MATTERS, "hurts": share < -MATTERS}.get(role, abs(share) < IGNORED)
        if role == "backup":
            assert row.given > MATTERS * truth.margins[row.task]


@pytest.mark.parametrize("name", ["induction", "retrieval"])
def test_editing_weights_and_gating_through_the_seam_agree(name):
    planted = PLANTED[name]
    canvas, model, examples = planted.draw(0), planted.build(0), planted.suite(0).examples[:12]
    prompts, last = prompt_ids([example.prompt for example in examples])
    words = torch.tensor([ids((e.answer.strip(), e.counterfactual.answer.strip())) for e in examples])
    for head in [*canvas.planted, (1, 1)]:
        gates = torch.ones(model.shape)
        gates[head] = 0
        with torch.no_grad(), model.gate(gates):
            logits = model.logits(prompts)[range(12), last].gather(1, words)
        assert margin(canvas, examples, [head]) == pytest.approx((logits[:, 0] - logits[:, 1]).mean().item(), abs=1e-4)


def test_a_model_is_left_as_it_was():
    planted = PLANTED["loud"]
    canvas, examples = planted.draw(0), planted.suite(0).examples[:6]
    before = {name: weight.clone() for name, weight in canvas.module.state_dict().items()}
    intact = margin(canvas, examples)
    assert margin(canvas, examples, [(1, 0)]) < intact / 2
    assert all(torch.equal(before[name], weight) for name, weight in canvas.module.state_dict().items())


def test_a_false_claim_is_refused():
    claimed = dataclasses.replace(PLANTED["loud"], roles={"Pick": {(1, 0): "helps", (0, 1): "hurts"}})
    with pytest.raises(HeadAtlasError, match="heads of 'Pick' are L1H0 helps; planted were L1H0 helps, L0H1 hurts"):
        claimed.truth()


def test_a_model_without_a_clear_gap_is_refused():
    def faint(seed):
        canvas = PLANTED["harmful"].draw(seed)
        canvas.write((2, 4)).mul_(0.25)
        return canvas

    with pytest.raises(HeadAtlasError, match=r"no clear gap .* without L2H4 it loses -0\.\d\d of"):
        dataclasses.replace(PLANTED["harmful"], draw=faint).truth()


def test_the_truth_is_a_table():
    lines = PLANTED["loud"].truth().to_csv().splitlines()
    assert lines[0] == "task,layer,head,effect,given,role"
    assert len(lines) == 1 + 18
    assert next(line for line in lines if line.endswith(",helps")).startswith("Pick,1,0,")
