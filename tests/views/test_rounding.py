import numpy as np
import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.run_record import write_run
from headatlas.views.report.not_shown import not_shown_chapter
from headatlas.views.rounding import rounding_warning
from tests.atlases import Known, write_atlas


def atlas_in(path, dtype, rounding):
    value = np.linspace(-0.1, 0.1, 41)[:40].reshape(10, 4)  # the median size is 0.05
    atlas = write_atlas(path, [Known(value, method="ablate", measure="needed")])
    atlas.run.model.dtype, atlas.run.rounding = dtype, rounding
    write_run(path, atlas.run)
    return Atlas(path)


@pytest.mark.parametrize(
    ("dtype", "rounding", "said"),
    [
        ("float32", None, None),
        ("bfloat16", 0.004, None),
        ("bfloat16", 0.086, "moves the effect of a head on one example by 0.086 nats"),
        ("float16", None, "what rounding adds to effects was not measured"),
    ],
)
def test_rounding_is_warned_of_where_it_is_not_small_beside_the_effects(tmp_path, dtype, rounding, said):
    atlas = atlas_in(tmp_path / "atlas", dtype, rounding)
    warning = rounding_warning(atlas)
    chapter = "\n".join(not_shown_chapter(atlas, "ablate", []))
    if said is None:
        assert warning is None and "rounding" not in chapter
    else:
        assert said in warning and dtype in warning and "--dtype float32" in warning
        assert said in chapter
    if rounding == 0.086:
        assert "the median effect of a head by ablate is 0.05 nats" in warning
