"""`rulesafe demos import-xr`: convert recordings of xr_teleoperate to a training dataset."""

from dataclasses import replace
from itertools import count, takewhile
from pathlib import Path

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_lock
from rulesafe_data import layout, tables
from rulesafe_data.writer import DatasetWriter
from rulesafe_xr.conversion import ImportOptions, convert, frame_positions
from rulesafe_xr.images import RecordedImages
from rulesafe_xr.recording import XrRecording, find_recordings, read_recording


def import_recordings(root: Path, dataset: Path, options: ImportOptions) -> tuple[int, int]:
    """Add the recordings below `root` to a dataset, except those that it has already; print a line
    for each.

    Args:
        root: a recording, a folder of recordings, or a folder of these.
        dataset: folder of the dataset; episodes are added to an existing one.
        options: options of the import.

    Returns:
        The numbers of recordings added and skipped because of an error.

    Raises:
        RuleSafeError: there is no recording, none was added (with the last reason), the dataset
            has other observations, or the disk is full.
    """
    folders = find_recordings(root)
    with exclusive_lock(dataset, "rulesafe demos import-xr"):
        writer = DatasetWriter(dataset)
        _check_dataset(dataset, options.cameras is not None)
        known, added, skipped, reason = _imported(writer), 0, 0, ""
        for folder in folders:
            try:
                recording = read_recording(folder)
                if recording.digest in known:
                    print(f"{folder}: already in {dataset}")
                    continue
                number = next(number for number in count() if not writer.has(number))
                print(f"episode {number}: {folder}, {_add(writer, number, recording, options)}")
                known.add(recording.digest)
                added += 1
            except RuleSafeError as error:
                if isinstance(error.__cause__, OSError):  # a full disk affects all recordings
                    raise
                skipped, reason = skipped + 1, str(error)
                print(f"skipped: {folder}: {reason}")
        if skipped == len(folders):
            raise RuleSafeError(f"no recording was added: {reason}")
        if added:
            writer.finish()
    return added, skipped


def _check_dataset(root: Path, images: bool) -> None:
    """Raise RuleSafeError if a dataset exists to which the episodes cannot be added."""
    if not (root / layout.INFO).exists():
        return
    shape = layout.read_info(root)["features"].get(layout.image_key("head"), {}).get("shape")
    expected = list(DEFAULT_CAMERAS.depth.shape) if images else None
    subtasks = layout.SUBTASK in layout.read_info(root)["features"]
    if shape != expected or layout.read_extension(root)["points"] is not None or subtasks:
        raise RuleSafeError(
            f"{root} has other observations (images {shape}; point clouds or subtasks, which "
            "recordings of xr_teleoperate do not have): choose another --out"
        )


def _imported(writer: DatasetWriter) -> set[str]:
    """Return the digests of the recordings that the dataset has."""
    numbers = takewhile(writer.has, count())
    files = (layout.privileged_file(writer.root, number) for number in numbers)
    return {tables.about(file)["facts"].get("recording_digest", "") for file in files}


def _add(writer: DatasetWriter, number: int, recording: XrRecording, options: ImportOptions) -> str:
    """Write an episode and return a description of it."""
    episode, notes = convert(recording, options)
    images = None
    if options.cameras:
        at = frame_positions(recording, options)
        per_second = at[1] * layout.FPS
        images = RecordedImages(recording, options.cameras, at[:-1], options.max_gap * per_second)
        notes.append("images head {}, front {}".format(*options.cameras))
    writer.write(number, replace(episode, frames=images))
    if images and images.filled:
        notes.append(f"{images.filled} images taken from another frame")
    return f"{len(episode)} frames {'; '.join(notes)}"
