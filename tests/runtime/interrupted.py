"""Programs that are interrupted, each in a process of its own: `python interrupted.py names`, by test_interrupts.py."""

import contextlib
import os
import random
import signal
import sys
import threading
import time
import traceback

import numpy as np

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.runtime import interrupts

W = Parameter([1.0, 2.0], name="w")


def send(number=signal.SIGINT, after=0.3):
    """Send a signal to this process, a little later."""
    timer = threading.Timer(after, lambda: os.kill(os.getpid(), number))
    timer.daemon = True
    timer.start()


def interrupted(run, error=KeyboardInterrupt):
    """Whether a call ends in this error when Ctrl-C is pressed."""
    handler = signal.getsignal(signal.SIGINT)
    send()
    try:
        run()
    except error:
        assert signal.getsignal(signal.SIGINT) is handler
        return True
    return False


@ms.jit
def spin(x):
    while x.sum() > 0:
        x = x + 1 - 1
    return x


@ms.jit
def count(x, n):
    while x.sum() < n:
        x = x + 1
    return x


def a_while_that_does_not_end():
    assert count(Tensor([0.0]), Tensor(10.0)).tolist() == [10.0]
    assert interrupted(lambda: spin(Tensor([1.0])))
    assert interrupted(lambda: spin(Tensor([1.0])))
    assert count(Tensor([0.0]), Tensor(10.0)).tolist() == [10.0]


def a_program_without_any_result_yet():
    """The first call: what was captured and compiled before the interrupt is of use after it."""
    assert interrupted(lambda: spin(Tensor([1.0, 2.0])))
    assert spin(Tensor([-1.0, 0.0])).tolist() == [-1.0, 0.0]
    assert spin.explain().count("one native call") == 1


def parameters_that_were_assigned_before_the_loop():
    @ms.jit
    def f(x):
        W.set_data(W * 3)
        while x.sum() > 0:
            x = x + W.sum() - W.sum()
        W.set_data(W + x)
        return x

    f(Tensor([-1.0]))
    assert W.tolist() == [2.0, 5.0]
    assert interrupted(lambda: f(Tensor([1.0])))
    assert W.tolist() == [2.0, 5.0]


def a_parameter_that_the_loop_carries():
    @ms.jit
    def f(n):
        i = Tensor(0)
        while i < n:
            W.set_data(W + 1)
            i = i + 1
        return i

    f(Tensor(3))
    assert W.tolist() == [4.0, 5.0]
    assert interrupted(lambda: f(Tensor(1 << 40)))
    assert W.tolist() == [4.0, 5.0]
    f(Tensor(2))
    assert W.tolist() == [6.0, 7.0]


def a_training_step_with_a_long_loop():
    net = nn.Dense(3, 3)
    optimizer = nn.Adam(net.trainable_params())
    generator = ms.default_generator

    @ms.jit
    def step(x, turns):
        def loss(x):
            y = x + ops.randn(x.shape)
            i = Tensor(0)
            while i < turns:
                y = ops.tanh(net(y))
                i = i + 1
            return y.sum()

        optimizer(ms.grad(loss, None, optimizer.parameters)(x))

    x = Tensor(np.ones((2, 3), "f"))
    step(x, Tensor(3))
    state = [p.asnumpy().copy() for p in (*net.get_parameters(), *optimizer.get_parameters())]
    drawn = generator.get_state().asnumpy().copy()
    assert interrupted(lambda: step(x, Tensor(1 << 24)), (KeyboardInterrupt, MemoryError))
    after = [p.asnumpy() for p in (*net.get_parameters(), *optimizer.get_parameters())]
    assert all(np.array_equal(a, b) for a, b in zip(state, after, strict=True))
    assert np.array_equal(generator.get_state().asnumpy(), drawn)


def a_long_loop_over_numbers():
    @ms.jit
    def f(x, n):
        for _ in range(n):
            x = ops.sin(x) + 1
        return x

    f(Tensor([1.0]), Tensor(3))
    assert interrupted(lambda: f(Tensor([1.0]), Tensor(1 << 40)))


def a_recursion_of_many_calls():
    @ms.jit
    def fibonacci(n):
        if n < 2:
            return n
        return fibonacci(n - 1) + fibonacci(n - 2)

    assert fibonacci(Tensor(10)).item() == 55
    assert interrupted(lambda: fibonacci(Tensor(70)))
    assert fibonacci(Tensor(12)).item() == 144


def a_recursion_that_another_signal_ends():
    def handler(number, frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, handler)

    @ms.jit
    def fibonacci(n):
        if n < 2:
            return n
        return fibonacci(n - 1) + fibonacci(n - 2)

    fibonacci(Tensor(10))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        fibonacci(Tensor(70))
    except TimeoutError:
        assert fibonacci(Tensor(12)).item() == 144
        return
    raise AssertionError("the alarm was not heard")


def many_examples_side_by_side():
    def f(x):
        while x > 0:
            x = x + 1 - 1
        return x

    assert interrupted(lambda: ms.jit(ms.vmap(f))(Tensor([1.0, -1.0])))


def a_handler_of_the_user_that_lets_the_loop_go_on():
    heard = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    send(after=0.2)
    turns = 1 << 24
    start = time.monotonic()
    while not heard and time.monotonic() - start < 30:
        assert count(Tensor([0.0]), Tensor(float(turns))).tolist() == [turns]
    assert heard == [signal.SIGINT]


def a_handler_of_the_user_with_its_own_error():
    def handler(number, frame):
        raise TimeoutError

    spin(Tensor([-1.0]))
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        spin(Tensor([1.0]))
    except TimeoutError:
        return
    raise AssertionError("the alarm was not heard")


def a_loop_on_another_thread_does_not_keep_ctrl_c_from_the_main_one():
    thread = threading.Thread(target=lambda: spin(Tensor([1.0])), daemon=True)
    thread.start()

    def wait():
        while True:
            time.sleep(0.01)

    assert interrupted(wait)
    os._exit(0)  # the thread goes on


def waiting_for_a_loop_on_another_thread():
    spin(Tensor([-1.0]))
    thread = threading.Thread(target=lambda: spin(Tensor([1.0])), daemon=True)
    thread.start()
    time.sleep(0.1)
    assert interrupted(lambda: count(Tensor([0.0]), Tensor(10.0)))
    os._exit(0)


def a_print_inside_a_loop_that_does_not_end():
    @ms.jit
    def f(x):
        W.set_data(W * 2)
        while x.sum() > 0:
            print(x.sum())
        return x

    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert interrupted(lambda: f(Tensor([1.0])))
    assert W.tolist() == [1.0, 2.0]


def steps_are_whole_whenever_ctrl_c_comes():
    """Some tensors are written in place, others are new: never one without the other."""
    steps = Parameter(Tensor(0), name="steps")
    total = Parameter(np.zeros(4096, "f"), name="total")

    @ms.jit
    def step(x):
        total.set_data(total + x)
        steps.set_data(steps + 1)
        return total.sum()

    x = Tensor(np.ones(4096, "f"))
    step(x)
    rng = random.Random(0)
    for _ in range(150):
        with contextlib.suppress(KeyboardInterrupt):
            send(after=rng.random() * 0.003)
            while True:
                step(x)
        assert (total.asnumpy() == steps.item()).all(), (total.asnumpy()[:3], steps.item())


def the_end_of_a_call_at_each_of_its_lines():
    """Whichever of the last lines Ctrl-C meets: it is raised, and the next call notes it as the first did."""

    @ms.jit
    def step(x):
        W.set_data(W + x)
        return x

    step(Tensor([1.0, 1.0]))
    code, handler = interrupts.whole.__exit__.__code__, signal.getsignal(signal.SIGINT)
    lines = sorted({line for *_, line in code.co_lines() if line})

    def meets(line):
        met = []

        def tracer(frame, event, _):
            if frame.f_code is code and frame.f_lineno == line and event == "line":
                met.append(line)
                sys.settrace(None)
                os.kill(os.getpid(), signal.SIGINT)
            return tracer

        try:
            sys.settrace(tracer)
            step(Tensor([1.0, 1.0]))
            return bool(met)
        except KeyboardInterrupt:
            return False
        finally:
            sys.settrace(None)

    before = W.tolist()
    assert [line for line in lines if meets(line)] == []  # nowhere it is lost
    assert W.tolist() == [w + len(lines) for w in before]
    for line in lines:
        meets(line)
        assert signal.getsignal(signal.SIGINT) is handler
        with interrupts.whole():
            assert signal.getsignal(signal.SIGINT) is not handler, line


def apart(name):
    """Run a program in a child, where the compiler is loaded already; whether all went well."""
    child = os.fork()
    if not child:
        try:
            globals()[name]()
            code = 0
        except BaseException:
            print(name, "fails", file=sys.stderr)
            traceback.print_exc()
            code = 1
        sys.stderr.flush()
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    count(Tensor([0.0]), Tensor(1.0))  # the compiler is loaded: Ctrl-C shall meet a loop, not an import
    bad = [name for name in sys.argv[1:] if not apart(name)]
    sys.exit(f"these fail: {bad}" if bad else 0)
