"""The Foxglove layout config/foxglove_layout.json, made of what is shown where.

Example: python -m rulesafe_ros.view.layout > config/foxglove_layout.json
"""

import json
import re
from collections.abc import Sequence
from typing import Literal

import foxglove.layouts as fl

from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_locks.rules import PARTS
from rulesafe_ros.view.model import JOINT_NAMES

ARM = 7
"""Of the 13 joints, the arm's; the others are the hand's."""


def layout() -> fl.Layout:
    """Robot and safe in three dimensions, cameras, tokens, lock status, joints and chunk."""
    left = _column((1, _camera("head")), (1, _camera("front")))
    middle = _column((3, _scene()), (2, _joints()))
    right = _column((2, _lock()), (2, _memory()), (1, _phases()), (1, _complaints()))
    return fl.Layout(content=_row((2, left), (4, middle), (2, right)))


def _row(*items: tuple[float, fl.Content]) -> fl.SplitContainer:
    return _split("row", items)


def _column(*items: tuple[float, fl.Content]) -> fl.SplitContainer:
    return _split("column", items)


def _split(
    direction: Literal["row", "column"], items: Sequence[tuple[float, fl.Content]]
) -> fl.SplitContainer:
    parts = [fl.SplitItem(proportion=share, content=content) for share, content in items]
    return fl.SplitContainer(direction=direction, items=parts)


def _camera(name: str) -> fl.ImagePanel:
    mode = fl.ImageModeConfig(
        image_topic=f"/camera/{name}/image_raw", calibration_topic=f"/camera/{name}/camera_info"
    )
    return fl.ImagePanel(title=f"{name} camera", config=fl.ImageConfig(image_mode=mode))


def _scene() -> fl.ThreeDeePanel:
    def description(topic: str, label: str) -> fl.BaseRendererUrdfLayerSettings:
        return fl.BaseRendererUrdfLayerSettings(
            label=label,
            source_type="topic",
            topic=topic,
            control_mode="transforms",
            display_mode="visual",
            visible=True,
        )

    config = fl.ThreeDeeConfig(
        follow_tf="pelvis",
        follow_mode="follow-none",
        camera_state=fl.ThreeDeeCameraState(
            distance=2.3,
            perspective=True,
            phi=68,
            theta_offset=148,
            target_offset=(0.32, -0.2, 0.1),
            fovy=40,
        ),
        layers={
            "robot": description("/robot_description", "robot"),
            "safe": description("/episode/safe_description", "safe"),
            "floor": fl.BaseRendererGridLayerSettings(
                label="floor", frame_id="pelvis", position=(0, 0, -1.03), size=6, divisions=24
            ),
        },
        topics={
            "/camera/points": fl.BaseRendererPointCloudTopicSettings(
                visible=True, color_mode="rgb", color_field="rgb", point_size=4
            )
        },
    )
    return fl.ThreeDeePanel(title="robot and safe", config=config)


def _joints() -> fl.TabContainer:
    return fl.TabContainer(
        tabs=[
            fl.TabItem(title="arm", content=_plot("arm, rad", 0, ARM)),
            fl.TabItem(title="hand", content=_plot("hand, rad", ARM, len(ACTION_JOINTS))),
        ]
    )


def _plot(title: str, first: int, last: int) -> fl.PlotPanel:
    """Joints as measured and, dashed, where the newest chunk would have them at its end."""
    measured = [
        fl.PlotSeries(
            value=f"/joint_states.position[{ALL_JOINTS.index(ACTION_JOINTS[i])}]",
            label=JOINT_NAMES[i],
        )
        for i in range(first, last)
    ]
    asked = [
        fl.PlotSeries(
            value=f"/policy/action_chunk.points[-1].positions[{i}]",
            label=f"{JOINT_NAMES[i]}, asked",
            line_style="dashed",
        )
        for i in range(first, last)
    ]
    paths = [*measured, *asked]
    return fl.PlotPanel(title=title, config=fl.PlotConfig(paths=paths, legend_display="left"))


def _lock() -> fl.RawMessagesPanel:
    config = fl.RawMessagesConfig(topic_path="/episode/status", default_expanded=True)
    return fl.RawMessagesPanel(title="lock", config=config)


def _memory() -> fl.Content:
    tokens = fl.RawMessagesConfig(topic_path="/memory/tokens", default_expanded=True)
    newest = fl.StateTransitionsSeries(value="/memory/tokens.tokens[-1]", label="newest token")
    return _column(
        (2, fl.RawMessagesPanel(title="memory", config=tokens)),
        (1, fl.StateTransitionsPanel(config=fl.StateTransitionsConfig(paths=[newest]))),
    )


def _phases() -> fl.StateTransitionsPanel:
    """Steps that are done, and each part's phase."""
    paths = [fl.StateTransitionsSeries(value="/episode/status.steps_done", label="steps done")]
    paths += [
        fl.StateTransitionsSeries(value=f"/episode/status.part_open[{i}]", label=f"{part} open")
        for i, part in enumerate(PARTS)
    ]
    return fl.StateTransitionsPanel(config=fl.StateTransitionsConfig(paths=paths))


def _complaints() -> fl.DiagnosticsSummaryPanel:
    config = fl.DiagnosticsSummaryConfig(topic_to_render="/diagnostics", sort_by_level=True)
    return fl.DiagnosticsSummaryPanel(config=config)


def topics() -> set[str]:
    """The topics that the layout names."""
    return set(re.findall(r'"(/[a-z_/]+)', layout().to_json()))


if __name__ == "__main__":
    print(json.dumps(json.loads(layout().to_json()), indent=2))
