"""A catalogue has our entries, registered ones and those of installed packages, and refuses what is none."""

import sys
import threading

import pytest

from untwine.registry import Catalogue


def check_integer(name, thing):
    if not isinstance(thing, int):
        raise TypeError(f"{name!r} must be an integer")


def catalogue(calls=None):
    def built_in():
        if calls is not None:
            calls.append(1)
        return {"one": 1, "two": 2}

    return Catalogue("number", "untwine.numbers", built_in, check_integer)


def test_entries_are_read_at_the_first_look_up_and_once():
    calls = []
    numbers = catalogue(calls)
    assert calls == []
    assert list(numbers) == ["one", "two"]
    assert (numbers["two"], len(numbers), "three" in numbers, numbers.find("one")) == (2, 2, False, 1)
    assert calls == [1]


def test_a_registered_entry_is_found_and_may_be_replaced_by_its_owner():
    numbers = catalogue()
    numbers.register("three", 3)
    assert numbers.find("three") == 3
    numbers.register("three", 33)
    assert list(numbers) == ["one", "two", "three"]
    assert numbers["three"] == 33


def test_what_is_none_and_taken_names_are_refused():
    numbers = catalogue()
    with pytest.raises(TypeError, match="'three' must be an integer"):
        numbers.register("three", "3")
    with pytest.raises(ValueError, match="the name of a number must be new; 'one' is taken; choose another"):
        numbers.register("one", 7)
    assert numbers["one"] == 1


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ValueError, match=r"^number must be a name from the catalogue; got 'tow'; did you mean 'two'\?$"):
        catalogue().find("tow")


class Point:
    """An entry point as importlib.metadata gives it."""

    def __init__(self, name, thing):
        self.name, self.value, self.thing = name, "somewhere:thing", thing
        self.dist = None

    def load(self):
        if isinstance(self.thing, Exception):
            raise self.thing
        return self.thing


@pytest.fixture
def install(monkeypatch):
    """Return a function that installs entry points of the catalogue's group."""

    def install(*points):
        monkeypatch.setattr(
            "untwine.registry.catalogue.entry_points", lambda group: points if group == "untwine.numbers" else ()
        )

    return install


def test_a_package_may_register_its_own_entry_while_it_is_imported(install):
    class Half(Point):
        def load(self):  # the name is not bound before its registration has returned
            raise AttributeError("partially initialized module has no attribute 'three'")

    install(Half("three", 3))
    numbers = catalogue()
    numbers.register("three", 3)  # loads no package, so warns of none
    install(Point("three", 3))
    assert dict(numbers) == {"one": 1, "two": 2, "three": 3}


def test_a_package_may_look_an_entry_up_while_it_is_imported(install):
    class Curious(Point):
        def load(self):
            return numbers["one"] + numbers["two"]

    install(Curious("three", None))
    numbers = catalogue()
    assert numbers["three"] == 3


def test_a_name_that_a_script_has_taken_is_not_replaced_by_a_package(install):
    install(Point("three", 3))
    numbers = catalogue()
    numbers.register("three", 33)
    with pytest.warns(UserWarning, match="'three' of the installed package .* is left out: the name is taken"):
        assert numbers["three"] == 33


def test_a_name_of_a_loaded_package_cannot_be_taken(install):
    install(Point("three", 3))
    numbers = catalogue()
    assert "three" in numbers
    with pytest.raises(ValueError, match="'three' is taken"):
        numbers.register("three", 33)


@pytest.mark.filterwarnings("error")
def test_a_warning_that_is_an_error_does_not_lose_the_other_packages(install):
    install(Point("broken", ImportError("no module named x")), Point("three", 3))
    numbers = catalogue()
    with pytest.raises(UserWarning, match="'broken'"):
        list(numbers)
    assert list(numbers) == ["one", "two", "three"]


def test_no_thread_sees_the_catalogue_before_the_packages_are_in_it(install):
    loading, seen = threading.Event(), []

    class Slow(Point):
        def load(self):
            loading.set()
            other.join(0.2)
            return 3

    install(Slow("three", None))
    numbers = catalogue()

    def look():
        loading.wait(5)
        seen.append("three" in numbers)

    other = threading.Thread(target=look)
    other.start()
    assert "three" in numbers
    other.join(5)
    assert seen == [True]


def test_installed_entries_are_added_and_unusable_ones_left_out_with_a_warning(monkeypatch):
    points = [Point("three", 3), Point("bad", "text"), Point("one", 7), Point("broken", ImportError("no module named x"))]
    module = sys.modules["untwine.registry.catalogue"]
    monkeypatch.setattr(module, "entry_points", lambda group: points if group == "untwine.numbers" else [])
    with pytest.warns(UserWarning, match="is left out") as caught:
        assert dict(catalogue()) == {"one": 1, "two": 2, "three": 3}
    messages = sorted(str(warning.message) for warning in caught)
    assert len(messages) == 3
    assert "'bad' of the installed package somewhere:thing is left out: 'bad' must be an integer" in messages[0]
    assert "'broken'" in messages[1]
    assert "no module named x" in messages[1]
    assert "'one' of the installed package" in messages[2]
    assert "taken" in messages[2]
