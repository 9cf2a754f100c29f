"""The lexical sets of the syntactic items, and the few spelling rules that inflect them.

No noun, verb or name stands in two sets, so a split by set never shares them. Verbs in `verb` and `other_verb` have
one form for the past and the participle, and the two of a set are about equally frequent. Verbs in `took` cannot do
without an object, so a missing object is an error.
"""

from __future__ import annotations

import random
from typing import NamedTuple


class Scene(NamedTuple):
    """One lexical set: a place, two roles, two things, two verbs without object, two past verbs with one, two names."""

    place: str
    role: str
    other_role: str
    thing: str
    other_thing: str
    verb: str
    other_verb: str
    took: str
    hurt: str
    he: str
    she: str


_TABLE = """
market farmer driver apple basket wait nod bought helped Tom Anna
station porter clerk ticket suitcase faint yawn found blamed Mark Lucy
hotel guest maid pillow blanket disagree complain wanted washed Jack Emma
harbor sailor captain rope barrel preach sail brought hurt Peter Sarah
hospital doctor nurse bandage needle hurry kneel used calmed David Alice
theater actor singer mask costume weep bargain kept praised Paul Mary
court lawyer judge file letter respond boast received defended John Kate
factory worker manager machine engine work stumble fixed injured James Julia
museum guide visitor statue painting rush stare described amused Robert Laura
college student professor notebook pencil listen rest borrowed taught Michael Maria
castle knight servant sword shield fight escape carried protected William Susan
garden gardener neighbor tulip carrot hum shrug picked soaked Richard Linda
airport pilot tourist passport camera return walk needed introduced Charles Helen
bakery baker customer cookie cake laugh dig made burned Daniel Rachel
beach swimmer lifeguard towel shell hesitate clap collected covered Matthew Emily
gym boxer coach glove bottle moan sweat grabbed pushed George Sophie
zoo keeper teenager cage banana jump linger removed scratched Kevin Olivia
office secretary banker folder printer sigh whistle replaced corrected Brian Grace
church priest bishop candle bell smile pray blessed forgave Edward Jane
prison guard prisoner key ladder whisper practice discovered freed Steven Nancy
circus clown juggler ball hat chuckle tumble caught embarrassed Andrew Karen
studio painter model brush frame ponder blush destroyed admired Henry Lisa
stadium runner referee medal flag race vote earned exhausted Frank Betty
camp scout hunter tent torch hike jog repaired warmed Simon Ruth
palace minister ambassador crown ring apologize crawl demanded rewarded Oliver Clara
laboratory chemist inventor tube battery talk wonder created convinced Adam Eva
restaurant waiter chef fork plate wander grumble polished cut Ben Diana
library librarian reader novel magazine meditate mumble located entertained Luke Hannah
mill miller trader sack wheel gossip reply lifted fed Eric Amy
stable rider shepherd saddle lamb snore limp obtained cleaned Oscar Molly
garage mechanic cyclist tire wrench nap sneeze mended trusted Leo Nina
bank cashier robber coin bag gasp shiver took warned Victor Ella
gallery artist critic portrait sketch pause debate displayed doubted Philip Amanda
clinic dentist patient mirror tool groan relax examined prepared Martin Jessica
lake skater hiker boot sweater skate cheer wore dressed Arthur Jennifer
embassy diplomat reporter photo document tremble protest mentioned quoted Harry Elizabeth
temple monk pilgrim lantern bowl doze fish purchased punished Walter Margaret
club drummer dancer drum guitar dance scream selected enjoyed Joseph Rebecca
workshop carpenter plumber hammer chair shout smoke built surprised Patrick Victoria
shop tailor buyer shirt button stroll grin produced measured Roger Charlotte
bridge engineer builder stone plank stagger cough inspected questioned Hugo Barbara
fair magician villager balloon puppet cheat dream touched hid Felix Martha
border officer traveler badge map frown retreat acquired identified Max Irene
nursery nanny parent doll crib play struggle arranged reminded Jacob Julie
cave explorer miner helmet shovel climb argue buried saved Noah Claire
depot courier soldier parcel crate joke sleep sent weighed Ethan Monica
festival poet author poem speech compete cry completed accepted Nathan Sandra
tavern pirate merchant necklace bracelet chat quarrel seized excused Dennis Paula
forest ranger detective cabin trap lurk vanish noticed lost Louis Sylvia
ranch herder cowboy fence tractor gallop giggle damaged bruised Gerald Wendy
observatory astronomer assistant telescope chart experiment march adjusted isolated Stanley Yvonne
opera violinist conductor violin trumpet rehearse mutter tuned impressed Howard Gloria
university scholar translator essay diagram worry exaggerate analyzed contradicted Douglas Pamela
parliament senator governor report plan gamble bow rejected nominated Carl Teresa
"""
SCENES = tuple(Scene(*row.split()) for row in _TABLE.strip().splitlines())

# Openings carry no verb form that could be copied, and name the roles in the plural only.
OPENINGS = {
    1: ("", "", "Here is some news from the {place}. ", "A letter from the {place} says this. "),
    2: (
        "Here is some news from the {place}. ",
        "A letter from the {place} says this about the {roles}. ",
        "Here is some news from the {place}, where {roles} meet {others}. ",
    ),
    3: (
        "A letter from the {place}, where many {roles} and {others} meet on most days, came last night and says this. ",
        "The letter from the {place} was late. It is about the {roles} and the {others} who meet there every day, "
        "and it was written by hand in blue ink. ",
        "This report comes from the {place}, where {roles} and {others} share a small room and a large kitchen. ",
        "This report comes from the {place}, where {roles} and {others} share a small room and a large kitchen, "
        "and where it is cold and dark for most of the year. ",
    ),
}
QUESTIONS = {
    1: ("What is new? ", "What does the letter say? ", "What is the news from the {place}? "),
    2: (
        "What is the latest news from the {place}? ",
        "What does the letter from the {place} say? ",
        "What is new at the {place}, where {roles} meet {others}? ",
    ),
    3: (
        "What does the letter say about the {place}, where many {roles} and {others} meet on most days? ",
        "The {place} is known for its {roles} and its {others}, and a letter in blue ink came from there late last "
        "night. What does it say? ",
        "What is new at the {place}, where {roles} and {others} share a small room and a large kitchen? ",
        "What is new at the {place}, where {roles} and {others} share a small room and a large kitchen, and where it "
        "is cold and dark for most of the year? ",
    ),
}

NEAR = ("near", "behind", "beside", "next to", "in front of")
OFTEN = ("often", "usually", "sometimes", "always")
PLAIN = ("", " old", " new", " small", " red", " heavy")
DOUBLE = (" old but fine", " small but heavy", " large but cheap", " plain but new")
DAYS = ("Yesterday", "On Monday", "Last night", "That day")
OBJECTS = ("something", "everything", "several", "three", "these", "those")
WHEN = ("yesterday", "today", "then", "earlier", "again", "recently")
SINGULAR_HELPERS, PLURAL_HELPERS = ("is", "was", "has"), ("are", "were", "have")
# "That" and "those" are left out: "found that" may also open a clause, and then any noun may follow.
DETERMINERS = (("this", "these"), ("one", "two"), ("another", "several"), ("every", "many"))
REFLEXIVES = ("himself", "herself", "themselves", "myself", "ourselves", "yourself")
NEGATIVE = ("nobody", "nothing", "none")
POLAR = ("any", "anyone", "anybody", "anything")
CASES = (("he", "him"), ("she", "her"), ("they", "them"), ("we", "us"), ("I", "me"))

_PAST = {"sleep": "slept", "fight": "fought", "kneel": "knelt", "dig": "dug", "weep": "wept"}
_DOUBLED = ("chat", "jog", "nod", "hum", "clap", "nap", "shrug", "grin", "dig")


def plural(noun: str) -> str:
    """The plural of a noun, or the third person singular of a verb: English spells them alike."""
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def past(verb: str) -> str:
    """The past form, which for these verbs is also the participle."""
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    if verb.endswith("e"):
        return verb + "d"
    return verb + (verb[-1] if verb in _DOUBLED else "") + "ed"


def gerund(verb: str) -> str:
    """The form in -ing."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if verb in _DOUBLED else "") + "ing"


def number(noun: str, many: bool) -> str:
    """The noun in the asked number."""
    return plural(noun) if many else noun


def roles(rng: random.Random, scene: Scene) -> tuple[str, str]:
    """The two roles in random order: the head of the subject, and the one between it and the verb."""
    return (scene.role, scene.other_role) if rng.random() < 0.5 else (scene.other_role, scene.role)


def finite(rng: random.Random, scene: Scene, many: bool) -> tuple[str, str, tuple[str, ...]]:
    """A verb in the asked number, the same verb in the other number, and three wrong forms."""
    verb, other = rng.sample((scene.verb, scene.other_verb), 2)
    if many:
        return verb, plural(verb), (plural(verb), plural(other), gerund(verb))
    return plural(verb), verb, (verb, other, gerund(verb))


def people(rng: random.Random, scene: Scene) -> list[tuple[str, str]]:
    """The people of the scene, each with the reflexive that goes with them, in random order."""
    group = plural(rng.choice((scene.role, scene.other_role)))
    return rng.sample([(scene.he, "himself"), (scene.she, "herself"), (f"the {group}", "themselves")], 3)


def polar(rng: random.Random, negated: bool) -> tuple[str, str, tuple[str, ...]]:
    """A word for the asked polarity, its partner, and wrong ones: a second negation, or "any" without a licence."""
    licensed = rng.choice(POLAR)
    free = licensed.replace("any", "some")
    if negated:
        return licensed, free, NEGATIVE
    return free, licensed, (licensed, *rng.sample([word for word in POLAR if word != licensed], 2))
