"""What is said of heads that were written by hand is what was written."""

import pytest

from headatlas.atlas.portraits import unpack
from headatlas.planted.models.backup import BACKUP, MAIN
from headatlas.planted.models.induction import INDUCTION
from headatlas.planted.models.induction import PREVIOUS as BEFORE_INDUCTION
from headatlas.planted.models.retrieval import LOOKUP, MOVER, PREVIOUS
from tests.microscope import scenes


@pytest.fixture(scope="module")
def retrieval(tmp_path_factory):
    return scenes.look(tmp_path_factory.mktemp("retrieval"), "retrieval", noise=[(1, 0)])


@pytest.fixture(scope="module")
def induction(tmp_path_factory):
    return scenes.look(tmp_path_factory.mktemp("induction"), "induction", noise=[(1, 0)])[0]


def share(looks, text):
    return {look.text: look.value for look in looks}[text]


def names(partners):
    return {(partner.layer, partner.head) for partner in partners}


def test_a_chain_of_heads_is_told_by_who_supplies_whom(retrieval):
    heads, (graph,) = retrieval
    tasks = {head: portrait.tasks[0] for head, portrait in heads.items()}
    assert names(tasks[MOVER].suppliers) == {PREVIOUS, LOOKUP}
    assert names(tasks[LOOKUP].suppliers) == {PREVIOUS}
    assert tasks[PREVIOUS].suppliers == [] and all(task.backups == [] for task in tasks.values())
    assert tasks[MOVER].compared_with == ["L0H5", "L1H0", "L1H2"]
    chain = [(PREVIOUS, LOOKUP), (PREVIOUS, MOVER), (LOOKUP, MOVER)]
    strong = [(edge.first, edge.second) for edge in graph.edges if edge.q < 0.05]
    assert strong == sorted(chain) and all(e.interaction.value < 0 for e in graph.edges if (e.first, e.second) in chain)
    assert len(graph.edges) == 6 and [(n.layer, n.head) for n in graph.nodes] == sorted(tasks)


def test_only_the_last_head_of_a_chain_acts_directly(retrieval):
    heads, _ = retrieval
    for head, ways in ((PREVIOUS, 0), (LOOKUP, 0), (MOVER, 1)):
        task = heads[head].tasks[0]
        assert task.total.value > 10
        assert task.direct.value == pytest.approx(ways * task.total.value, abs=0.3)
        assert task.held.value == pytest.approx(ways * task.total.value, abs=0.3)


def test_attention_goes_where_it_was_planted(retrieval, induction):
    mover, previous = retrieval[0][MOVER].tasks[0], induction[BEFORE_INDUCTION].tasks[0]
    for task in (mover, previous):
        assert share(task.looks, "the token before") > 0.75
    reader = induction[INDUCTION].tasks[0]
    assert share(reader.looks, "the answer, earlier in the prompt") > 0.75
    for task in (mover, reader):
        assert sum(look.value for look in task.looks) == pytest.approx(1, abs=1e-4)


def test_the_attention_of_an_example_and_of_its_twin(induction):
    shown = induction[INDUCTION].tasks[0].strongest[0]
    for words, packed, said in (
        (shown.prompt, shown.attention, shown.answer),
        (shown.twin, shown.twin_attention, shown.foil),
    ):
        last = unpack(packed)[-1]
        assert len(last) == len(words) and words[last.argmax()].strip() == said.strip()
    assert [shown.prompt[i] for i in shown.changed] == [shown.twin[i] for i in shown.twin_changed][::-1]


def test_what_a_copying_head_promotes_is_the_answer(induction):
    portrait = induction[INDUCTION]
    for shown in portrait.tasks[0].strongest:
        assert shown.promoted[0].text == shown.answer.strip() and shown.promoted[0].value > 3
    assert portrait.circuit.copying > 0.95
    assert all(pair.read == pair.written for pair in portrait.circuit.pairs)
    assert abs(induction[(1, 0)].circuit.copying) < 0.5, "noise copies nothing"


def test_examples_are_ordered_by_effect_and_none_is_shown_twice(induction):
    task = induction[INDUCTION].tasks[0]
    strongest, weakest = ([shown.margin - shown.without for shown in part] for part in (task.strongest, task.weakest))
    assert strongest == sorted(strongest, reverse=True) and weakest == sorted(weakest)
    assert min(strongest) > max(weakest)
    assert len({shown.id for shown in task.strongest + task.weakest}) == 7
    drawn = [shown.attention is not None for shown in task.strongest + task.weakest]
    assert drawn == [True, True, False, False, False, False, False]


def test_a_backup_is_found_where_the_main_head_falls_silent(tmp_path):
    heads, _ = scenes.look(tmp_path, "backup", noise=[(0, 3), (2, 4)], baseline="mean")
    main, backup = heads[MAIN].tasks[0], heads[BACKUP].tasks[0]
    assert names(main.backups) == {BACKUP} and names(backup.backups) == {MAIN}
    assert main.backups[0].interaction.low > 0
    assert main.held.value > main.total.value + 1, "the backup makes up for it unless it is held"
    assert all(heads[head].tasks[0].backups == heads[head].tasks[0].suppliers == [] for head in ((0, 3), (2, 4)))


def test_heads_that_do_nothing_have_no_partners(tmp_path):
    heads, (graph,) = scenes.look(tmp_path, "null", noise=[(0, 0), (0, 5), (1, 1), (1, 6)])
    assert all(edge.q > 0.05 for edge in graph.edges)
    assert all(portrait.tasks[0].backups == portrait.tasks[0].suppliers == [] for portrait in heads.values())
