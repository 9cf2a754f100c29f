from headatlas.microscope.pieces import pieces, word
from headatlas.planted import words as planted_words
from tests import tiny


def test_pieces_put_together_are_the_text():
    for text in ("the red box is", "one € and café", "naïve"):
        ids = tiny.tokenizer()(text)["input_ids"]
        cut = pieces(tiny.tokenizer(), ids)
        assert "".join(cut) == text and len(cut) == len(ids) > 1
        assert "\ufffd" not in "".join(cut)


def test_blanks_that_a_tokenizer_leaves_out_come_back():
    whole = planted_words.tokenizer()
    assert pieces(whole, whole("ann red give")["input_ids"]) == ["<begin>", " ann", " red", " give"]


def test_a_single_token():
    tokenizer = tiny.tokenizer()
    assert word(tokenizer, tokenizer(" red")["input_ids"][0]) == " red"
