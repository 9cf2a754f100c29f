"""Stories with a clue that implies what is not said, and what follows from that."""

from __future__ import annotations

import random

from headatlas.suites.chains.situations import MEN, WOMEN, Remedy, Rule, Wish
from headatlas.suites.chains.stories.steps import Story, bare, decide, infer, mean, others, parse, person, reason
from headatlas.suites.phrasing import joined, shuffled


def implied_rule(rng: random.Random, rule: Rule) -> Story:
    """A rule for three cases; a clue tells which of them it is."""
    n, _ = person(rng)
    clue, *_ = clues = shuffled(rng, rule.clues)
    outcomes = rng.sample(rule.outcomes, 3)
    phrases = [rule.phrase.format(i=c.implied, o=o) for c, o in zip(clues, outcomes, strict=True)]
    text = f"{rule.opening} {joined(shuffled(rng, phrases))}. {clue.text} {rule.question}"
    implied = [c.implied for c in rule.clues] + list(rule.extra)
    return text.format(n=n), [
        parse(f'Which noun does "{clue.pronoun}" refer to?', clue.noun,
              distractors=others(rng, clue.other_nouns, clue.noun)),
        infer(rule.ask.format(n=n), clue.implied, distractors=others(rng, implied, clue.implied)),
        reason(rule.question.format(n=n), outcomes[0], distractors=others(rng, rule.outcomes, outcomes[0])),
    ]  # fmt: skip


def need(rng: random.Random, remedy: Remedy) -> Story:
    """A clue tells what is missing; one of three things helps."""
    n, _ = person(rng)
    case = rng.randrange(3)
    clue, right = remedy.clues[case], bare(remedy.remedies[case])
    offer = remedy.offer.format(*shuffled(rng, remedy.remedies), n=n)
    question = remedy.question.format(n=n)
    implied = [bare(c.implied) for c in remedy.clues] + [bare(remedy.extra)]
    remedies = [bare(text) for text in remedy.remedies]
    parts = [clue.text, offer] if rng.random() < 0.5 else [offer, clue.text]
    return " ".join([*parts, question]), [
        parse(f'Which noun does "{clue.pronoun}" refer to?', clue.noun,
              distractors=others(rng, clue.other_nouns, clue.noun)),
        infer(remedy.ask, bare(clue.implied), distractors=others(rng, implied, bare(clue.implied))),
        decide(question, right, distractors=others(rng, remedies, right)),
    ]  # fmt: skip


def implied_choice(rng: random.Random, wish: Wish) -> Story:
    """A clue tells what somebody likes or fears, a word in the wish bars one of the offers."""
    n, m = rng.sample(MEN + WOMEN, 2)
    taste = rng.choice(wish.tastes)
    offers = [f"{taste.right} {wish.good}", f"{taste.barred} {wish.bad}", f"{taste.other} {wish.good}"]
    text = f"{wish.wish} {taste.clue} {wish.offer.format(*shuffled(rng, offers))} {wish.question}"
    implied = [bare(t.implied) for t in wish.tastes] + [bare(wish.extra)]
    options = [bare(text) for text in (taste.right, taste.barred, taste.other)]
    return text.format(n=n, m=m), [
        mean(f'What does "{wish.word}" mean?', wish.meaning, distractors=others(rng, wish.wrong, wish.meaning)),
        infer(wish.ask.format(m=m), bare(taste.implied), distractors=others(rng, implied, bare(taste.implied))),
        decide(wish.question.format(n=n), options[0], distractors=others(rng, options, options[0])),
    ]
