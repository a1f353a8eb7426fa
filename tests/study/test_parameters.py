"""Lists and switches as they are typed: one convention, and anything else is refused in one line."""

import pytest

from study.parameters import several, switch


@pytest.mark.parametrize(
    "given", ["1 2 4", "1,2,4", "1, 2 , 4", "[1, 2, 4]", "(1 2 4)", " [1,2 4] ", "1:3,4", [1, 2, 4], (1, 2, 4)]
)
def test_whole_numbers_may_be_a_list_or_a_text_with_blanks_or_commas(given):
    assert several("degrees", given, int) == (1, 2, 4)


def test_numbers_words_and_one_value_alone_are_lists_too():
    assert several("widths", "0.6 1", float) == several("widths", [0.6, 1], float) == (0.6, 1.0)
    assert several("datasets", "['iris', \"wine\"]") == several("datasets", "iris wine") == ("iris", "wine")
    assert several("degrees", 3, int) == (3,) and several("widths", 0.5, float) == (0.5,)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("", int), ("[]", int), ([], int), ("[1,2", int), ("1;2", int), ("1,,2", int), ("2.5", int), (2.5, int), (True, int),
        ({"a": 1}, int), (None, str), ("5:3", int), ("1:2", float), ("a", float), ("a]", str), ([1], str), ([[1], 2], int),
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_the_name_of_the_parameter_in_one_line(given, kind):
    with pytest.raises(ValueError, match=r"^degrees: expected a list of .* as in -p degrees") as told:
        several("degrees", given, kind)
    assert "\n" not in str(told.value)


def test_a_switch_is_on_or_off_and_nothing_else():
    assert [switch("code", each) for each in ("1", 1, True, "0", 0, False, "")] == [True] * 3 + [False] * 4
    for other in ("yes", "no", "2", "off"):
        with pytest.raises(ValueError, match=f"code: expected 1 \\(on\\) or 0 \\(off\\), got '{other}'"):
            switch("code", other)
