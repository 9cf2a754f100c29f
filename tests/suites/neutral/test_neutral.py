from headatlas.suites.neutral import neutral
from headatlas.suites.neutral.generate import TASK
from headatlas.suites.suite import Knowledge


def test_the_suite_has_one_task_at_the_asked_level() -> None:
    suite = neutral(level=2)
    assert (suite.name, suite.tasks, suite.knowledge) == ("neutral", (TASK,), Knowledge())
    assert {example.level for example in suite.examples} == {2}
