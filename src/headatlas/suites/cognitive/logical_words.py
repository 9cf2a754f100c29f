"""Word sets for logical reasoning. Each set is a group; no option, role or ordered name is in two sets.

Roles and options begin with a consonant wherever "a" comes before them, so that the article gives nothing away. What
roles do is arbitrary, so that knowledge of the world does not help. Roles form their plural with -s.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class World:
    """What people can do: `they_do option`, `one_does option`, `question` with a gap for the name."""

    name: str
    they_do: str
    one_does: str
    question: str
    options: tuple[str, ...]
    roles: tuple[str, ...]


def _world(name: str, they_do: str, one_does: str, question: str, options: str, roles: str = "") -> World:
    return World(name, they_do, one_does, question, tuple(options.split()), tuple(roles.split()))


# Worlds with roles: a rule ties each role to one option.
ROLE_WORLDS = (
    _world(
        "drinks", "get", "gets", "What does {} get?", "tea milk juice water coffee", "baker pilot nurse clerk farmer"
    ),
    _world(
        "cities",
        "live in",
        "lives in",
        "Where does {} live?",
        "London Paris Rome Berlin Madrid",
        "miner tailor banker waiter sailor",
    ),
    _world(
        "colors",
        "wear",
        "wears",
        "What color does {} wear?",
        "red blue green black white",
        "teacher driver painter singer dancer",
    ),
    _world(
        "games",
        "play",
        "plays",
        "What does {} play?",
        "chess cards tennis golf soccer",
        "doctor lawyer soldier judge barber",
    ),
    _world(
        "days",
        "rest on",
        "rests on",
        "When does {} rest?",
        "Monday Tuesday Thursday Friday Sunday",
        "hunter writer builder plumber gardener",
    ),
    _world(
        "languages",
        "speak",
        "speaks",
        "What does {} speak?",
        "French German Spanish Greek Latin",
        "poet printer potter weaver butcher",
    ),
    _world(
        "rooms",
        "work in the",
        "works in the",
        "Where does {} work?",
        "kitchen hall garage bedroom basement",
        "coach dentist detective diver guard",
    ),
    _world(
        "metals",
        "collect",
        "collects",
        "What does {} collect?",
        "gold silver copper iron steel",
        "scout rebel noble ruler knight",
    ),
    _world(
        "animals",
        "keep",
        "keeps",
        "What does {} keep?",
        "dogs cats horses goats rabbits",
        "guide cleaner mechanic merchant buyer",
    ),
    _world(
        "instruments",
        "play the",
        "plays the",
        "What does {} play?",
        "piano guitar violin drum flute",
        "porter librarian manager reporter musician",
    ),
    _world(
        "months",
        "travel in",
        "travels in",
        "When does {} travel?",
        "March April June July August",
        "physicist chemist surgeon senator professor",
    ),
    _world(
        "fruit",
        "eat",
        "eats",
        "What does {} eat?",
        "apples pears plums grapes lemons",
        "runner boxer skater climber swimmer",
    ),
    _world(
        "vegetables",
        "grow",
        "grows",
        "What does {} grow?",
        "beans peas corn carrots onions",
        "pirate robot wizard giant ghost",
    ),
    _world(
        "dishes",
        "cook",
        "cooks",
        "What does {} cook?",
        "rice fish soup pasta eggs",
        "cousin neighbor visitor tenant stranger",
    ),
    _world(
        "tools",
        "carry a",
        "carries a",
        "What does {} carry?",
        "hammer rope knife shovel ladder",
        "trader translator trainer shepherd roofer",
    ),
    _world(
        "subjects",
        "study",
        "studies",
        "What does {} study?",
        "math history biology physics law",
        "drummer composer novelist pianist sculptor",
    ),
    _world(
        "flowers",
        "plant",
        "plants",
        "What does {} plant?",
        "roses lilies tulips daisies violets",
        "ranger camper hiker biker traveler",
    ),
    _world(
        "vehicles",
        "drive a",
        "drives a",
        "What does {} drive?",
        "car truck van bus taxi",
        "golfer jogger rower surfer skier",
    ),
    _world(
        "fabrics",
        "buy",
        "buys",
        "What does {} buy?",
        "wool silk cotton leather linen",
        "patient twin lodger guest refugee",
    ),
    _world(
        "posts",
        "guard the",
        "guards the",
        "What does {} guard?",
        "bridge gate tower wall road",
        "captain general major sergeant colonel",
    ),
    _world(
        "groceries",
        "sell",
        "sells",
        "What does {} sell?",
        "bread cheese butter honey sugar",
        "cashier dealer broker designer producer",
    ),
    _world(
        "countries",
        "visit",
        "visits",
        "Which country does {} visit?",
        "Japan China Brazil Egypt Canada",
        "biologist geologist linguist botanist zoologist",
    ),
    _world(
        "clothes",
        "wear a",
        "wears a",
        "What does {} wear?",
        "hat coat scarf belt tie",
        "gambler magician juggler clown comedian",
    ),
    _world(
        "repairs",
        "repair",
        "repairs",
        "What does {} repair?",
        "chairs tables clocks lamps shoes",
        "member voter donor founder patron",
    ),
)

# Worlds without roles: what one person does on an occasion.
CHOICE_WORLDS = (
    _world("meals", "order", "orders", "What does {} order?", "pizza salad curry steak pie"),
    _world("toys", "buy a", "buys a", "What does {} buy?", "ball doll kite puzzle balloon"),
    _world("sea-animals", "watch", "watches", "What does {} watch?", "whales sharks seals dolphins turtles"),
    _world("birds", "feed", "feeds", "What does {} feed?", "ducks hens geese swans pigeons"),
    _world("outings", "go to the", "goes to the", "Where does {} go?", "park beach zoo museum library"),
    _world("town", "walk to the", "walks to the", "Where does {} walk?", "church school bank market station"),
    _world("shapes", "draw a", "draws a", "What does {} draw?", "circle square star triangle line"),
    _world("wild-animals", "paint", "paints", "What does {} paint?", "wolves bears foxes lions tigers"),
    _world("gems", "take the", "takes the", "What does {} take?", "diamond pearl ruby crystal sapphire"),
    _world("reading", "read the", "reads the", "What does {} read?", "novel poem letter newspaper magazine"),
    _world("insects", "catch", "catches", "What does {} catch?", "bees flies moths ants beetles"),
    _world("dishware", "wash the", "washes the", "What does {} wash?", "kettle pot bowl plate cup"),
    _world("house", "clean the", "cleans the", "What does {} clean?", "window floor door roof ceiling"),
    _world("containers", "open the", "opens the", "What does {} open?", "box bag jar drawer basket"),
    _world("planets", "look at", "looks at", "What does {} look at?", "Mars Venus Saturn Jupiter Mercury"),
    _world("landscape", "sketch the", "sketches the", "What does {} sketch?", "river lake hill forest island"),
    _world("music", "hear", "hears", "What does {} hear?", "jazz rock opera blues pop"),
    _world("garage", "borrow the", "borrows the", "What does {} borrow?", "rake saw drill brush pump"),
    _world("paints", "pick", "picks", "What does {} pick?", "pink purple orange yellow brown"),
    _world("states", "fly to", "flies to", "Where does {} fly?", "Texas Florida Ohio Utah Alaska"),
    _world("baking", "bake", "bakes", "What does {} bake?", "cookies muffins waffles pancakes biscuits"),
    _world("spices", "add", "adds", "What does {} add?", "salt pepper garlic ginger mint"),
)

# People who are put in an order; only these names are answers.
NAME_SETS = tuple(
    tuple(names.split())
    for names in (
        "Tom Anna Mark Lucy David", "Jack Emma Peter Sarah Paul", "John Mary James Alice Henry",
        "Kate George Laura Simon Helen", "Robert Susan Frank Julia Martin", "Daniel Rachel Adam Grace Philip",
        "Kevin Linda Brian Karen Scott", "Eric Diana Oscar Nancy Victor", "Jacob Hannah Thomas Claire Joseph",
        "Luke Sophie Ryan Amy Charles", "Edward Rose Walter Ruth Albert",
    )
)  # fmt: skip

# (more, most, less, least): "older than", "the oldest", "younger than", "the youngest".
SCALES = (
    ("taller", "tallest", "shorter", "shortest"),
    ("older", "oldest", "younger", "youngest"),
    ("faster", "fastest", "slower", "slowest"),
    ("richer", "richest", "poorer", "poorest"),
    ("stronger", "strongest", "weaker", "weakest"),
    ("heavier", "heaviest", "lighter", "lightest"),
)

# People rules are applied to; never an answer.
PEOPLE = (
    "Ben", "Ann", "Sam", "Mia", "Leo", "Eva", "Max", "Kim", "Tim", "Zoe", "Dan", "Joe", "Meg", "Nick", "Jane", "Bob",
)  # fmt: skip

# The short ones come first: the first six serve level 1.
OCCASIONS = (
    "it rains", "it snows", "it is hot", "it is cold", "it is dark", "it is late", "it is windy", "it is foggy",
    "the bell rings", "the phone rings", "the baby cries", "the moon is up", "the shop is shut", "the lamp is on",
)  # fmt: skip
SIGNS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
