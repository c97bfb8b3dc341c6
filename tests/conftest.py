"""What all tests share: examples that repeat, faults that show, threads that do not spin, garbage that is soon seen."""

import doctest
import gc
import inspect
import os
import signal
from collections.abc import Iterator

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# a mistake of our own that a slower way makes good is an error here
os.environ.setdefault("MYCELIA_FAULTS", "raise")

# the compiler is tested, and tests replace parts of it: programs are compiled, not found again
os.environ.setdefault("MYCELIA_WARM", "0")

# libgomp reads this once, when it is loaded
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# a shell that starts something in the background lets it ignore Ctrl-C, and all that it starts: tests wait for that
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# what a busy machine takes long for is no failure: no test depends on time
settings.register_profile(
    "same examples on every machine",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same examples on every machine")

# nor do examples depend on the numbers in those modules that happen to be loaded: to read a thousand takes seconds, too
providers._get_local_constants = lambda: providers._local_constants

# a debugger is made for each doctest, and asks the disk about each source file that was ever shown: nobody debugs here
doctest._OutputRedirectingPdb.reset = lambda self: None

LEFT_OUT = "not slow and not peer"  # the choice of pyproject.toml

import mycelia  # noqa: E402  # now, or pytest would load the first module that it collects for doctests twice
from mycelia.runtime.arena import Arena  # noqa: E402
from tests.each import called, each, named, packed  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is said about mistakes anew")
    parser.addoption("--apart", action="store_true", help="a test for each of many cases, which -k can choose")


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """A test that is slow, or compares with another framework, has thousands of cases: they are made if asked for."""
    config = collector.config
    asked = config.option.markexpr != LEFT_OUT or any("::" in place for place in config.args)
    marks = getattr(obj, "pytestmark", [])
    left_out = isinstance(marks, list) and any(getattr(m, "name", "") in ("slow", "peer") for m in marks)
    return [] if left_out and not asked else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of many small cases is given packs of them, in the place of its first argument."""
    for mark in metafunc.definition.iter_markers("many"):
        names, packs = named(mark.args[0]), packed(*mark.args, **mark.kwargs, apart=metafunc.config.option.apart)
        rows = [(pack, *[None] * (len(names) - 1)) for pack in packs]
        metafunc.parametrize(names, rows, ids=list(map(called, packs)))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test of many small cases is run for each of its pack."""
    mark = pyfuncitem.get_closest_marker("many")
    if mark is None:
        return None  # as pytest does
    names = named(mark.args[0])
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    pack = given[names[0]]
    each(lambda *case: pyfuncitem.obj(**given | dict(zip(names, case, strict=True))), pack)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A process beside others tells of a test what it came to, and of what was before and after it only what is wrong:
    each report takes as long as many a test. Whoever asks how long each part took is told everything.
    """
    asked = item.config.option.durations or item.config.option.xmlpath
    if asked or not hasattr(item.config, "workerinput"):
        return None  # as pytest does
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_collection_finish() -> None:
    """Tests that were collected and modules that were imported stay: a million objects, which nobody need look through
    each time garbage is collected. And to capture and compile makes many objects, of which most stay for a while.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True, scope="module")
def _what_came_before_stays() -> None:
    """Programs that other modules have compiled are kept as long as there is room for them, which are millions of
    objects: tests that look for garbage, and there are hundreds, look only among those that their module has made.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _settings_are_left_as_they_were() -> Iterator[None]:
    """A test that changes the mode of the session and leaves it so would change what the next ones test."""
    yield
    Arena.ahead.wait()  # memory that is touched for the sizes of this test is not measured by the next
    mode = mycelia.get_context("mode")
    mycelia.set_context(mode=mycelia.PYNATIVE_MODE)
    assert mode == mycelia.PYNATIVE_MODE, "this test leaves the session in graph mode"
