"""One example: a prompt, its answer, wrong options, and optionally a counterfactual twin."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Twin(BaseModel):
    """The same prompt, minimally changed, so that the answer changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class Example(BaseModel):
    """One line of a task file.

    `prompt + answer` is the text, so the answer carries its own leading space. `group` is what must not cross a split
    and what intervals are clustered by (a fact, a word set, a source question); `template` names the wording. A step of
    a chain has the name of its `chain` and its number, `step`, which starts at 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    task: str = Field(min_length=1)
    prompt: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    distractors: tuple[str, ...] = ()
    counterfactual: Twin | None = None
    group: str = Field(min_length=1)
    template: str | None = None
    level: int | None = None
    chain: str | None = None
    step: int | None = None

    @field_validator("prompt", "answer")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("is blank")
        return text

    @field_validator("distractors")
    @classmethod
    def _distinct(cls, distractors: tuple[str, ...]) -> tuple[str, ...]:
        if any(not text.strip() for text in distractors):
            raise ValueError("contains a blank option")
        if len({text.strip() for text in distractors}) < len(distractors):
            raise ValueError("contains the same option twice")
        return distractors

    @model_validator(mode="after")
    def _answers_differ(self) -> Example:
        if self.answer.strip() in {text.strip() for text in self.distractors}:
            raise ValueError(f"distractors contain the answer {self.answer!r}")
        if self.counterfactual and self.counterfactual.prompt.strip() == self.prompt.strip():
            raise ValueError("counterfactual has the same prompt; change in it what changes the answer")
        if self.counterfactual and self.counterfactual.answer.strip() == self.answer.strip():
            raise ValueError(f"counterfactual has the same answer {self.answer!r}; it must have another")
        return self
