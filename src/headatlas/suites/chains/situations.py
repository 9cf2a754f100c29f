"""The content of the chains: for each family of situations, several sets of words, facts and clues.

A set is a group: its facts, asked words, clues and outcomes stand in no other set. {n} and {m} are names.
"""

from __future__ import annotations

from typing import NamedTuple

MEN = ("Tom", "Mark", "Jack", "Peter", "David", "Paul", "John", "James", "Robert", "Daniel", "George", "Henry")
WOMEN = ("Anna", "Lucy", "Emma", "Sarah", "Alice", "Mary", "Kate", "Julia", "Laura", "Helen", "Rachel", "Emily")
COLOURS = ("red", "blue", "green", "white", "black", "yellow", "brown", "grey")


class Goods(NamedTuple):
    """Something to buy, and three places that sell it."""

    one: str
    many: str
    shops: tuple[str, str, str]


BUDGET = {
    "candles": Goods("candle", "candles", ("kiosk", "market", "mall")),
    "notebooks": Goods("notebook", "notebooks", ("bookshop", "supermarket", "newsstand")),
    "roses": Goods("rose", "roses", ("florist", "greenhouse", "superstore")),
    "muffins": Goods("muffin", "muffins", ("bakery", "cafe", "canteen")),
    "shirts": Goods("shirt", "shirts", ("boutique", "warehouse", "outlet")),
}


class Known(NamedTuple):
    """How many parts a thing is known to have, and three prizes."""

    one: str
    many: str
    parts: str
    number: int
    prizes: tuple[str, str, str]


COUNTING = {
    "spiders": Known("spider", "spiders", "legs", 8, ("pencil", "ball", "mug")),
    "weeks": Known("week", "weeks", "days", 7, ("kite", "cap", "book")),
    "hexagons": Known("hexagon", "hexagons", "sides", 6, ("puzzle", "vase", "lamp")),
    "years": Known("year", "years", "months", 12, ("whistle", "scarf", "purse")),
    "tricycles": Known("tricycle", "tricycles", "wheels", 3, ("doll", "robot", "mirror")),
    "violins": Known("violin", "violins", "strings", 4, ("basket", "pillow", "clock")),
}


class Country(NamedTuple):
    """A country, its capital and two other large cities."""

    name: str
    capital: str
    others: tuple[str, str]


TRAINS = {
    "france": Country("France", "Paris", ("Lyon", "Nice")),
    "italy": Country("Italy", "Rome", ("Milan", "Naples")),
    "spain": Country("Spain", "Madrid", ("Seville", "Valencia")),
    "germany": Country("Germany", "Berlin", ("Munich", "Hamburg")),
    "japan": Country("Japan", "Tokyo", ("Osaka", "Kyoto")),
}


class Tongue(NamedTuple):
    """A country, the language that most people speak there, and two others."""

    country: str
    language: str
    others: tuple[str, str]


GUIDE = {
    "brazil": Tongue("Brazil", "Portuguese", ("Italian", "Polish")),
    "austria": Tongue("Austria", "German", ("Danish", "Czech")),
    "mexico": Tongue("Mexico", "Spanish", ("Greek", "Dutch")),
    "egypt": Tongue("Egypt", "Arabic", ("Turkish", "Hindi")),
    "australia": Tongue("Australia", "English", ("Swedish", "Korean")),
}


class Clue(NamedTuple):
    """A sentence, a pronoun in it with the noun it stands for and two others, and what the sentence implies."""

    text: str
    pronoun: str
    noun: str
    other_nouns: tuple[str, str]
    implied: str


class Rule(NamedTuple):
    """What happens in each of three cases, and which case it is must be inferred."""

    opening: str
    phrase: str  # {i} is a case and {o} its outcome
    question: str
    ask: str
    extra: tuple[str, ...]  # one more word that is implied by no clue
    outcomes: tuple[str, ...]
    clues: tuple[Clue, Clue, Clue]


IMPLIED_RULE = {
    "weather": Rule(
        "The club of {n} meets",
        "in the {o} when it is {i}",
        "In which room does the club meet?",
        "What is the weather like?",
        ("foggy",),
        ("library", "gym", "kitchen", "attic"),
        (
            Clue("Outside, people hold umbrellas over their heads.", "their", "people", ("umbrellas", "heads"),
                 "rainy"),
            Clue("Outside, children pull their sledges up the white hill.", "their", "children", ("sledges", "hill"),
                 "snowy"),
            Clue("Outside, neighbours put on dark glasses and rub cream on their arms.", "their", "neighbours",
                 ("glasses", "cream"), "sunny"),
        ),
    ),
    "daytime": Rule(
        "As a guard, {n} checks",
        "the {o} at {i}",
        "Which place does {n} check now?",
        "What time of day is it?",
        (),
        ("cellar", "garage", "roof", "yard"),
        (
            Clue("The cocks crow, and the neighbours get up and open their shutters.", "their", "neighbours",
                 ("cocks", "shutters"), "dawn"),
            Clue("The sun stands right overhead, and the workers sit down with their lunch.", "their", "workers",
                 ("sun", "lunch"), "noon"),
            Clue("The moon is out, and the owls leave their nests in the dark.", "their", "owls", ("moon", "nests"),
                 "night"),
        ),
    ),
    "job": Rule(
        "At a dinner, the host puts",
        "every {i} at the {o} table",
        "At which table does {n} sit?",
        "What is the job of {n}?",
        ("nurse",),
        ("round", "oval", "square", "long"),
        (
            Clue("Before dawn, {n} takes fresh loaves from the oven and puts them on a shelf.", "them", "loaves",
                 ("oven", "shelf"), "baker"),
            Clue("{n} writes a sum on the board, and the pupils copy it into their books.", "their", "pupils",
                 ("board", "books"), "teacher"),
            Clue("{n} lands the plane and thanks the passengers for their patience.", "their", "passengers",
                 ("plane", "patience"), "pilot"),
        ),
    ),
    "journey": Rule(
        "{n} always drinks",
        "{o} on a {i}",
        "Which drink does {n} have now?",
        "What is {n} on?",
        ("bus",),
        ("tea", "milk", "juice", "cocoa"),
        (
            Clue("{n} sits on deck and watches the sailors while they pull in their anchor.", "their", "sailors",
                 ("deck", "anchor"), "ship"),
            Clue("{n} looks out at the rails and the station, where people wave with their hats.", "their", "people",
                 ("rails", "hats"), "train"),
            Clue("High above the clouds, {n} sees other passengers fasten their belts.", "their", "passengers",
                 ("clouds", "belts"), "plane"),
        ),
    ),
    "parcel": Rule(
        "A parcel for {n} goes",
        "by {o} to the {i}",
        "Which vehicle brings the parcel?",
        "Where is {n}?",
        ("airport",),
        ("van", "bicycle", "truck", "scooter"),
        (
            Clue("{n} lies on the sand and counts the waves on their way to the shore.", "their", "waves",
                 ("sand", "shore"), "beach"),
            Clue("{n} milks the cows and drives them past the barn to the meadow.", "them", "cows", ("barn", "meadow"),
                 "farm"),
            Clue("{n} lies in bed with a broken leg, and two doctors read their notes.", "their", "doctors",
                 ("leg", "notes"), "hospital"),
        ),
    ),
}  # fmt: skip


class Remedy(NamedTuple):
    """Three things that can be done, each of which helps in one case, and which case it is must be inferred."""

    offer: str  # {0}, {1} and {2} are the remedies
    question: str
    ask: str
    extra: str
    remedies: tuple[str, str, str]  # in the order of the clues
    clues: tuple[Clue, Clue, Clue]


NEED = {
    "runners": Remedy(
        "{n} has {0}, {1} and {2} in the tent.",
        "What should {n} bring to the runners?",
        "How do the runners feel?",
        "angry",
        ("water", "blankets", "mattresses"),
        (
            Clue("The runners wipe their faces and stare at the empty bottles in the hot sun.", "their", "runners",
                 ("faces", "bottles"), "thirsty"),
            Clue("The runners shiver in the icy wind and rub their blue fingers.", "their", "runners",
                 ("wind", "fingers"), "cold"),
            Clue("The runners yawn on the bench and can hardly keep their eyes open.", "their", "runners",
                 ("bench", "eyes"), "sleepy"),
        ),
    ),
    "van": Remedy(
        "{n} has {0}, {1} and {2} at hand.",
        "What should {n} use?",
        "What does the van lack?",
        "paint",
        ("a canister", "a pump", "a bulb"),
        (
            Clue("On a long road the van stops, and the gauge of its tank shows zero.", "its", "van", ("road", "gauge"),
                 "fuel"),
            Clue("On a bad road the van leans to one side, for one of its tyres is flat.", "its", "van",
                 ("road", "side"), "air"),
            Clue("On a dark road the van is hard to see, for nothing shines at its front.", "its", "van",
                 ("road", "front"), "light"),
        ),
    ),
    "dog": Remedy(
        "{n} can {0}, {1} or {2}.",
        "What should {n} do?",
        "What does the dog want?",
        "music",
        ("open the door", "fill the bowl", "dim the lamp"),
        (
            Clue("With its lead in the mouth, the dog scratches at the way out.", "its", "dog", ("lead", "mouth"),
                 "a walk"),
            Clue("Licking its lips, the dog sniffs at an empty plate on the floor.", "its", "dog", ("plate", "floor"),
                 "food"),
            Clue("Yawning in its corner, the dog curls up on an old blanket.", "its", "dog", ("corner", "blanket"),
                 "sleep"),
        ),
    ),
    "tenants": Remedy(
        "{n} has the numbers of {0}, {1} and {2}.",
        "Whom should {n} call?",
        "What has happened?",
        "a birth",
        ("the firefighters", "the police", "a plumber"),
        (
            Clue("The tenants cough, for thick smoke creeps under their door.", "their", "tenants", ("smoke", "door"),
                 "a fire"),
            Clue("The tenants find a smashed window, and all their silver is gone.", "their", "tenants",
                 ("window", "silver"), "a theft"),
            Clue("The tenants put a bucket under a pipe that drips on their carpet.", "their", "tenants",
                 ("bucket", "carpet"), "a leak"),
        ),
    ),
    "guests": Remedy(
        "{n} has {0}, {1} and {2} in the next room.",
        "What should {n} fetch?",
        "What is it like in the hall?",
        "too crowded",
        ("a curtain", "a microphone", "a fan"),
        (
            Clue("In the hall, the guests squint at the low sun and shade their eyes.", "their", "guests",
                 ("sun", "eyes"), "too bright"),
            Clue("In the hall, the guests lean towards the speaker with a hand behind their ears.", "their", "guests",
                 ("speaker", "ears"), "too quiet"),
            Clue("In the hall, the guests take off their jackets and wipe the sweat from the brow.", "their", "guests",
                 ("jackets", "sweat"), "too hot"),
        ),
    ),
}  # fmt: skip


class Taste(NamedTuple):
    """What somebody is like, and three offers: the right one, one of the right kind that is barred, and another."""

    clue: str
    implied: str
    right: str
    barred: str
    other: str


class Wish(NamedTuple):
    """A wish with a word that bars one offer, and a person whose taste must be inferred."""

    wish: str
    word: str
    meaning: str
    wrong: tuple[str, str, str]
    good: str  # what is said of offers that the word allows
    bad: str
    offer: str  # {0}, {1} and {2} are the offers with what is said of them
    question: str
    ask: str
    extra: str
    tastes: tuple[Taste, Taste, Taste]


IMPLIED_CHOICE = {
    "present": Wish(
        "{n} wants to give {m} an affordable present.", "affordable", "cheap", ("noisy", "round", "heavy"),
        "for 9 dollars", "for 900 dollars", "On sale are {0}, {1} and {2}.", "Which present should {n} choose?",
        "What does {m} like?", "swimming",
        (
            Taste("{m} tries out a new soup every evening.", "cooking", "a pan", "an oven", "a harmonica"),
            Taste("{m} plants tulips and pulls out weeds all summer.", "gardening", "a rake", "a mower", "a pan"),
            Taste("{m} hums songs and strums chords all day.", "music", "a harmonica", "a piano", "a rake"),
        ),
    ),
    "outing": Wish(
        "{n} wants to take {m} on a brief outing.", "brief", "short", ("secret", "costly", "lonely"),
        "of two hours", "of twenty days", "On offer are {0}, {1} and {2}.", "Which outing should {n} choose?",
        "What does {m} like?", "sport",
        (
            Taste("{m} strokes every cat in the street and feeds the ducks in the park.", "animals", "a zoo visit",
                  "a safari", "a gallery visit"),
            Taste("{m} paints in all free hours and hangs portraits on every wall.", "art", "a gallery visit",
                  "a painting course", "a planetarium visit"),
            Taste("{m} looks at the moon and the planets through a tube at night.", "astronomy", "a planetarium visit",
                  "a space camp", "a zoo visit"),
        ),
    ),
    "pet": Wish(
        "{n} is looking for a docile pet for {m}.", "docile", "gentle", ("hungry", "famous", "clever"),
        "that never bites", "that often bites", "The shelter has {0}, {1} and {2}.", "Which pet should {n} choose?",
        "What animal does {m} want?", "a dog",
        (
            Taste("{m} likes soft things that purr.", "a cat", "a ginger cat", "a striped cat", "a chestnut horse"),
            Taste("{m} has a saddle and riding boots ready.", "a horse", "a chestnut horse", "a spotted horse",
                  "a yellow bird"),
            Taste("{m} has put up a perch in a cage.", "a bird", "a yellow bird", "a blue bird", "a ginger cat"),
        ),
    ),
    "house": Wish(
        "{n} is looking for a spacious home for {m}.", "spacious", "roomy", ("modern", "sunny", "cosy"),
        "with nine rooms", "with one room", "For rent are {0}, {1} and {2}.", "Which home should {n} choose?",
        "What does {m} like to be near?", "a desert",
        (
            Taste("{m} swims and sails before breakfast.", "water", "a lake house", "a beach hut", "a mountain lodge"),
            Taste("{m} spends all free days with rope and boots on steep peaks.", "mountains", "a mountain lodge",
                  "an alpine hut", "a city villa"),
            Taste("{m} sees a new play every week and never misses an actor's big night.", "theatres", "a city villa",
                  "a city studio", "a lake house"),
        ),
    ),
    "crossing": Wish(
        "{n} wants a rapid way across the mountains for {m}.", "rapid", "quick", ("narrow", "pretty", "unknown"),
        "that takes one hour", "that takes nine hours", "The choices are {0}, {1} and {2}.",
        "Which way should {n} choose?", "What is {m} afraid of?", "thunder",
        (
            Taste("{m} never steps on a balcony or looks down from a tower.", "heights", "a tunnel train",
                  "a post bus", "a cable car"),
            Taste("{m} trembles when something barks behind a fence.", "dogs", "a cable car", "a donkey cart",
                  "a husky sled"),
            Taste("{m} sleeps with a lamp on and will not go into cellars.", "darkness", "a husky sled",
                  "a mountain coach", "a tunnel train"),
        ),
    ),
}  # fmt: skip


class Quality(NamedTuple):
    """Things that should have a quality named by a word, and how kinds with and without it are described."""

    things: str
    word: str
    meaning: str
    wrong: tuple[str, str, str]
    good: str
    bad: tuple[str, str]


QUALITY = {
    "bags": Quality(
        "bags", "durable", "long-lasting", ("good-looking", "well-known", "old-fashioned"), "hold for many years",
        ("tear after a week", "lose their handles in a month"),
    ),
    "signs": Quality(
        "signs", "legible", "easy to read", ("hard to move", "easy to break", "nice to touch"),
        "have large and clear letters", ("have tiny and faded letters", "have letters covered with mud"),
    ),
    "radios": Quality(
        "radios", "portable", "easy to carry", ("hard to repair", "easy to clean", "hard to find"),
        "fit into a coat pocket", ("are built into a wall", "weigh as much as a car"),
    ),
    "boxes": Quality(
        "boxes", "transparent", "see-through", ("fireproof", "handmade", "brand-new"), "are made of clear glass",
        ("are made of thick steel", "are made of dark leather"),
    ),
    "toppings": Quality(
        "cake toppings", "edible", "safe to eat", ("slow to fade", "hard to bend", "quick to dry"),
        "are made of sugar", ("are made of wire", "are made of plastic"),
    ),
}  # fmt: skip


class Collection(NamedTuple):
    """Things that children give each other, why, and what they get according to how many they have."""

    items: str
    giver: tuple[str, str]  # after "because she", and after "the child who"
    getter: tuple[str, str]
    noun: str
    labels: tuple[str, str, str]


PRONOUN = {
    "stamps": Collection("stamps", ("likes to share", "likes to share"), ("asks for them", "asks for stamps"),
                         "badge", ("bronze", "silver", "golden")),
    "shells": Collection("shells", ("is kind", "is kind"), ("loves the sea", "loves the sea"),
                         "seat", ("front", "middle", "back")),
    "cards": Collection("cards", ("lost a bet", "lost a bet"), ("won a bet", "won a bet"),
                        "flag", ("lion", "tiger", "eagle")),
    "coins": Collection("coins", ("had to pay", "had to pay"), ("swept the yard", "swept the yard"),
                        "box", ("tin", "wooden", "marble")),
    "buttons": Collection("buttons", ("never sews", "never sews"), ("is making a coat", "is making a coat"),
                          "hat", ("straw", "paper", "felt")),
}  # fmt: skip


class Kinds(NamedTuple):
    """Three kinds of things, each with members, that are kept in different places."""

    site: str
    ask: str  # {} is the member
    pronoun: str
    place: str
    labels: tuple[str, ...]
    kinds: dict[str, tuple[str, tuple[str, ...]]]  # kind as the rule says it: kind as the answer says it, members
    extra: str


KINDS = {
    "zoo": Kinds(
        "In a zoo", "What kind of animal is a {}?", "its", "house", ("north", "west", "south", "east"),
        {"mammals": ("mammal", ("bat", "dolphin", "kangaroo")), "birds": ("bird", ("penguin", "ostrich", "sparrow")),
         "reptiles": ("reptile", ("lizard", "crocodile", "snake"))}, "insect",
    ),
    "instruments": Kinds(
        "In a music school", "What kind of instrument is a {}?", "its", "room", ("upper", "lower", "inner", "outer"),
        {"string instruments": ("string", ("cello", "harp", "guitar")),
         "wind instruments": ("wind", ("flute", "trumpet", "clarinet")),
         "percussion instruments": ("percussion", ("drum", "gong", "tambourine"))}, "keyboard",
    ),
    "food": Kinds(
        "In a big shop", "What kind of food are {}?", "their", "aisle", ("first", "second", "third", "fourth"),
        {"fruits": ("fruits", ("cherries", "bananas", "peaches")),
         "vegetables": ("vegetables", ("carrots", "cabbages", "onions")),
         "sweets": ("sweets", ("lollipops", "toffees", "gumdrops"))}, "drinks",
    ),
    "materials": Kinds(
        "At a builder's", "What kind of material is {}?", "its", "shed", ("sloping", "narrow", "wide", "tall"),
        {"metals": ("metal", ("copper", "iron", "lead")), "woods": ("wood", ("oak", "pine", "beech")),
         "fabrics": ("fabric", ("velvet", "wool", "linen"))}, "liquid",
    ),
    "models": Kinds(
        "In a toy museum", "What kind of vehicle is a {}?", "its", "case", ("left", "right", "central", "rear"),
        {"aircraft": ("aircraft", ("helicopter", "glider", "jet")), "boats": ("boat", ("canoe", "yacht", "kayak")),
         "cars": ("car", ("taxi", "limousine", "jeep"))}, "train",
    ),
}  # fmt: skip


class Scale(NamedTuple):
    """Things that are compared, and what the first, the opposite and the highest degree is called."""

    thing: str
    more: str
    less: str
    most: str
    labels: tuple[str, ...]


ORDER = {
    "tables": Scale("table", "lighter", "heavier", "lightest", ("walnut", "bamboo", "cedar", "maple")),
    "boats": Scale("boat", "faster", "slower", "fastest", ("canal", "harbour", "river", "island")),
    "rooms": Scale("room", "quieter", "louder", "quietest", ("garden", "corner", "tower", "street")),
    "ropes": Scale("rope", "stronger", "weaker", "strongest", ("nylon", "cotton", "hemp", "jute")),
    "lamps": Scale("lamp", "brighter", "dimmer", "brightest", ("desk", "wall", "floor", "porch")),
}


class Duty(NamedTuple):
    """Work named by a verb, and what is earned by it according to how long it takes."""

    verb: str
    meaning: str
    wrong: tuple[str, str, str]
    things: str
    noun: str
    labels: tuple[str, str, str]


DUTY = {
    "nets": Duty("mend", "repair", ("sell", "count", "hide"), "nets", "voucher", ("bread", "cheese", "fish")),
    "bushes": Duty("trim", "cut", ("plant", "paint", "water"), "bushes", "ticket", ("cinema", "circus", "museum")),
    "spoons": Duty("polish", "make shiny", ("make longer", "make wet", "make hot"), "spoons", "sticker",
                   ("star", "moon", "cloud")),
    "envelopes": Duty("seal", "close", ("open", "buy", "draw"), "envelopes", "cake", ("lemon", "almond", "plum")),
    "chairs": Duty("assemble", "put together", ("take apart", "paint over", "throw away"), "chairs", "pass",
                   ("summer", "autumn", "winter")),
}  # fmt: skip
