"""How well a classifier without a language model tells the task of an example from its text alone.

A probe that reads the task off a model's activations shows nothing unless it is better than this: the words, the length
of the answer or the number of a step give the task away by themselves, and activations carry all of these.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from headatlas.errors import HeadAtlasError, unknown
from headatlas.stats import proportion_interval
from headatlas.suites.chains.chain import step_question
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite

FOLDS = 5
CHARACTERS = 3  # length of the character n-grams


@dataclass(frozen=True)
class TextBaseline:
    """How often a classifier names the right task from the text alone, for groups that it has not seen."""

    classifier: str
    accuracy: float
    interval: tuple[float, float]  # 95 %, clustered by group
    recall: dict[str, float]  # by task
    majority: float  # share of the largest task: the accuracy of always naming it
    chance: float  # 1 / number of tasks
    predictions: tuple[str, ...]  # in the order of the suite's examples


def asked_text(example: Example) -> str:
    """The prompt; of a step of a chain only the question of that step.

    A step's prompt contains the steps before it. Their words and their number would tell the order of the chain rather
    than what this step asks.
    """
    return example.prompt if example.chain is None else step_question(example.prompt)


def text_features(example: Example) -> list[str]:
    """The text as tokens: words and pairs of words of the prompt, words of the answer, both lengths (in half octaves),
    and the number of a step."""
    prompt, answer = _words(asked_text(example)), _words(example.answer)
    tokens = [f"word:{word}" for word in prompt]
    tokens += [f"pair:{first} {second}" for first, second in pairwise(prompt)]
    tokens += [f"answer:{word}" for word in answer]
    tokens += [f"prompt length:{_half_octave(len(prompt))}", f"answer length:{_half_octave(len(answer))}"]
    if example.step is not None:
        tokens.append(f"step:{example.step}")
    return tokens


def text_baseline(suite: Suite, classifier: str = "naive Bayes", seed: int = 0, folds: int = FOLDS) -> TextBaseline:
    """Cross-validate a text classifier of the task; examples of a group are always in the same fold.

    `naive Bayes` uses the presence of the tokens of `text_features`; `tf-idf` is a logistic regression on their tf-idf
    weights and on character n-grams of prompt and answer, usually the stronger of the two. A pure function of its
    arguments.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    if classifier not in CLASSIFIERS:
        raise unknown("classifier", classifier, CLASSIFIERS)
    tasks = np.array([example.task for example in suite.examples])
    groups = [example.group for example in suite.examples]
    folds = min(folds, len(set(groups)))
    if len(suite.tasks) < 2 or folds < 2:
        raise HeadAtlasError(
            f"Suite {suite.name!r} has {len(suite.tasks)} task(s) and {len(set(groups))} group(s); telling tasks apart "
            "on unseen groups needs at least 2 of each."
        )
    predicted = np.empty(len(tasks), dtype=object)
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    for train, test in splitter.split(tasks, _strata(tasks, folds), groups):
        if len(set(tasks[train])) == 1:
            predicted[test] = tasks[train][0]  # logistic regression refuses to fit a single class
            continue
        model = CLASSIFIERS[classifier]()
        model.fit([suite.examples[i] for i in train], tasks[train])
        predicted[test] = model.predict([suite.examples[i] for i in test])
    return _summary(suite, classifier, tasks, predicted.astype(str), groups)


def _strata(tasks: np.ndarray[Any, Any], folds: int) -> np.ndarray[Any, Any]:
    """What to stratify the folds by: the task. A task with fewer examples than folds cannot be spread over all folds;
    it counts as part of the largest."""
    counts = Counter(tasks.tolist())
    largest = counts.most_common(1)[0][0]
    return np.array([task if counts[task] >= folds else largest for task in tasks.tolist()])


def _summary(
    suite: Suite,
    classifier: str,
    tasks: np.ndarray[Any, Any],
    predicted: np.ndarray[Any, Any],
    groups: Sequence[str],
) -> TextBaseline:
    hits = (predicted == tasks).astype(float)
    return TextBaseline(
        classifier=classifier,
        accuracy=float(hits.mean()),
        interval=proportion_interval(hits, groups),
        recall={task: float(hits[tasks == task].mean()) for task in suite.tasks},
        majority=max(Counter(tasks.tolist()).values()) / len(tasks),
        chance=1 / len(suite.tasks),
        predictions=tuple(predicted.tolist()),
    )


def _words(text: str) -> list[str]:
    """Words and single signs, in lower case. Only the number of digits of a number counts: 17 and 23 are one word."""
    return re.findall(r"\w+|[^\w\s]", re.sub(r"\d", "0", text.casefold()))


def _half_octave(length: int) -> int:
    """A length on a scale where two steps are a factor of two: 20 and 21 words count as equal, 1 and 2 do not."""
    return int(2 * math.log2(length + 1))


def _characters(example: Example) -> str:
    return f"{asked_text(example)} {example.answer.strip()}".casefold()


def _naive_bayes() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    # Presence, not counts: saying a word twice is not twice the evidence.
    return make_pipeline(CountVectorizer(analyzer=text_features, binary=True), MultinomialNB())


def _tf_idf() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    tokens = TfidfVectorizer(analyzer=text_features, sublinear_tf=True)
    characters = TfidfVectorizer(preprocessor=_characters, analyzer="char_wb", ngram_range=(CHARACTERS, CHARACTERS))
    # The tolerance halves the time and moves the accuracy by a tenth of a point.
    return make_pipeline(make_union(tokens, characters), LogisticRegression(C=3.0, max_iter=300, tol=1e-3))


CLASSIFIERS: dict[str, Callable[[], Any]] = {"naive Bayes": _naive_bayes, "tf-idf": _tf_idf}
