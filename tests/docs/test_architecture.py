"""The drawing of docs/architecture.md shows the imports of the present code."""

import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
graph = runpy.run_path(str(ROOT / "tools" / "import_graph.py"))


def reachable(edges, subpackage):
    return set().union(*({other, *reachable(edges, other)} for other in edges[subpackage]))


def test_the_committed_drawing_is_that_of_the_present_imports():
    assert graph["main"](["--check"]) == 0, "run `make architecture`"
    assert graph["draw"]() == graph["draw"]()


def test_arrows_go_down_to_earlier_rooms_and_leave_out_only_what_follows_from_others():
    subpackages = graph["subpackages"]()
    imports = graph["imports"](subpackages)
    edges, level = graph["reduce"](imports), graph["levels"](imports)
    assert sum(map(len, edges.values())) < sum(map(len, imports.values()))
    for subpackage in subpackages:
        assert all(
            subpackages.index(other) < subpackages.index(subpackage) and level[other] < level[subpackage]
            for other in imports[subpackage]
        )
        assert edges[subpackage] <= imports[subpackage]
        assert reachable(edges, subpackage) == reachable(imports, subpackage)
        assert not any(one in reachable(edges, other) for one in edges[subpackage] for other in edges[subpackage])


def test_the_reduction_by_hand():
    diamond = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b", "c"}, "e": {"d", "a"}}
    assert graph["reduce"](diamond) == {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"}, "e": {"d"}}
    assert graph["levels"](diamond) == {"a": 0, "b": 1, "c": 1, "d": 2, "e": 3}


def test_every_subpackage_has_a_box_a_name_and_a_note_and_no_box_covers_another():
    subpackages = graph["subpackages"]()
    svg = ET.fromstring(graph["draw"]())
    space = "{http://www.w3.org/2000/svg}"
    boxes = [
        tuple(float(box.get(key)) for key in ("x", "y", "width", "height")) for box in svg.iter(f"{space}rect") if box.get("rx")
    ]
    assert [text.text for text in svg.iter(f"{space}text") if text.get("class") == "name"] == list(subpackages)
    assert set(subpackages) <= set(graph["NOTES"])
    assert len(boxes) == len(subpackages)
    for i, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= float(svg.get("width")) - w
        assert 0 <= y <= float(svg.get("height")) - h
        assert all(abs(x - a) >= w or abs(y - b) >= h for a, b, _, _ in boxes[:i])
