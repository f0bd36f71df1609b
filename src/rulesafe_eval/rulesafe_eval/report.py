"""report.html: a self-contained file; only the videos are separate."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from rulesafe_core.files import write_atomically
from rulesafe_eval import plots, videos
from rulesafe_eval.diagnosis import CAUSES
from rulesafe_eval.request import disturbances_of, title_of, variant_of
from rulesafe_eval.statistics import FEW_EPISODES, as_text, clipped

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2026; max-width: 1060px; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: .6rem 0; font-size: 13.5px; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #e3e6ea; }
th { font-weight: 600; } td:first-child, th:first-child, td.words { text-align: left; }
img { max-width: 100%; height: auto; } figure { margin: 1rem 0 1.6rem; }
figcaption { font-size: 13.5px; color: #565d66; } .quiet { color: #565d66; }
.yes { color: #2e8b57; } .no { color: #be463c; }
details { margin: .8rem 0; } code { background: #f2f4f6; padding: .1rem .3rem; }
"""

SHEET_WIDTH = 1000
"""Width in pixels of a contact sheet in the report; sheet.png in the video's folder is larger."""

LISTED = 500
"""Maximum number of episodes that the report lists."""


def write_report(directory: Path, content: Mapping[str, Any]) -> Path:
    """Write report.html from the content of results.json and the videos that exist."""
    parts = [
        *_head(content),
        *_rates(content),
        *_failures(content),
        *_films(directory, content["episodes"]),
        *_cost(content["timing"]),
        *_episodes(directory, content["episodes"]),
    ]
    title = escape(f"Evaluation of {title_of(content['request']['setup']['policy'])}")
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )
    path = directory / "report.html"
    write_atomically(path, page.encode())
    return path


def _head(content: Mapping[str, Any]) -> Iterable[str]:
    request = content["request"]
    setup = request["setup"]
    last = request["seed"] + request["episodes"] - 1
    facts = {
        "rules": ", ".join(request["rules"]),
        "safes": _safes(content),
        "split": request["split"],
        "episodes": f"{request['episodes']} of each rule, seeds {request['seed']}..{last}",
        "time limit": f"{setup['step_seconds']:g} s for each event of the shortest plan",
        "disturbances": disturbances_of(setup) or "none",
        "commitment": request.get("commitment") or "none",
        "versions": ", ".join(f"{k} {v}" for k, v in request["versions"].items()),
    }
    if "memory" in request["actor"] or not request["actor"].get("privileged"):
        facts["executed actions per chunk"] = str(setup["execute"])
        facts["variant"] = variant_of(setup) or "none"
    known = {k: v for k, v in request["actor"].items() if isinstance(v, str | int | float)}
    facts["policy"] = ", ".join([setup["policy"], *(f"{k} {v}" for k, v in known.items())])
    yield table(("", ""), list(facts.items()), text_columns=(1,))
    if warning := clipped(content["episodes"]):
        yield f'<p class="no">{escape(warning)}</p>'
    if not content["complete"]:
        yield '<p class="no">The evaluation is not complete: some episodes are still missing.</p>'


def _safes(content: Mapping[str, Any]) -> str:
    """Return the safes of the episodes, and how many of the requested ones they are."""
    requested = content["request"]["safes"]
    played = {line["safe"] for line in content["episodes"]}
    names = [safe for safe in requested if safe in played]
    text = ", ".join(names)
    if len(names) < len(requested):
        text += f" ({len(names)} of {len(requested)}: the episodes use them in turn)"
    return text


def _rates(content: Mapping[str, Any]) -> Iterable[str]:
    rows = content["summary"]
    by_rule = [row for row in rows if row["safe"] == "all"]
    by_safe = [row for row in rows if row["rule"] == "all" and row["safe"] != "all"]
    yield "<h2>Success and scores</h2>"
    yield (
        "<p>95 % intervals: Wilson for success, bootstrap over episodes for scores. "
        f"{FEW_EPISODES}</p>"
    )
    yield _summary_table("rule", by_rule)
    yield _plot(plots.success(by_rule), "Success rate and mean scores; episodes in brackets.")
    yield _plot(plots.survival(content["episodes"]), "Share of episodes by completed steps.")
    if any(line["opened"] for line in content["episodes"]):
        yield _plot(plots.lengths(content["episodes"]), "Duration of successful episodes.")
    yield "<h2>By safe</h2>"
    yield _summary_table("safe", by_safe)


def _summary_table(key: str, rows: Sequence[Mapping[str, Any]]) -> str:
    heads = (key, "episodes", "opened", "success", "process score", "order-free score", "frames")
    frames = [
        "" if row["frames_to_open"] is None else f"{row['frames_to_open']:.0f}" for row in rows
    ]
    cells = [(row[key], *as_text(row), count) for row, count in zip(rows, frames, strict=True)]
    return table(heads, cells)


def _failures(content: Mapping[str, Any]) -> Iterable[str]:
    rows = content["failures"]
    yield "<h2>Failures</h2>"
    if not rows:
        yield "<p>None.</p>"
        return
    yield _plot(plots.causes(rows), "Step of the plan that failed, and the cause.")
    cells = [
        (row["rule"], row["step"], row["event"], row["count"], row["cause"].replace("_", " "))
        for row in rows
    ]
    yield table(("rule", "step", "event", "episodes", "cause"), cells, text_columns=(4,))
    found = dict.fromkeys(row["cause"] for row in rows)
    yield "<ul>"
    for cause in found:
        yield f"<li>{cause.replace('_', ' ')}: {escape(CAUSES[cause])}</li>"
    yield "</ul>"


def _films(directory: Path, lines: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    filmed = [
        (line, folder)
        for line in lines
        if (folder := videos.folder_of(directory, line["rule"], line["number"])).exists()
        and (folder / "sheet.png").exists()
    ]
    if not filmed:
        return
    yield "<h2>Videos</h2>"
    for line, folder in filmed:
        link = (folder / "film.mp4").relative_to(directory).as_posix()
        sheet = _data("image/jpeg", _smaller(folder / "sheet.png"))
        about = escape(videos.about(line))
        yield (
            f'<figure><a href="{escape(link)}"><img alt="{about}" src="{sheet}"></a>'
            f'<figcaption><a href="{escape(link)}">{about}</a>. {escape(line["reason"])}'
            "</figcaption></figure>"
        )


def _smaller(path: Path) -> bytes:
    with Image.open(path) as image:
        image = image.convert("RGB")
        image.thumbnail((SHEET_WIDTH, SHEET_WIDTH * 4))
        buffer = BytesIO()
        image.save(buffer, "JPEG", quality=82)
    return buffer.getvalue()


def _cost(timing: Mapping[str, Any]) -> Iterable[str]:
    yield "<h2>Cost</h2>"
    rows = [(key.replace("_", " "), "none" if v is None else v) for key, v in timing.items()]
    yield table(("", ""), rows)


def _episodes(directory: Path, lines: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    shown = lines[:LISTED]
    yield f"<h2>Episodes</h2><details><summary>{len(shown)} of {len(lines)}</summary>"
    heads = ("episode", "result", "steps", "score", "time, s", "last touched", "peak force, N")
    cells = [
        (
            f"{line['rule']} on {line['safe']}, seed {line['seed']}",
            "opened" if line["opened"] else f"{line['cause'].replace('_', ' ')}: {line['reason']}",
            f"{line['steps_done']}/{len(line['plan'])}",
            f"{line['process_score']:.2f}",
            f"{line['simulated_time']:.1f}",
            line["touched_last"],
            f"{line['peak_force']:.0f} {line['peak_force_on']}",
        )
        for line in shown
    ]
    yield table(heads, cells, text_columns=(1,))
    yield '</details><p class="quiet">All facts: <a href="results.json">results.json</a></p>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], text_columns: Sequence[int] = ()
) -> str:
    """Return an HTML table; `text_columns`: those besides the first."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    lines = [f"<tr>{top}</tr>"] if any(heads) else []
    for row in rows:
        cells = [
            f"<td{' class=words' if i in text_columns else ''}>{escape(str(cell))}</td>"
            for i, cell in enumerate(row)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "<table>" + "\n".join(lines) + "</table>"


def _plot(figure: Any, caption: str) -> str:
    source = _data("image/svg+xml", plots.svg(figure))
    text = escape(caption)
    return f'<figure><img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>'


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
