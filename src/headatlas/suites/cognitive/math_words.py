"""The words around the calculations: people, things, and sentences without numbers."""

from __future__ import annotations

NAMES = ("Anna", "Tom", "Lucy", "Mark", "Emma", "Jack", "Sarah", "Peter", "Alice", "David", "Mary", "Paul")
ITEMS = ("apples", "books", "coins", "pens", "cards", "stamps", "shells", "eggs", "balls", "cups", "keys", "plums")
HOLDERS = ("boxes", "bags", "baskets", "crates", "bowls")
# Sentences to set a calculation in a scene, or a story before its numbers. They are used in this order.
SCENE = (
    ("{name} sits at the table with a pencil.", "{name} stands at the board in class.", "{name} is doing the homework.",
     "{name} opens the exercise book.", "{name} helps a friend with a task.", "{name} has more work to do."),
    ("The room is quiet.", "Nobody is talking.", "The window is open.", "It is warm, and the door stands wide open."),
    ("The teacher is in no hurry.", "No paper is left.", "The bell will ring, but not just yet.", "The page is full."),
    ("Everyone may think for a while.", "The task has to be done in the head.", "A friend is looking on."),
    ("This task looks harder than it really is.", "The class has seen such tasks.", "Such a task is new."),
    ("So it goes like this.", "And now the work can really begin.", "The task is this."),
)  # fmt: skip
STORY = (
    ("It is a warm and sunny day.", "It is raining again.", "The day has just begun.", "It is early in the afternoon."),
    ("Everyone in the street is at home.", "The children are free today.", "There is a lot of work to do."),
    ("Some things have to be counted.", "Nothing must be lost or forgotten.", "Somebody keeps a list of it all."),
)
