import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest
from failure_specimens import ALL, double, raise_specimen, specimen

from nucleo.errors import LLMReadableException
from nucleo.errors.text import Opaque

METHODS = [method for method in ("spawn", "forkserver", "fork") if method in multiprocessing.get_all_start_methods()]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_process_pool_gives_every_member_as_it_was_raised_and_stays_usable(method):
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context(method)) as pool:
        futures = {cls: pool.submit(raise_specimen, cls.__name__) for cls in ALL}
        for cls, future in futures.items():
            failure = future.exception(timeout=60)
            expected = specimen(cls)
            assert type(failure) is cls
            assert isinstance(failure, LLMReadableException)
            assert failure.explain_to_llm() == expected.explain_to_llm()
            assert str(failure) == str(expected)
            assert failure.http == expected.http
            assert failure.__notes__ == ["met in a worker"]
            assert isinstance(failure.lock, Opaque)
        assert pool.submit(double, 21).result(timeout=60) == 42


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_a_failure_is_pickled_twice_as_once(cls):
    with pytest.raises(cls) as caught:
        raise_specimen(cls.__name__)
    once = pickle.loads(pickle.dumps(caught.value))
    twice = pickle.loads(pickle.dumps(once))
    assert vars(twice) == vars(once)
    assert (str(twice.__cause__), type(twice.__cause__)) == (str(once.__cause__), type(once.__cause__))
    assert str(once.__cause__) == "failure_specimens.TwoArguments: pickles and does not load"


def in_a_fresh_interpreter(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.split()


MODULES = "import sys; {} print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"


def test_importing_the_failure_set_imports_no_other_package_and_no_event_loop():
    bare = set(in_a_fresh_interpreter(MODULES.format("")))
    with_set = set(in_a_fresh_interpreter(MODULES.format("import nucleo.errors;")))
    own = with_set - bare - {"nucleo"}
    assert own <= set(sys.stdlib_module_names)
    assert "asyncio" not in own
    assert not own & {"socket", "ssl", "email", "http", "multiprocessing", "pickle", "decimal", "difflib", "urllib"}


def test_using_the_failure_set_needs_the_standard_library_alone():
    code = (
        "from nucleo.errors import *; import pickle, json\n"
        "failure = http = Http429Exception(HttpErrorDetail(429, 'S', 'https://x.example/a?b', '{\"message\": \"m\"}'))\n"
        "explain(ValueError('x')); explain(failure); failure_from_dict(json.loads(json.dumps(failure.to_dict())))\n"
        "pickle.loads(pickle.dumps(failure)); unwrap(TimeoutError()); wrap_with_context(OSError('x'), 's', 'p', 1, 'st')\n"
    )
    used = set(in_a_fresh_interpreter(MODULES.format(f"exec({code!r});"))) - set(
        in_a_fresh_interpreter(MODULES.format(""))
    )
    assert used - {"nucleo"} <= set(sys.stdlib_module_names)
    assert "asyncio" not in used


def test_the_failure_set_imports_nothing_else_of_the_package():
    code = "import sys, nucleo.errors; print(*sorted(name for name in sys.modules if name.startswith('nucleo')))"
    names = in_a_fresh_interpreter(code)
    assert [name for name in names if name != "nucleo" and not name.startswith("nucleo.errors")] == []
    assert "nucleo.errors.translate" not in names
    assert "nucleo.errors.masking" not in names
