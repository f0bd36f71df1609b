"""The configuration of RViz agrees with the documented interface. RViz is not installed."""

from pathlib import Path

import yaml

from rulesafe_core.robot import h1_2

ROOT = Path(__file__).parents[2]


def test_rviz_shows_topics_that_the_interface_lists():
    configuration = yaml.safe_load((ROOT / "config/rulesafe.rviz").read_text("utf-8"))
    manager = configuration["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == h1_2().links[0].name
    interface = (ROOT / "docs/interface.md").read_text("utf-8")
    topics = [
        (display.get("Topic") or display["Description Topic"])["Value"]
        for display in manager["Displays"]
        if {"Topic", "Description Topic"} & display.keys()
    ]
    assert len(topics) == 4
    assert all(f"| `{topic}` |" in interface for topic in topics)
