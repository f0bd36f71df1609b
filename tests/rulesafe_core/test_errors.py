import pytest

from rulesafe_core.errors import resumable


@pytest.mark.parametrize(("texts", "kept"), [((), "the last checkpoint"), (("step 3",), "step 3")])
def test_an_interruption_states_what_is_kept(texts, kept, capsys):
    with pytest.raises(KeyboardInterrupt), resumable("the last checkpoint"):
        raise KeyboardInterrupt(*texts)
    assert f"interrupted: {kept} is kept; repeat the command" in capsys.readouterr().err
