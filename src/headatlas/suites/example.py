"""One example: a prompt, its answer, wrong options, and optionally a counterfactual twin."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from headatlas.suites.options import is_cut_short


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(_not_blank)]


class Twin(BaseModel):
    """The same prompt, minimally changed, so that the answer changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: Text
    answer: Text


class Example(BaseModel):
    """One line of a task file.

    `prompt + answer` is the text, so the answer carries its own leading space. `group` is what must not cross a split
    and what intervals are clustered by (a fact, a word set, a source question); `template` names the wording. A step of
    a chain has the name of its `chain` and its number, `step`, which starts at 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    task: str = Field(min_length=1)
    prompt: Text
    answer: Text
    distractors: tuple[str, ...] = ()
    counterfactual: Twin | None = None
    group: str = Field(min_length=1)
    template: str | None = None
    level: int | None = None
    chain: str | None = None
    step: int | None = None

    @field_validator("distractors")
    @classmethod
    def _distinct(cls, distractors: tuple[str, ...]) -> tuple[str, ...]:
        if any(not text.strip() for text in distractors):
            raise ValueError("contains a blank option")
        if len({text.strip() for text in distractors}) < len(distractors):
            raise ValueError("contains the same option twice")
        return distractors

    @field_validator("counterfactual")
    @classmethod
    def _differs(cls, twin: Twin | None, others: ValidationInfo) -> Twin | None:
        if twin is None or not {"prompt", "answer"} <= set(others.data):
            return twin
        prompt, answer = others.data["prompt"], others.data["answer"]
        if twin.prompt.strip() == prompt.strip():
            raise ValueError("has the same prompt; change in it what changes the answer")
        if twin.answer.strip() == answer.strip():
            raise ValueError(f"has the same answer {answer!r}; it must have another")
        if is_cut_short(twin.answer, answer):
            raise ValueError(
                f"has the answer {twin.answer!r} where the answer is {answer!r}: one begins the other, and the shorter "
                "is then always at least as likely; give answers that differ from their beginning"
            )
        return twin

    @model_validator(mode="after")
    def _answers_differ(self) -> Example:
        if self.answer.strip() in {text.strip() for text in self.distractors}:
            raise ValueError(f"distractors contain the answer {self.answer!r}")
        return self
