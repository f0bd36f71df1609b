"""Tables in Markdown."""

from rulesafe_data.markdown import markdown_table


def test_a_markdown_table_is_aligned_to_the_right():
    assert markdown_table([["", "a"], ["b", "1"]]).splitlines() == [
        "|  | a |",
        "|---|---:|",
        "| b | 1 |",
    ]
