from headatlas.patterns.found_again import FoundAgain
from headatlas.views.found_again import found_again_sentence

NOTHING = FoundAgain("ablate", "T", 270, 10, None, 0, None, None, 1, None, None)


def test_halves_and_wordings():
    found = NOTHING._replace(halves=7.44, wordings=6, without_one=9.25, without_worst=8.0)
    assert found_again_sentence(found) == (
        "Of its first 10 heads two halves of the examples share 7.4; without any one of 6 wordings at least 8 stay "
        "(9.2 on average); chance gives 0.4."
    )


def test_seeds_and_errors():
    found = NOTHING._replace(seeds=3, between_seeds=6.0, repeat=8.04, k=1)
    assert found_again_sentence(found) == (
        "Of its first head two of 3 seeds share 6.0; new examples would give about 8.0 again, by the standard errors; "
        "chance gives 0.0."
    )
