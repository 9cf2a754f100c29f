from headatlas.run.words import Words


def test_words_digits_and_marks_are_tokens():
    words = Words()

    def count(text):
        return len(words(text)["input_ids"])

    assert count("The key is in the box.") == 7
    assert count("12 + 3") == 5  # two digits, a mark with its space, a space, a digit
    assert count("extraordinarily") == 2
    assert count("") == 0


def test_the_same_piece_has_the_same_number_and_prefixes_stay():
    words = Words()
    prompt, longer = (words(text)["input_ids"] for text in ("The sum of two", "The sum of two and"))
    assert longer[: len(prompt)] == prompt and len(set(longer)) == len(longer)
    assert words("The sum of two", add_special_tokens=False)["input_ids"] == prompt
