"""What the intact model can do, in a terminal."""

import numpy as np

from headatlas.views.terminal import competence_table
from tests.atlases import Known, competent, write_atlas
from tests.views.terminal.printing import printed


def test_every_task_of_the_suite_has_a_row(tmp_path):
    competence = [competent("[b]A[/b]"), competent("C", able=False)]
    atlas = write_atlas(tmp_path / "atlas", [Known(np.ones((2, 2)), task="[b]A[/b]")], competence=competence)
    title, _, first, second = printed([competence_table(atlas)]).splitlines()
    assert title.strip() == "What the intact model can do"
    assert first.split() == ["[b]A[/b]", "96", "0.80", "0.70", "to", "0.90", "0.25", "−2.00", "competent"]
    assert second.split() == ["C", "96", "0.30", "0.20", "to", "0.40", "0.25", "−2.00", "not", "competent"]
