"""A function that dies when it is called for the n-th time, as if the process had been killed there."""


class Killed(BaseException):
    """No Exception: those are failures of a cell."""


def dying(function, at):
    """The function, and the list to which every call adds an entry."""
    calls = []

    def run(*args):
        calls.append(1)
        if len(calls) == at:
            raise Killed
        return function(*args)

    return run, calls
