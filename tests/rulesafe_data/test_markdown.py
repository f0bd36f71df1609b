"""Tables in Markdown."""

from rulesafe_data.markdown import escaped, markdown_table


def test_a_markdown_table_is_aligned_to_the_right():
    assert markdown_table([["", "a"], ["b", "1"]]).splitlines() == [
        "|  | a |",
        "|---|---:|",
        "| b | 1 |",
    ]


def test_a_text_is_shown_as_it_is_in_a_cell():
    assert escaped("dp3 rule_001, 5 %") == "dp3 rule_001, 5 %"
    assert escaped("a|b\n# <b>_x_*y*`") == r"a\|b # \<b\>\_x\_\*y\*\`"
    assert escaped("# head") == r"\# head"
