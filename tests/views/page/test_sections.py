"""What stands below the maps: findings, overlap, evidence, competence, agreement, and how the run was made."""

import re

import pytest

from headatlas.views.notes import method_notes
from headatlas.views.pdf import print_pdf
from tests.views.page.test_browser import MAPPED, number

pytestmark = pytest.mark.browser


def test_findings(look, report):
    with look(report) as page:
        page.wait_for_selector("#findings li")
        assert page.locator("#findings .supported li").count() == 3
        assert "2 patterns" in page.locator("#findings summary").first.inner_text()
        against = page.locator("#findings .supported .against").all_inner_texts()
        assert against == ["against: heads in random order"] * 3


def test_evidence(look, report, atlas):
    with look(report, "method=attribute") as page:
        page.wait_for_selector("#run dl")
        assert page.locator('#evidence [data-test="mask"] figure').count() == MAPPED
        mask = page.locator('#evidence [data-test="mask"] figure').first
        compared = atlas.evidence.query("test == 'mask' and method == 'attribute' and compared_with == 'random'")
        first_task = compared[compared["task"] == compared["task"].iloc[0]]
        beyond = first_task[first_task["q_value"] < 0.05].sort_values("k")
        said = f"beyond random from {beyond['k'].iloc[0]} heads" if len(beyond) else "not beyond random"
        assert said in mask.inner_text()
        assert mask.locator(".band.reference").count() == 1 and mask.locator(".level").count() == 1
        assert "attribute ranks first: largest needed first" in page.locator("#evidence header p").inner_text()
        diagonal = page.locator('#evidence [data-test="specificity"] td.outlined')
        assert diagonal.count() == MAPPED
        rows = atlas.evidence.query(
            "method == 'attribute' and test == 'specificity' and metric == 'logprob' and compared_with.isna()"
        )
        first = rows[(rows.task == "Retrieval") & (rows.eval_task == "Retrieval")].iloc[0]
        assert number(diagonal.nth(1).inner_text()) == pytest.approx(first.value - first.intact, abs=6e-3)
        assert page.locator('#evidence [data-test="hierarchy"] td').count() == 16
        page.locator('#evidence .section-head [data-value="probe"]').click()
        steered = page.locator('#evidence [data-test="steer"]')
        assert steered.locator("tbody tr").count() == MAPPED and steered.locator("tbody td").count() == MAPPED * 8
        row = atlas.evidence.query("test == 'steer' and control == 'steer' and metric == 'accuracy'").iloc[0]
        shown = steered.locator("tbody td").first.inner_text().split()
        change = [row[name] - row.intact for name in ("value", "low", "high")]
        assert [number(shown[i]) for i in (0, 1, 3)] == pytest.approx(change, abs=6e-3)


def test_competence_agreement_and_run(look, report, atlas):
    with look(report) as page:
        page.wait_for_selector("#run dl")
        verdicts = page.locator("#competence .competence .verdict").all_inner_texts()
        assert verdicts.count("competent") == MAPPED and verdicts.count("not competent") == 1
        assert page.locator('#agreement [aria-label="Method with method"] tbody tr').count() == 6
        assert page.locator('#agreement [aria-label="Seed with seed"] tbody tr').count() == 2
        halves = page.locator('#agreement [aria-label="Half with half"] td')
        numbers = atlas.diagnostics.query("metric == 'half correlation'")
        assert [number(text) for text in halves.locator("span").all_inner_texts()] == pytest.approx(
            numbers.value.tolist(), abs=6e-3
        )
        assert "probe: recall" not in page.locator("#agreement").inner_text()
        page.locator("#agreement .reported summary").click()
        assert "probe: recall" in page.locator("#agreement").inner_text()
        for note in method_notes(atlas):
            block = page.locator("#agreement .block", has=page.locator("h3", has_text=note.title))
            assert block.locator("tbody tr").count() == len(note.rows)
            assert block.locator("li").all_inner_texts() == list(note.sentences)
        assert page.locator("#run code").inner_text() == "headatlas map"


def test_what_the_texts_of_the_suite_give_away(look, report):
    with look(report) as page:
        page.wait_for_selector("#competence .audit")
        audit = page.locator("#competence .block", has=page.locator(".audit"))
        assert "3 checks: 0 bad, 2 warning and 1 good" in audit.inner_text()
        lines = audit.locator(".audit > ul > li").all_inner_texts()  # two say the same, so each says which it is
        assert "answer from options: The options" in lines[0] and "answer from lengths: The options" in lines[1]
        assert audit.locator("details summary").inner_text() == "Show 1 check without a complaint"


def test_paper_does_not_wait(look, report):
    """What is drawn when there is time is drawn before printing, in the same turn, and what is folded is opened."""
    with look(report) as page:
        page.wait_for_selector("#run dl")
        drawn = """() => {
            document.querySelector('.toolbar [data-value="attribute"]').click(); // evidence is drawn again, when idle
            const evidence = document.getElementById("evidence");
            evidence.replaceChildren();
            dispatchEvent(new Event("beforeprint"));
            return evidence.childElementCount;
        }"""
        folded = page.locator("details:not([open])")
        before = folded.count()
        assert before > 0
        assert page.evaluate(drawn) > 0
        assert folded.count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert folded.count() == before


def test_the_pdf_holds_the_whole_page(browser, report, tmp_path):
    """Chromium prints as soon as a page is loaded: what is drawn later must not be missing."""
    pdf = print_pdf(report, tmp_path / "report.pdf")
    pages = re.findall(rb"/Type /Page\b(?!s)", pdf.read_bytes())
    assert len(pages) >= 8  # three, when only the maps are there


def test_overlap_counts_heads_in_common(look, report, atlas):
    tops = {
        task: {(row.layer, row["head"]) for _, row in atlas.table(task, "probe").head(10).iterrows()}
        for task in ("Knowledge Recall", "Retrieval")
    }
    with look(report) as page:
        page.wait_for_selector("#overlap table")
        shown = page.locator("#overlap .matrix tbody tr").first.locator("td").nth(1).inner_text()
        assert int(shown) == len(set.intersection(*tops.values()))


def test_printing_leaves_the_tools_out(look, report):
    with look(report) as page:
        page.emulate_media(media="print")
        assert page.locator("#toolbar").is_hidden() and page.locator("#grid").is_visible()
