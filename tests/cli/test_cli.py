"""The command line as a user meets it, by exit code and by what is printed: `run` starts a process, `command` none."""

import json
import os
import re
import subprocess
import sys

import pytest


def run(*arguments, **changes):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "200"} | changes
    command = [sys.executable, "-m", "headatlas", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("code", ["import headatlas", "import headatlas.cli", "from headatlas import HeadAtlasError"])
def test_importing_loads_nothing_heavy(code):
    heavy = {"torch", "transformers", "pandas", "matplotlib", "rich"}
    probe = f"{code}\nimport sys\nprint(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_no_torch():
    probe = "import sys; sys.argv = ['headatlas', 'map', '--help']\nfrom headatlas.cli import main\ntry:\n  main()\nexcept SystemExit:\n  print('torch' in sys.modules)"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "  headatlas map --suite tasks.jsonl --out mine     your tasks\n" in done.stdout
    assert done.stdout.strip().endswith("False")


def test_readers_of_an_atlas_need_no_torch():
    readers = "headatlas.views.figures, headatlas.views.page, headatlas.views.report.report, headatlas.views.server"
    probe = f"import sys, {readers}\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_map_then_top_then_plot(tmp_path, tiny_folder, tiny_tasks, command):
    out = tmp_path / "atlas"
    made = run("map", "--model", tiny_folder, "--suite", tiny_tasks, "--out", out, "--at-chance")
    assert made.returncode == 0, made.stderr
    assert "What the intact model can do" in made.stdout
    assert f"headatlas verify {out}" in made.stdout
    assert str(out / "report.html") in made.stdout
    assert "cells computed, 0 reused from an earlier run" in made.stderr
    drawn = {"atlas", "competence", "importance", "importance_probe", "profiles", "elbow", "gate_curves"}
    drawn |= {"roles", "role_maps", "role_distributions"}
    assert {path.name for path in (out / "figures").iterdir()} == {f"{n}.{k}" for n in drawn for k in ("png", "svg")}

    again = command("map", "--model", tiny_folder, "--suite", tiny_tasks, "--out", out, "--at-chance", "--json")
    assert json.loads(again.stdout)["cells"]["computed"] == 0
    assert again.stderr == ""

    top = command("top", out, "--task", "colours", "-k", 3)
    assert top.returncode == 0
    assert "Colours: strongest heads by ablate" in top.stdout
    assert len(re.findall(r"L\d+H\d+", top.stdout)) == 3
    rows = json.loads(command("top", out, "--task", "colours", "-k", 3, "--json").stdout)
    columns = {"rank", "layer", "head", "value", "low", "high", "stderr", "p_value", "q_value", "least", "most"}
    assert [set(row) for row in rows] == [columns] * 3
    assert [row["rank"] for row in rows] == [1, 2, 3]

    plotted = command("plot", out, "--method", "ablate", "--out", tmp_path / "figure.pdf")
    assert plotted.returncode == 0
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_the_heatmap_is_drawn_in_a_colour_terminal(tiny_atlas):
    top = run(
        "top", tiny_atlas.path, "--task", "colours", FORCE_COLOR="1", TERM="xterm-256color", COLORTERM="truecolor"
    )
    assert top.stdout.count("▀▀") == 4 * 2  # four heads, two lines of two layers
    assert "by ablate" in top.stdout
    assert "▀" not in run("top", tiny_atlas.path, "--task", "colours").stdout


def test_suite_commands(tiny_tasks, command):
    assert "cognitive" in run("suite", "list").stdout
    assert "cognitive" in json.loads(command("suite", "list", "--json").stdout)
    checked = json.loads(command("suite", "check", tiny_tasks, "--json").stdout)
    assert [row["task"] for row in checked["tasks"]] == ["Colours", "Numbers"]
    assert all(row["fit"] + row["choose"] + row["evaluate"] == row["examples"] == 24 for row in checked["tasks"])
    assert {(row["twins"], row["nested"]) for row in checked["tasks"]} == {(0, 0)}


def with_twins(folder, missing=0, nested=0):
    """The small tasks as a file, with twins but for the first of each task; the first have nested options."""
    from headatlas.suites.suite import to_jsonl
    from tests.run.test_quantity import twin_suite

    examples = []
    for i, example in enumerate(twin_suite(24, missing=missing).examples):
        longer = (f"{example.answer} and", *example.distractors[1:])
        examples.append(example.model_copy(update={"distractors": longer}) if i % 24 < nested else example)
    path = folder / "twins.jsonl"
    path.write_text(to_jsonl(examples))
    return path


def test_suite_check_says_what_a_map_would_do_with_the_twins(tmp_path, tiny_folder, command):
    tasks = with_twins(tmp_path, missing=1, nested=2)
    done = command("suite", "check", tasks, "--model", tiny_folder, "--json")
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)["tasks"]
    assert (first["task"], first["examples"], first["twins"], first["aligned"], first["nested"]) == (
        "Colours", 24, 23, 23, 2,
    )  # fmt: skip
    assert second["metric"] == "margin" and 0 <= second["lent"] <= 24
    assert {row["baseline"] for row in (first, second)} <= {"twin", "pair", "mean", "twin / pair", "pair / twin"}
    text = command("suite", "check", tasks).stdout
    assert "aligned" not in text and "In 4 examples an option begins another" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["twins.jsonl"], "nothing is written"


def test_too_few_twins_are_refused_before_anything_is_written(tmp_path, tiny_folder, tiny_tasks, command):
    out = tmp_path / "out"
    usual = ("map", "--model", tiny_folder, "--out", out, "--at-chance", "--method", "ablate")
    few = with_twins(tmp_path, missing=23)
    for tasks, asked, message in (
        (tiny_tasks, ("--baseline", "twin"), "examples of 'Colours' outside its held-out split have a twin that can "
         "be aligned, too few for --baseline 'twin'. Give more twins, or use another --baseline."),
        (few, ("--baseline", "twin"), "too few for --baseline 'twin'"),
    ):  # fmt: skip
        done = command(*usual, "--suite", tasks, *asked)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert message in done.stderr and "Traceback" not in done.stderr
        assert not out.exists()


def test_the_audit_gives_a_verdict_on_every_check(tiny_tasks, tiny_folder, command):
    done = command("suite", "audit", tiny_tasks, "--model", tiny_folder)
    assert done.returncode == 0, done.stderr
    assert "prompt length in tokens" in done.stdout
    checks = json.loads(command("suite", "audit", tiny_tasks, "--json").stdout)
    assert {check["verdict"] for check in checks} <= {"good", "warning", "bad"}
    assert f"{len(checks) + 2 + 4} checks:" in done.stdout, "two lengths, and twins and options of both tasks"
    assert "0 of 24 examples of Colours have a twin that can be aligned with them" in done.stdout


def test_importing_writes_a_task_file_that_can_be_checked(tmp_path):
    steps = [
        {"subquestion": f"What is {i} and {j}?", "answer": f"it is {i + j}", "cognitive_skill": skill}
        for j, skill in enumerate(["Retrieval", "Math Calculation", "Induction"])
        for i in range(2)
    ]
    records = [{"question": f"Number {i}?", "answer": "x", "generated": steps} for i in range(6)]
    (tmp_path / "cogqa.json").write_text(json.dumps(records))
    done = run("suite", "import", "cogqa", tmp_path / "cogqa.json", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert "24 examples written" in done.stdout
    assert "Induction 12" in done.stdout
    checked = json.loads(run("suite", "check", tmp_path / "out.jsonl", "--json").stdout)
    assert [row["examples"] for row in checked["tasks"]] == [12, 12]
    missing = run("suite", "import", "cogqa", tmp_path / "none.json", "-o", tmp_path / "no.jsonl")
    assert missing.returncode == 1
    assert not (tmp_path / "no.jsonl").exists()


def test_models_commands(tmp_path):
    listed = run("models", "list", HEADATLAS_HOME=str(tmp_path), HF_HOME=str(tmp_path / "hf"))
    assert listed.returncode == 0
    assert "smollm2  not fetched yet" in listed.stdout
    wrong = run("models", "fetch", "smollm3")
    assert wrong.returncode == 2
    assert "Did you mean 'smollm2'" in wrong.stderr


def test_bad_input_is_one_sentence_without_a_traceback(tmp_path, tiny_folder, tiny_tasks, command):
    """Exit code 2 for a bad request, 1 for something that failed; nothing is left behind."""
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "1"}\n')
    twin = '{"id": "1", "task": "t", "prompt": "p", "answer": " 5", "group": "g", "counterfactual": %s}'
    for name, text in {"blank": '{"prompt": "q", "answer": " "}', "begins": '{"prompt": "q", "answer": " 57"}'}.items():
        (tmp_path / f"{name}.jsonl").write_text(twin % text)
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "model.gguf").write_bytes(b"GGUFnonsense")
    (tmp_path / "folder").mkdir()
    out = tmp_path / "out"
    usual = ("--model", tiny_folder, "--suite", tiny_tasks, "--out", out)
    cases = [
        (1, "is at chance on every task", ("map", *usual)),
        (2, "No such option", ("map", "--modle", "x")),
        (2, "Did you mean 'smollm2'", ("map", "--model", "smollm", "--suite", tiny_tasks, "--out", out)),
        (2, "holds no model", ("map", *usual, "--model", tmp_path / "folder")),
        (1, "Cannot load the model", ("map", *usual, "--model", tmp_path / "model.gguf")),
        (2, "cannot be a Hub id", ("map", *usual, "--model", "./no such folder")),
        (1, "not in the Hugging Face cache", ("map", *usual, "--model", "nobody/nothing")),
        (1, "line 1, field 'task': Field required", ("map", *usual, "--suite", broken)),
        (1, "line 1, field 'counterfactual.answer': is blank", ("map", *usual, "--suite", tmp_path / "blank.jsonl")),
        (1, "line 1, field 'counterfactual': has the answer ' 57' where the answer is ' 5': one begins the other",
         ("suite", "check", tmp_path / "begins.jsonl")),
        (1, "holds no examples", ("map", *usual, "--suite", tmp_path / "empty.jsonl")),
        (2, "Did you mean 'Numbers'", ("map", *usual, "--task", "number")),
        (2, "Did you mean 'attribute'", ("map", *usual, "--method", "atribute")),
        (2, "--exact some was given; write a number of examples, or all", ("map", *usual, "--exact", "some")),
        (2, "top = 0 was asked for; give a number of heads, at least 1", ("map", *usual, "--top", "0")),
        (2, "but the model has 12 heads", ("map", *usual, "--at-chance", "--method", "ablate", "--top", "13")),
        (2, "confidence = 2.0 was asked for", ("map", *usual, "--top", "3", "--confidence", "2")),
        (2, "without --top; say how many heads", ("map", *usual, "--confidence", "0.9")),
        (2, "Did you mean 'binary'", ("map", *usual, "--gates", "binry")),
        (2, "Unknown dtype 'float31'", ("map", *usual, "--dtype", "float31")),
        (2, "The device 'cuda:99' cannot be used", ("map", *usual, "--device", "cuda:99")),
        (2, "give one of them", ("map", *usual, "--device", "cpu", "--device-map", "auto")),
        (2, "is a file; give a folder", ("map", *usual, "--out", broken)),
        (1, "There is no folder", ("top", tmp_path / "none", "--task", "x")),
        (1, "is not an atlas", ("plot", tmp_path / "folder")),
    ]  # fmt: skip
    for number, (code, message, arguments) in enumerate(cases):
        done = run(*arguments) if number < 2 else command(*arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert message in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr, (arguments, done.stderr)
        assert done.stdout == ""
        assert not (out / "scores.parquet").exists(), arguments


def test_the_consensus_of_an_atlas(tmp_path, tiny_atlas, command):
    """Of every task that two methods have mapped, or of one; as a table and as JSON."""
    printed = command("top", tiny_atlas.path, "--consensus")
    assert printed.returncode == 0, printed.stderr
    assert "Colours: heads that at least two" in printed.stdout and "Numbers: heads that" in printed.stdout
    (found,) = json.loads(command("top", tiny_atlas.path, "--consensus", "--task", "numbers", "--json").stdout)
    assert found["task"] == "Numbers"
    assert [one["method"] for one in found["methods"]] == ["attribute", "ablate", "gate"]
    assert len(found["heads"]) == min(found["agreed"], 10)
    for row in found["heads"]:
        assert sum(row[f"{one['method']}_supports"] for one in found["methods"]) == row["methods"] >= 2
    refused = command("top", tiny_atlas.path, "--consensus", "--method", "gate")
    assert refused.returncode == 2
    assert "--consensus asks all causal methods of the atlas; leave --method out." in refused.stderr


def test_a_consensus_of_one_method_is_one_sentence(tmp_path, command):
    import numpy as np

    from tests.atlases import Known, write_atlas

    atlas = write_atlas(tmp_path / "atlas", [Known(np.ones((3, 4)))])
    for more in ((), ("--task", "task"), ("--json",)):
        done = command("top", atlas.path, "--consensus", *more)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: A consensus needs at least 2 independent causal methods; ")
        assert done.stderr.count("\n") == 1


def test_serve_waits_for_an_atlas_and_refuses_what_cannot_become_one(tmp_path, command, monkeypatch):
    served = []
    monkeypatch.setattr("headatlas.views.server.serve", lambda folders, *_, **__: served.append(folders))
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / ".lock").touch()  # as a run that has just begun
    waiting = command("serve", tmp_path / "none", tmp_path / "locked")
    assert waiting.returncode == 0 and served == [[tmp_path / "none", tmp_path / "locked"]]
    assert f"There is no atlas in {tmp_path / 'none'} yet; the page waits for it." in waiting.stdout
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").touch()
    refused = command("serve", tmp_path / "letters")
    assert refused.returncode == 1 and "is not an atlas: there is no run.json in it" in refused.stderr
    assert len(served) == 1


def test_comparing_two_methods(tmp_path, tiny_atlas, command):
    out = tmp_path / "out"
    done = command("compare", tiny_atlas.path, "--method", "ablate", "--method-b", "attribute", "-k", "3", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "ablate and attribute, by heads" in done.stdout and str(out / "compare.html") in done.stdout
    record = json.loads((out / "compare.json").read_text())
    assert [side["method"] for side in record["sides"]] == ["ablate", "attribute"]
    assert [task["k"] for task in record["tasks"]] == [3, 3]
    again = command("compare", tiny_atlas.path, "--method-b", "attribute", "--task", "numbers", "--json", "-o", out)
    assert [task["task"] for task in json.loads(again.stdout)["tasks"]] == ["Numbers"]


def test_a_comparison_that_cannot_be_is_one_sentence_and_writes_nothing(tmp_path, tiny_atlas, command):
    out = tmp_path / "out"
    for arguments, says, code in (
        ([], "Both sides are the same maps: needed by ablate", 2),
        ([tmp_path], f"The folder {tmp_path} is not an atlas", 1),
        (["--method-b", "gat"], "Unknown method in this atlas 'gat'", 2),
        (["--method-b", "attribute", "--task", "nothing"], "Unknown task in this atlas 'nothing'", 2),
        (["--method-b", "attribute", "--by", "layers"], "--by 'layers' was asked for", 2),
    ):
        done = command("compare", tiny_atlas.path, *arguments, "-o", out)
        assert done.returncode == code and done.stderr.startswith(f"Error: {says}"), done.stderr
        assert done.stderr.count("\n") == 1 and not out.exists()
