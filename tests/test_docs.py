"""What the texts show works: code blocks, commands, links, versions."""

import ast
import importlib
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest
import typer
from transformers import LlamaConfig, LlamaForCausalLM

import headatlas as ha
from headatlas.evidence import TESTS
from headatlas.methods import METHODS
from headatlas.methods.effects import exact_effects, single_heads
from headatlas.model.families import FAMILIES
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import plan_quantity
from headatlas.run.selection import split_examples
from headatlas.suites.registry import DECLARATIONS, SUITES
from headatlas.views.figures import FIGURES
from headatlas.workflows.presets import split_limits
from tests import tiny

ROOT = Path(__file__).parents[1]
TEXTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(text, block, id=f"{text.name}-{number}")
    for text in TEXTS
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text.read_text(), re.S))
]


@pytest.fixture(scope="module")
def contributed(tmp_path_factory):
    """The variables of CONTRIBUTING.md after its code blocks have run one after the other."""
    variables = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("contributing"))
        for block in re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S):
            exec(compile(block, "CONTRIBUTING.md", "exec"), variables)
        yield variables
    METHODS.remove("damp")
    TESTS.remove("double")
    del FAMILIES["my_llama"], DECLARATIONS["sums"], SUITES["sums"], FIGURES["sorted"]


def test_the_method_of_contributing_scales_heads(contributed, tmp_path):
    atlas, model, suite = contributed["atlas"], contributed["model"], contributed["suite"]
    assert atlas.methods == ["damp"] and atlas.run.settings.methods["damp"] == {"factor": 0.25}
    assert not np.allclose(atlas.grid("Colours"), 0)
    # With a factor of zero it is an ablation that puts zero in the place of the head.
    out = tmp_path / "removed"
    removed = ha.map(model, suite, ["damp"], settings={"damp": {"factor": 0.0}}, at_chance=True, out=out)
    splits = split_examples(suite, split_limits("quick", None), 0)
    context = ha.RunContext(model, splits, Runner(tmp_path, Reporter(quiet=True)), Encoder(model))
    quantities = {task: plan_quantity(context, task, ("choose",), "logprob", "zero") for task in removed.tasks}
    effects = exact_effects("", quantities, dict.fromkeys(removed.tasks, single_heads(context.heads)))
    for task in removed.tasks:
        np.testing.assert_allclose(removed.grid(task, "damp").ravel(), effects[task].mean(0), atol=1e-5)


def test_the_test_of_contributing_doubles_heads(contributed):
    atlas, model = contributed["atlas"], contributed["model"]
    rows = atlas.evidence
    assert set(rows["test"]) == {"double"} and set(rows["control"]) == {"top", "random"}
    assert {2, 4} <= set(rows["k"])
    top = rows.query("task == 'Colours' and control == 'top' and k == 2 and metric == 'logprob'").iloc[0]
    gates = np.ones(model.shape)
    for head in atlas.ranking("Colours")[:2]:
        gates[head] = 2
    examples = contributed["suite"].split()["evaluate"].limit(4).of("Colours")
    assert top["value"] == pytest.approx(_mean_logprob(model, examples, gates), abs=1e-4)
    assert top["intact"] == pytest.approx(_mean_logprob(model, examples, np.ones(model.shape)), abs=1e-4)


def test_what_contributing_adds_is_shown_everywhere(contributed):
    folder = contributed["atlas"].path
    report, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    for title in ("Damping", "Twice the heads"):
        assert title in report and title in page
    assert list((folder / "figures").glob("double*.png"))


def test_the_figure_of_contributing_draws_the_values(contributed):
    atlas = contributed["atlas"]
    lines = {line.get_label(): line.get_ydata() for line in contributed["drawn"].axes[0].lines}
    for task in atlas.tasks:
        np.testing.assert_array_equal(lines[task], atlas.table(task)["value"])
    assert contributed["drawn"].axes[0].get_ylabel() == "importance (nats)"
    assert Path("sorted.png").stat().st_size > 1000


def test_the_family_of_contributing_loads_a_model(contributed):
    class MyConfig(LlamaConfig):
        model_type = "my_llama"

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = ha.load(LlamaForCausalLM(MyConfig(vocab_size=tiny.VOCABULARY, **sizes)), tiny.tokenizer())
    assert model.shape == (2, 4) and model.model_type == "my_llama"


def test_the_suite_of_contributing_can_be_asked_for_by_name(contributed):
    suite = ha.load_suite("sums")
    assert len(suite.examples) == 81 and suite.tasks == ("Sums",)
    groups = [{example.group for example in part.examples} for part in suite.split().values()]
    assert not set.intersection(*groups) and set.union(*groups) >= {"2+7"}
    assert {example.answer for example in suite.examples if example.group == "2+7"} == {" 9"}


@pytest.mark.parametrize(("text", "block"), BLOCKS)
def test_code_blocks_use_names_that_exist(text, block):
    tree = ast.parse(block)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "headatlas":
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("ha", "headatlas")
        ):
            assert node.attr in ha.__all__, f"headatlas has no {node.attr}"


def _commands():
    """Every command line `headatlas ...` in the texts: in blocks that are indented, and between backticks."""
    for text in TEXTS:
        if text.name == "CHANGELOG.md":  # it names what is gone
            continue
        content = text.read_text()
        lines = re.findall(r"^ {4}(headatlas .*)$", content, re.M) + re.findall(r"`(headatlas [^`]*)`", content)
        for line in lines:
            words = shlex.split(re.sub(r"\s+", " ", line), comments=True)
            yield pytest.param(words[1:], id=f"{text.name}: {' '.join(words)}")


@pytest.mark.parametrize("words", list(_commands()))
def test_commands_in_the_texts_exist_with_their_options(words):
    from headatlas.cli import app

    command = typer.main.get_command(app)
    while words and hasattr(command, "commands") and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    assert not hasattr(command, "commands") or not words, f"there is no command {words}"
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help"}
    assert [word for word in words if word.startswith("-") and word not in known] == []


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_links_lead_to_files(text):
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text.read_text())]
    local = [link for link in links if link and not link.startswith("http")]
    made_by_the_site = {"contributing.md", "architecture.md", "changelog.md", "index.md"}
    assert [link for link in local if not (text.parent / link).exists() and link not in made_by_the_site] == []


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_and_folders_named_in_the_texts_exist(name):
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", (ROOT / name).read_text()))
    package = ROOT / "src" / "headatlas"
    bases = (ROOT, package, package / "views")
    assert len(named) > 5
    assert [path for path in sorted(named) if not any((base / path).exists() for base in bases)] == []


def test_every_page_of_the_site_is_in_its_menu():
    menu = (ROOT / "mkdocs.yml").read_text()
    assert [path.name for path in (ROOT / "docs").glob("*.md") if f": {path.name}" not in menu] == []


def test_every_public_name_is_in_the_reference():
    reference = (ROOT / "docs" / "api.md").read_text()
    names = [getattr(ha, name) for name in ha.__all__]
    assert [part.__name__ for part in names if f".{part.__name__}\n" not in reference] == []


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == version
    assert re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(), re.M)[1] == version


def _mean_logprob(model, examples, gates):
    import torch

    values = []
    for example in examples:
        prompt, answer = (model.tokenizer(text)["input_ids"] for text in (example.prompt, example.answer))
        with torch.inference_mode(), model.gate(torch.from_numpy(gates)):
            logprobs = model.logits(torch.tensor([prompt + answer])).log_softmax(-1)[0, len(prompt) - 1 : -1]
        values.append(sum(logprobs[i, token].item() for i, token in enumerate(answer)))
    return np.mean(values)
