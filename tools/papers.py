"""Write docs/papers.md: every table, figure and claim of the five papers, the command that reproduces it, and its state.

    python tools/papers.py            writes the page (`make papers`)
    python tools/papers.py --check    exits with 1 if the page is not what the studies and their finished cells give

What the papers contain is listed in tools/papers.toml. No state is written there: it is computed from the studies' files and
from the finished cells in studies/results, by the rules that the page begins with.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from math import hypot
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal, NamedTuple, get_args

from untwine.evaluation.registry import METRICS
from untwine.metrics.directions import FACTORS_HIGHER, FACTORS_LOWER, LABELS_HIGHER, LABELS_LOWER
from untwine.metrics.metric import fits
from untwine.study import Study
from untwine.study.reading import label
from untwine.study.results import Entry
from untwine.study.schema import SIZES

ROOT = Path(__file__).parents[1]
CONTENT = ROOT / "tools" / "papers.toml"
PAGE = ROOT / "docs" / "papers.md"
TOLERANCE = 0.05  # of the published number: ours may be worse by this and still counts as reached

State = Literal[
    "reproduced",
    "in part",
    "not reproduced",
    "drawn",
    "implemented",
    "tested",
    "not run",
    "data not at hand",
    "not measured",
    "nothing to measure",
]
KINDS = ("study", "images", "setting", "test", "illustration", "opinion")

HEAD = f"""# The papers, item by item

Every table, figure and claim of the five papers, with the command that reproduces it. `make papers` writes this page from
`tools/papers.toml`, which lists what the papers contain, from the studies' files and from their finished cells in
`studies/results`; states and numbers are computed, never typed. The tables themselves are on [the page of results](results.md).
Most finished cells are of the small size of a study, which is cut down to two cores: fewer and smaller images, smaller
networks, fewer epochs.

- A published number is **reached** if our mean over seeds is as good or better, in the direction of its metric, or worse by at
  most {100 * TOLERANCE:.0f} % of it; a score without a direction must be within that. The **order** counts the pairs of
  rows that differ in a published column, and how many of them differ in the same direction in ours.
- **reproduced**: every published number has a finished counterpart that reaches it; of a claim, every comparison holds
  **clearly**, by more than the seeds vary (the root of both squared standard deviations). **not reproduced**: none is reached
  and at most half of the order agrees, or no comparison holds. **in part**: anything between. Where another data set stands
  in for the paper's, only the order is counted, and the state is at most "in part". "by" is the mean difference in favour of
  a claim.
- **drawn**: a figure of images without numbers, which the command draws. **implemented**: a setting or an algorithm that the
  command runs. **tested**: held by a test. **not run**: no cell with a published number is finished. **data not at hand**:
  the same, because the data could not be had; with the user's copy the command works. **not measured**: a judgement of the
  authors. **nothing to measure**: a drawing of the model or of the data.
"""


class Finding(NamedTuple):
    """The state of one item, and the sentences that say by how much."""

    state: State
    notes: tuple[str, ...]


class Count(NamedTuple):
    """What was counted of the published numbers of one data set in one size of one study.

    Attributes
    ----------
    published, finished, reached
        How many numbers were published, how many of them have a finished counterpart, and how many of these reach them.
    pairs, agreeing
        Pairs of finished rows that differ in a published column, and those of them in the same order in ours.
    differences
        Relative absolute differences of the finished ones.
    seeds
        The lowest number of finished seeds, where it is not all of them; else empty.
    """

    published: int
    finished: int
    reached: int
    pairs: int
    agreeing: int
    differences: tuple[float, ...]
    seeds: str = ""


@cache
def study(name: str) -> Study:
    """Return a study of the repository."""
    return Study.read(ROOT / "studies" / f"{name}.toml")


@cache
def table(name: str, size: str) -> tuple[Entry, ...]:
    """Return the entries of a study's table."""
    return tuple(study(name).table(size).entries)


@cache
def direction(score: str) -> str:
    """Return which direction of a score is better: "higher", "lower", or "info" if neither is."""
    name, _, block = score.partition(".")
    infos = [metric.scores[name] for metric in METRICS.values() if name in metric.scores]
    patterns = ((pattern, info) for metric in METRICS.values() for pattern, info in metric.scores.items() if "*" in pattern)
    infos += [info for pattern, info in patterns if fits(pattern, name)]
    if not infos:
        return "info"
    # Scores of factors named "salient ..." have the directions of labels.
    known = infos[0].directions
    if "_salient_" in name:
        known = {id(FACTORS_HIGHER): LABELS_HIGHER, id(FACTORS_LOWER): LABELS_LOWER}.get(id(known), known)
    return str(known[block])


def reaches(ours: float, published: float, better: str) -> bool:
    """Return whether our number is as good as the published one, up to the tolerance."""
    slack = TOLERANCE * abs(published)
    return {
        "higher": ours >= published - slack,
        "lower": ours <= published + slack,
        "info": abs(ours - published) <= slack,
    }[better]


def count(entries: Iterable[Entry]) -> Count:
    """Count the published numbers among the entries of one data set that are finished and reached, and the order of rows."""
    given = [entry for entry in entries if entry.published is not None]
    done = [(entry, entry.mean, entry.published) for entry in given if entry.mean is not None and entry.published is not None]
    pairs = agreeing = 0
    for (one, ours, theirs), (other, ours_too, theirs_too) in combinations(done, 2):
        if one.column == other.column and theirs != theirs_too:
            pairs += 1
            agreeing += (ours - ours_too) * (theirs - theirs_too) > 0
    return Count(
        len(given),
        len(done),
        sum(reaches(ours, theirs, direction(entry.score)) for entry, ours, theirs in done),
        pairs,
        agreeing,
        tuple(abs(ours - theirs) / abs(theirs) for _, ours, theirs in done if theirs),
        min((f"{entry.seeds} of {entry.of} seeds" for entry, _, _ in done if entry.seeds < entry.of), default=""),
    )


class Part(NamedTuple):
    """What was counted, and whether the data set only stands in for the paper's."""

    counted: Count
    stand_in: bool


def judge(parts: Sequence[Part]) -> State:
    """Return the state of a table of which one part at least is finished."""
    own, pairs = [part.counted for part in parts if not part.stand_in], sum(part.counted.pairs for part in parts)
    published, reached = sum(one.published for one in own), sum(one.reached for one in own)
    if own and published == reached and all(not part.stand_in for part in parts):
        return "reproduced"
    agreeing = sum(part.counted.agreeing for part in parts)
    return "not reproduced" if not reached and agreeing <= pairs / 2 else "in part"


def of_tables(item: Mapping[str, Any], missing: Mapping[str, str], stand_ins: Mapping[str, str]) -> Finding:
    """Compare the published numbers of the item's studies with ours."""
    parts: list[Part] = []
    notes: list[str] = []
    absent: dict[str, str] = {}
    for name in item["studies"]:
        sets = {label(data): str(data["name"]) for data in study(name).spec["data"]}
        for size in ("paper", "small"):
            for data in dict.fromkeys(entry.data for entry in table(name, size)):
                if data not in item.get("data", sets):
                    continue
                columns = item.get("columns")
                counted = count(e for e in table(name, size) if e.data == data and (not columns or e.column in columns))
                if counted.finished:
                    parts.append(Part(counted, data in stand_ins))
                    notes.append(f"`{name}`, {size}, {data}: {_words(counted, stand_ins.get(data))}")
                elif counted.published and sets[data] in missing:
                    absent[data] = missing[sets[data]]
    absent = {data: why for data, why in absent.items() if not any(f", {data}: " in note for note in notes)}
    notes += [f"{data}: data not at hand, {why}" for data, why in absent.items()]
    if parts:
        state = judge(parts)
        return Finding("in part" if state == "reproduced" and absent else state, tuple(notes))
    return Finding("data not at hand" if absent else "not run", tuple(notes))


def _words(counted: Count, stands_for: str | None) -> str:
    order = f"order of {counted.agreeing} of {counted.pairs} pairs" if counted.pairs else "one row, no order"
    if stands_for is not None:
        return f"stands in for {stands_for}; {order}"
    missing = f" ({counted.published - counted.finished} not finished)" if counted.finished < counted.published else ""
    far = f"; median difference {100 * median(counted.differences):.0f} %" if counted.differences else ""
    seeds = f"; {counted.seeds}" if counted.seeds else ""
    return f"{counted.reached} of {counted.published} numbers reached{missing}, {order}{far}{seeds}"


class Compared(NamedTuple):
    """One comparison of a claim.

    Attributes
    ----------
    holds, clear
        Whether it holds in ours, and by more than the seeds vary: the root of the two sums of squared standard deviations.
    published
        Whether it holds in the paper; None if it has no such numbers.
    ours, theirs
        The difference, positive in favour of the claim, or how far apart two numbers are that should be near.
    """

    holds: bool
    clear: bool
    published: bool | None
    ours: float
    theirs: float | None


def is_row(entry: Entry, name: str) -> bool:
    """Return whether an entry is of a row, or of any value of a swept one."""
    return entry.row == name or re.fullmatch(re.escape(name) + r" \w+=\S+", entry.row) is not None


def compare(claim: Mapping[str, Any], entries: Sequence[Entry]) -> Iterator[Compared]:
    """Yield the finished comparisons of a claim: each left row with each right row, or with another column or a value."""
    columns, right = claim["columns"], claim.get("right_column")
    for data, column, left in product(dict.fromkeys(e.data for e in entries), columns, claim["rows"]):
        here = {(e.row, e.column): e for e in entries if e.data == data and e.mean is not None}
        ones = [e for e in here.values() if e.column == column and is_row(e, left)]
        for one in ones:
            if "value" in claim:
                yield _compared(claim, one, one._replace(mean=float(claim["value"]), std=0.0, published=None))
            elif right:
                other = here.get((one.row, right))
                if other is not None:
                    yield _compared(claim, one, other)
            else:
                for name in claim["than"]:
                    for other in here.values():
                        if other.column == column and other.row != one.row and is_row(other, name):
                            yield _compared(claim, one, other)


def _compared(claim: Mapping[str, Any], one: Entry, other: Entry) -> Compared:
    relation = claim.get("is", "better")
    relation = direction(one.score) if relation == "better" else relation
    if one.mean is None or other.mean is None or relation == "info":
        raise ValueError(f"the claim {claim['shows']!r} must have a direction; {one.score} has none; say higher or lower.")
    noise = float("inf") if one.std is None or other.std is None else hypot(one.std, other.std)
    ours = _favour(relation, one.mean - other.mean)
    given = None if one.published is None or other.published is None else one.published - other.published
    theirs = None if given is None else _favour(relation, given)
    if relation == "near":
        within = float(claim["within"])
        return Compared(ours <= within, ours <= within, None if theirs is None else theirs <= within, ours, theirs)
    return Compared(ours > 0, ours > noise, None if theirs is None else theirs > 0, ours, theirs)


def _favour(relation: str, difference: float) -> float:
    """Return a difference that is positive in favour of the relation, or its size where two numbers should be near."""
    return {"higher": difference, "lower": -difference, "near": abs(difference)}[relation]


def of_claim(item: Mapping[str, Any], missing: Mapping[str, str], stand_ins: Mapping[str, str]) -> Finding:
    """Return how many comparisons of a claim hold in the finished cells of its studies."""
    notes, results, absent, stands = [], list[Compared](), dict[str, str](), False
    for name in item["studies"]:
        sets = {label(data): str(data["name"]) for data in study(name).spec["data"]}
        chosen = [data for data in sets if data in item.get("data", sets)]
        absent |= {data: missing[sets[data]] for data in chosen if sets[data] in missing}
        for size in ("paper", "small"):
            found = {data: list(compare(item, [e for e in table(name, size) if e.data == data])) for data in chosen}
            for data, compared in found.items():
                if compared:
                    results += compared
                    stands |= data in stand_ins
                    absent.pop(data, None)
                    notes.append(f"`{name}`, {size}, {data}: {_in_words(compared)}")
    notes += [f"{data}: data not at hand, {why}" for data, why in absent.items()]
    if not results:
        return Finding("data not at hand" if absent else "not run", tuple(notes))
    if all(one.clear for one in results) and not stands and not absent:
        return Finding("reproduced", tuple(notes))
    return Finding("in part" if any(one.holds for one in results) else "not reproduced", tuple(notes))


def _in_words(compared: Sequence[Compared]) -> str:
    known = [one for one in compared if one.theirs is not None]
    held, clear = sum(one.holds for one in compared), sum(one.clear for one in compared)
    ours = f"holds in {held} of {len(compared)}, {clear} clearly, by {_signed(one.ours for one in compared)}"
    theirs = (
        f"{sum(bool(one.published) for one in known)} of {len(known)}, by {_signed(one.theirs for one in known)}"
        if known
        else ""
    )
    return f"{ours} (published: {theirs})" if known else ours


def _signed(differences: Iterable[float | None]) -> str:
    return f"{fmean(one for one in differences if one is not None):+.3g}"


def finding(item: Mapping[str, Any], missing: Mapping[str, str], stand_ins: Mapping[str, str]) -> Finding:
    """Return the state of an item and by how much."""
    kind, note = item["kind"], tuple(filter(None, [item.get("note", "")]))
    if kind == "study":
        found = (of_claim if "rows" in item else of_tables)(item, missing, stand_ins)
        return Finding(found.state, (*found.notes, *note))
    if kind == "images":
        gone = [f"{name}: data not at hand, {missing[name]}" for name in item["needs"] if name in missing]
        return Finding("data not at hand" if len(gone) == len(item["needs"]) > 0 else "drawn", (*gone, *note))
    states: dict[str, State] = {
        "setting": "implemented",
        "test": "tested",
        "illustration": "nothing to measure",
        "opinion": "not measured",
    }
    return Finding(states[kind], note)


def read() -> dict[str, Any]:
    """Read and check what the papers contain."""
    content = tomllib.loads(CONTENT.read_text(encoding="utf-8"))
    for paper in content["paper"]:
        for item in paper["item"]:
            _check(item, f"{paper['title']}, {item.get('item')}")
    return content


def _check(item: Mapping[str, Any], where: str) -> None:
    known = {"item", "shows", "kind", "studies", "commands", "data", "columns", "needs", "note"}
    claim = {"rows", "than", "right_column", "value", "is", "within"}
    if unknown := set(item) - known - claim:
        raise ValueError(f"{where} must have known keys only; got {', '.join(sorted(unknown))}.")
    if item.get("kind") not in KINDS:
        raise ValueError(f"kind of {where} must be one of {', '.join(KINDS)}; got {item.get('kind')!r}.")
    needed = {"item", "shows"} | {"study": {"studies"}, "images": {"needs", "commands"}}.get(item["kind"], set())
    needed |= {"commands"} if item["kind"] in ("setting", "test") else set()
    needed |= {"columns"} if "rows" in item else set()
    if lacking := needed - set(item):
        raise ValueError(f"{where} must have {', '.join(sorted(lacking))}; add it.")
    if "rows" in item and sum(key in item for key in ("than", "right_column", "value")) != 1:
        raise ValueError(f"{where} must compare its rows with one of than, right_column and value.")
    for name in item.get("studies", ()):
        spec = study(name).spec
        _check_names(item.get("data", ()), {label(data) for data in spec["data"]}, f"data of {where} in {name}", item)
        entries = [entry for size in SIZES for entry in table(name, size)]
        columns = {entry.column for entry in entries}
        named = [*item.get("columns", ()), *filter(None, [item.get("right_column")])]
        _check_names(named, columns, f"columns of {where} in {name}", item)
        for row in (*item.get("rows", ()), *item.get("than", ())):
            if not any(is_row(entry, row) for entry in entries) and len(item["studies"]) == 1:
                raise ValueError(f"rows of {where} must be rows of {name}; got {row!r}; correct it.")


def _check_names(names: Iterable[str], known: Iterable[str], where: str, item: Mapping[str, Any]) -> None:
    wrong = sorted(set(names) - set(known))
    if wrong and len(item["studies"]) == 1:
        raise ValueError(f"{where} must be known; got {wrong[0]!r}; choose from {', '.join(sorted(known))}.")


def commands(item: Mapping[str, Any]) -> list[str]:
    """Return the commands of an item: its own, or those that print its studies."""
    return list(item.get("commands", ())) or [f"untwine study table studies/{name}.toml" for name in item.get("studies", ())]


def page() -> str:
    """Return the text of the page."""
    content = read()
    missing, lines = content["missing"], [HEAD]
    found = {
        paper["title"]: [(item, finding(item, missing, paper.get("stand_ins", {}))) for item in paper["item"]]
        for paper in content["paper"]
    }
    used = [state for state in get_args(State) if any(f.state == state for items in found.values() for _, f in items)]
    lines += [_line(["paper", *used]), _line(["---"] * (1 + len(used)))]
    for title, items in found.items():
        counts = Counter(one.state for _, one in items)
        lines.append(_line([f"[{title}](#{_anchor(title)})", *(str(counts[state]) for state in used)]))
    for title, items in found.items():
        lines += [
            "",
            f"## {title}",
            "",
            _line(["item", "what it shows", "state", "by how much", "command"]),
            _line(["---"] * 5),
        ]
        for item, one in items:
            cells = "<br>".join(f"`{command}`" for command in commands(item))
            lines.append(_line([item["item"], item["shows"], f"**{one.state}**", "; ".join(one.notes), cells]))
    return "\n".join(lines) + "\n"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or check it."""
    text = page()
    if "--check" in arguments:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
