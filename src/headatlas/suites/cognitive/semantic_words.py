"""Word sets for semantic understanding: scales of adjectives, categories, ambiguous words, and definitions.

A word belongs to one set only, and the set is the group of every example made from it.
"""

from __future__ import annotations

from typing import NamedTuple


class Scale(NamedTuple):
    """Two words for one end of a scale, two for the other; either of one pair is an opposite of either of the other.

    Words of scales in the same field lie too close in meaning to be wrong options for each other.
    """

    name: str
    field: str
    words: tuple[tuple[str, str], tuple[str, str]]
    subjects: tuple[str, ...]


class Sense(NamedTuple):
    """A word with two meanings: for each a sentence, of the same number of words, and what it has to do with."""

    word: str
    sentences: tuple[str, str]
    topics: tuple[str, str]


class Definition(NamedTuple):
    """A defining phrase with a gap, as a statement and as a question, and the word defined for each filling."""

    name: str
    statement: str
    question: str
    words: dict[str, str]


# By tier, from everyday words to bookish ones.
SCALES: tuple[tuple[Scale, ...], ...] = (
    (
        Scale("size", "size", (("big", "large"), ("little", "tiny")), ("house", "box", "dog")),
        Scale("speed", "speed", (("fast", "quick"), ("slow", "sluggish")), ("runner", "horse", "old bus")),
        Scale("mood", "mood", (("happy", "cheerful"), ("sad", "gloomy")), ("boy", "song", "old man")),
        Scale("wealth", "wealth", (("rich", "wealthy"), ("poor", "needy")), ("man", "family", "widow")),
        Scale("difficulty", "plain", (("hard", "difficult"), ("easy", "simple")), ("test", "question", "task")),
        Scale("looks", "looks", (("pretty", "beautiful"), ("ugly", "hideous")), ("picture", "hat", "vase")),
        Scale("noise", "peace", (("loud", "noisy"), ("quiet", "silent")), ("class", "crowd", "street")),
        Scale("strength", "power", (("strong", "powerful"), ("weak", "feeble")), ("king", "animal", "wind")),
        Scale("courage", "power", (("brave", "fearless"), ("scared", "afraid")), ("girl", "soldier", "rider")),
        Scale("mind", "mind", (("smart", "clever"), ("stupid", "foolish")), ("plan", "student", "idea")),
        Scale("dirt", "looks", (("clean", "spotless"), ("dirty", "filthy")), ("floor", "shirt", "kitchen")),
        Scale("water", "water", (("wet", "damp"), ("dry", "arid")), ("ground", "field", "soil")),
        Scale("temper", "peace", (("angry", "furious"), ("calm", "peaceful")), ("teacher", "man", "mother")),
        Scale("danger", "danger", (("safe", "secure"), ("dangerous", "risky")), ("bridge", "path", "place")),
        Scale("kindness", "nice", (("kind", "caring"), ("cruel", "heartless")), ("queen", "boss", "old woman")),
        Scale("distance", "distance", (("near", "close"), ("far", "distant")), ("town", "lake", "village")),
        Scale("age", "age", (("ancient", "aged"), ("new", "modern")), ("building", "bridge", "machine")),
        Scale("heat", "water", (("hot", "boiling"), ("cold", "freezing")), ("water", "air", "room")),
        Scale("truth", "truth", (("right", "correct"), ("wrong", "incorrect")), ("answer", "number", "address")),
        Scale("fullness", "fullness", (("full", "packed"), ("empty", "vacant")), ("hall", "hotel", "theater")),
        Scale("weight", "size", (("fat", "plump"), ("thin", "skinny")), ("cat", "baby", "cook")),
    ),
    (
        Scale("manners", "nice", (("polite", "courteous"), ("rude", "impolite")), ("waiter", "guest", "reply")),
        Scale("fame", "fame", (("famous", "renowned"), ("unknown", "obscure")), ("painter", "village", "poem")),
        Scale("giving", "nice", (("generous", "giving"), ("selfish", "greedy")), ("neighbor", "uncle", "leader")),
        Scale("honesty", "truth", (("honest", "truthful"), ("dishonest", "deceitful")), ("witness", "seller", "story")),
        Scale("width", "size", (("wide", "broad"), ("narrow", "tight")), ("passage", "gap", "tunnel")),
        Scale("rarity", "plain", (("common", "ordinary"), ("rare", "unusual")), ("bird", "name", "event")),
        Scale("sleep", "mind", (("sleepy", "drowsy"), ("awake", "alert")), ("guard", "driver", "child")),
        Scale("price", "wealth", (("cheap", "inexpensive"), ("expensive", "costly")), ("watch", "meal", "trip")),
        Scale("health", "power", (("healthy", "fit"), ("sick", "ill")), ("horse", "player", "patient")),
        Scale("will", "will", (("eager", "keen"), ("reluctant", "unwilling")), ("helper", "buyer", "speaker")),
        Scale("pride", "pride", (("modest", "humble"), ("proud", "arrogant")), ("winner", "captain", "artist")),
        Scale("surface", "surface", (("smooth", "even"), ("rough", "bumpy")), ("road", "wall", "board")),
        Scale("order", "looks", (("tidy", "neat"), ("messy", "untidy")), ("desk", "office", "shelf")),
        Scale("thrill", "mood", (("boring", "dull"), ("exciting", "thrilling")), ("film", "lesson", "game")),
    ),
    (
        Scale("supply", "fullness", (("abundant", "plentiful"), ("scarce", "meager")), ("harvest", "food", "rain")),
        Scale("saving", "wealth", (("frugal", "thrifty"), ("wasteful", "extravagant")), ("duke", "manager", "habit")),
        Scale("work", "will", (("diligent", "industrious"), ("lazy", "idle")), ("clerk", "apprentice", "servant")),
        Scale("talk", "talk", (("talkative", "garrulous"), ("taciturn", "reticent")), ("host", "sailor", "judge")),
        Scale("strain", "strain", (("fragile", "brittle"), ("sturdy", "durable")), ("frame", "ladder", "shell")),
        Scale("duration", "age", (("temporary", "fleeting"), ("permanent", "lasting")), ("effect", "peace", "change")),
        Scale("detail", "detail", (("vague", "imprecise"), ("precise", "exact")), ("report", "map", "rule")),
        Scale("effect", "effect", (("futile", "pointless"), ("useful", "worthwhile")), ("effort", "meeting", "search")),
        Scale("intent", "nice", (("benevolent", "charitable"), ("malicious", "spiteful")), ("act", "ruler", "remark")),
        Scale("risk", "danger", (("reckless", "rash"), ("cautious", "prudent")), ("investor", "choice", "pilot")),
        Scale("interest", "mood", (("indifferent", "apathetic"), ("enthusiastic", "passionate")), ("crowd", "voter")),
        Scale("depth", "plain", (("superficial", "shallow"), ("profound", "deep")), ("essay", "remark", "study")),
        Scale("length", "detail", (("verbose", "wordy"), ("concise", "terse")), ("speech", "letter", "text")),
        Scale("duty", "will", (("compulsory", "mandatory"), ("optional", "voluntary")), ("course", "fee", "visit")),
        Scale("source", "truth", (("authentic", "genuine"), ("fake", "counterfeit")), ("coin", "signature", "stamp")),
        Scale("rules", "rules", (("lenient", "indulgent"), ("strict", "stern")), ("parent", "headmaster", "court")),
    ),
)

# Four categories to a bundle, far apart in meaning. The first four members are the commonest.
BUNDLES: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        "fruit": ("apple", "pear", "peach", "cherry", "plum", "apricot", "fig"),
        "tool": ("hammer", "saw", "shovel", "wrench", "screwdriver", "chisel", "pliers"),
        "relative": ("mother", "uncle", "cousin", "brother", "aunt", "nephew", "grandson"),
        "dance": ("waltz", "tango", "ballet", "polka", "samba", "foxtrot", "minuet"),
    },
    {
        "clothing": ("shirt", "coat", "skirt", "jacket", "sweater", "blouse", "cardigan"),
        "vehicle": ("car", "truck", "bus", "bicycle", "van", "tractor", "ambulance"),
        "vegetable": ("carrot", "potato", "onion", "cabbage", "spinach", "turnip", "leek"),
        "shape": ("circle", "square", "triangle", "rectangle", "oval", "hexagon", "trapezoid"),
    },
    {
        "furniture": ("chair", "bed", "sofa", "desk", "bench", "wardrobe", "armchair"),
        "flower": ("rose", "tulip", "lily", "daisy", "orchid", "carnation", "daffodil"),
        "dish": ("pizza", "salad", "curry", "omelet", "lasagna", "casserole", "risotto"),
        "illness": ("flu", "cancer", "malaria", "diabetes", "measles", "pneumonia", "asthma"),
    },
    {
        "instrument": ("piano", "guitar", "violin", "flute", "trumpet", "cello", "clarinet"),
        "hat": ("cap", "helmet", "bonnet", "turban", "beret", "sombrero", "fedora"),
        "meat": ("beef", "pork", "ham", "bacon", "sausage", "veal", "mutton"),
        "number": ("seven", "four", "twelve", "nine", "eleven", "sixty", "eighty"),
    },
    {
        "drink": ("tea", "coffee", "milk", "juice", "lemonade", "cider", "cocoa"),
        "building": ("church", "castle", "hospital", "tower", "palace", "temple", "cottage"),
        "feeling": ("joy", "anger", "fear", "sadness", "grief", "jealousy", "envy"),
        "weapon": ("sword", "gun", "rifle", "spear", "pistol", "dagger", "cannon"),
    },
    {
        "color": ("red", "blue", "green", "yellow", "purple", "pink", "beige"),
        "job": ("teacher", "doctor", "farmer", "lawyer", "baker", "plumber", "butcher"),
        "boat": ("canoe", "ferry", "yacht", "raft", "kayak", "barge", "gondola"),
        "grain": ("wheat", "rice", "corn", "barley", "oats", "rye", "millet"),
    },
    {
        "container": ("barrel", "bag", "basket", "bottle", "bucket", "jar", "crate"),
        "weather": ("rain", "snow", "fog", "storm", "hail", "drizzle", "sleet"),
        "game": ("chess", "poker", "checkers", "bingo", "dominoes", "hopscotch", "backgammon"),
        "fabric": ("cotton", "silk", "wool", "linen", "velvet", "denim", "nylon"),
    },
    {
        "room": ("kitchen", "bedroom", "bathroom", "attic", "pantry", "nursery", "cellar"),
        "crime": ("murder", "theft", "robbery", "fraud", "arson", "burglary", "perjury"),
        "spice": ("pepper", "cinnamon", "ginger", "nutmeg", "cumin", "paprika", "saffron"),
        "shoe": ("boot", "sandal", "slipper", "sneaker", "loafer", "clog", "moccasin"),
    },
    {
        "metal": ("iron", "gold", "silver", "copper", "tin", "zinc", "aluminum"),
        "subject": ("history", "biology", "physics", "geography", "algebra", "chemistry", "geometry"),
        "dessert": ("cake", "pudding", "pie", "cookie", "custard", "brownie", "sorbet"),
        "road": ("street", "avenue", "highway", "lane", "alley", "boulevard", "motorway"),
    },
)

# Topics of one field are never wrong options for each other.
TOPIC_FIELDS: dict[str, tuple[str, ...]] = {
    "animal": ("animals", "birds", "dogs", "insects", "fish", "pets"),
    "plant": ("trees", "gardens", "food", "meals"),
    "sport": ("sports",),
    "music": ("music", "sounds"),
    "money": ("money",),
    "water": ("rivers", "water"),
    "body": ("hands", "fingers", "skin", "eyes", "bodies"),
    "technology": ("computers", "electricity", "lamps", "data", "machines", "factories", "science"),
    "thing": ("repairs", "stones", "treasure", "fire", "locks"),
    "words": ("classes", "writing", "spelling", "mail", "speeches", "movies"),
    "state": ("law", "prison", "war", "kings"),
    "nature": ("space",),
    "measure": ("calendars", "length", "weight"),
    "fashion": ("jewelry",),
    "traffic": ("traffic", "travel"),
}

SENSES: tuple[Sense, ...] = (
    Sense("bat", ("A bat flew out of the dark cave.", "A bat broke in the last baseball game."), ("animals", "sports")),
    Sense("bank", ("She kept her savings at the bank.", "She caught a salmon from the bank."), ("money", "rivers")),
    Sense("bark", ("The bark of the old oak was rough.", "The bark of the old hound was loud."), ("trees", "dogs")),
    Sense("mouse", ("The mouse next to the cheese was brown.", "The mouse next to the keyboard was broken."),
          ("animals", "computers")),
    Sense("ring", ("He put the golden ring on her finger.", "He heard the sudden ring of a bell."),
          ("jewelry", "sounds")),
    Sense("letter", ("The letter came in an envelope with stamps.", "The letter comes before B in our alphabet."),
          ("mail", "spelling")),
    Sense("palm", ("The palm of his left glove was torn.", "The palm near the beach was very tall."),
          ("hands", "trees")),
    Sense("star", ("The star shone above the dark hills last night.", "The star won an Oscar in Hollywood last night."),
          ("space", "movies")),
    Sense("rock", ("The rock rolled down the side of the hill.", "The rock played on the radio was very loud."),
          ("stones", "music")),
    Sense("plant", ("The plant needs sunlight and a new pot.", "The plant makes cars and hires many workers."),
          ("gardens", "factories")),
    Sense("match", ("He lit the candle with his last match.", "He scored two goals in his last match."),
          ("fire", "sports")),
    Sense("trunk", ("The trunk of the elephant was long and gray.", "The trunk of the oak was long and straight."),
          ("animals", "trees")),
    Sense("nail", ("She painted the nail pink before the party.", "She hammered the nail deep into the wall."),
          ("fingers", "repairs")),
    Sense("date", ("He ate a sweet date with his tea.", "He forgot the exact date of her birthday."),
          ("food", "calendars")),
    Sense("key", ("The key to the front door is lost.", "The key of the old piano is stuck."), ("locks", "music")),
    Sense("table", ("The table was set with plates and forks.", "The table was full of sums and percentages."),
          ("meals", "data")),
    Sense("organ", ("The surgeon checked the organ before the operation.",
                    "The musician played the organ before the service."), ("bodies", "music")),
    Sense("chest", ("The pirate buried the chest full of coins.", "The doctor examined the chest for broken ribs."),
          ("treasure", "bodies")),
    Sense("bill", ("The bill for the dinner was too high.", "The bill of the duck was bright yellow."),
          ("money", "birds")),
    Sense("jam", ("The jam made from strawberries was very sweet.", "The jam on the highway was very long."),
          ("food", "traffic")),
    Sense("pupil", ("The pupil did all of her homework early.", "The pupil grew wide in the dim light."),
          ("classes", "eyes")),
    Sense("court", ("The judge left the crowded court to rest.", "The player left the tennis court to rest."),
          ("law", "sports")),
    Sense("horn", ("The horn of the taxi was very loud.", "The horn of the bull was very sharp."),
          ("traffic", "animals")),
    Sense("tank", ("The tank was home to three small goldfish.", "The tank was sent to fight the enemy."),
          ("pets", "war")),
    Sense("note", ("The singer held the last note very long.", "The lawyer wrote a short note by hand."),
          ("music", "writing")),
    Sense("mole", ("The mole dug a tunnel under the lawn.", "The mole on her cheek was quite dark."),
          ("animals", "skin")),
    Sense("bug", ("The bug crawled up the leaf very slowly.", "The bug crashed the program over and over."),
          ("insects", "computers")),
    Sense("bulb", ("The bulb was planted in the flower bed.", "The bulb was screwed into the ceiling light."),
          ("gardens", "lamps")),
    Sense("crane", ("The crane had long legs and white feathers.", "The crane had steel cables and lifted concrete."),
          ("birds", "machines")),
    Sense("toast", ("He spread butter on his toast at breakfast.", "He gave a toast to the happy couple."),
          ("food", "speeches")),
    Sense("coach", ("The coach taught the team to pass better.", "The coach took forty tourists to the coast."),
          ("sports", "travel")),
    Sense("scale", ("The scale showed that he was ninety kilos.", "The scale came off the salmon quite easily."),
          ("weight", "fish")),
    Sense("current", ("The current pulled the swimmer away from shore.",
                      "The current passed through the thin copper wire."), ("water", "electricity")),
    Sense("cell", ("The thief slept alone in his cold cell.", "The microscope showed each part of the cell."),
          ("prison", "science")),
    Sense("ruler", ("The ruler was crowned in front of nobles.", "The ruler was marked in inches and centimeters."),
          ("kings", "length")),
)  # fmt: skip
COMMON_SENSES = 23  # the first ones, whose two meanings are both everyday ones

DEFINITIONS: tuple[tuple[Definition, ...], ...] = (
    (
        Definition("body", "the part of the body that people use to {} is the", "Which part of the body is used to {}?",
                   {"see": "eye", "hear": "ear", "smell": "nose", "think": "brain"}),
        Definition("place", "the place where people can {} is called the", "In which place can people {}?",
                   {"borrow books": "library", "catch trains": "station", "board planes": "airport",
                    "watch plays": "theater", "buy medicine": "pharmacy", "see fossils": "museum"}),
        Definition("person", "a person who {} is called a", "What is a person who {} called?",
                   {"flies planes": "pilot", "cuts hair": "barber", "treats teeth": "dentist", "serves meals": "waiter",
                    "steals things": "thief", "sews suits": "tailor"}),
        Definition("need", "a person who needs {} very much feels", "How do people feel who need {} very much?",
                   {"food": "hungry", "water": "thirsty", "friends": "lonely", "answers": "curious"}),
        Definition("object", "the thing that people use to {} is called a", "Which thing do people use to {}?",
                   {"tell time": "clock", "sweep floors": "broom", "watch stars": "telescope", "take photos": "camera",
                    "boil water": "kettle", "eat soup": "spoon"}),
        Definition("group", "a group of {} is called a", "What is a group of {} called?",
                   {"wolves": "pack", "bees": "swarm", "singers": "choir", "players": "team", "ships": "fleet"}),
        Definition("speaking", "to speak very {} is to", "What is it called to speak very {}?",
                   {"loudly": "shout", "softly": "whisper", "unclearly": "mumble", "proudly": "boast"}),
    ),
    (
        Definition("looking", "to look at something {} is to", "What is it called to look at something {}?",
                   {"very briefly": "glance", "without blinking": "stare", "in secret": "spy", "with anger": "glare"}),
        Definition("walking", "to walk {} is to", "What is it called to walk {}?",
                   {"like soldiers": "march", "through water": "wade", "for pleasure": "stroll", "with pain": "limp"}),
        Definition("payment", "money that is paid for {} is called", "What is the money paid for {} called?",
                   {"housing": "rent", "transport": "fare", "lessons": "tuition", "employees": "wages"}),
        Definition("cooking", "to cook food {} is to", "What is it called to cook food {}?",
                   {"in hot oil": "fry", "in an oven": "bake", "over hot coals": "grill", "in thick sauce": "stew"}),
    ),
    (
        Definition("negation", "something that cannot be {} is", "What is something that cannot be {}?",
                   {"seen": "invisible", "read": "illegible", "heard": "inaudible", "avoided": "inevitable",
                    "conquered": "invincible"}),
        Definition("field", "the study of {} is called", "What is the study of {} called?",
                   {"stars": "astronomy", "plants": "botany", "rocks": "geology", "animals": "zoology",
                    "minds": "psychology"}),
        Definition("character", "someone who {} is called a", "What is someone called who {}?",
                   {"doubts everything": "skeptic", "avoids fighting": "pacifist", "lives alone": "hermit",
                    "avoids meat": "vegetarian", "betrays friends": "traitor"}),
        Definition("making", "to make something {} is to", "What is it called to make something {}?",
                   {"worse": "aggravate", "better": "improve", "shorter": "abridge", "public": "announce"}),
    ),
)  # fmt: skip
