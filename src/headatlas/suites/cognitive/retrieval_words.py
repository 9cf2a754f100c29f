"""The words of the retrieval items. No word is in two sets, so splits by set share no looked-up word."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NAMES = _words(
    "Anna Tom Lucy Mark Emma Jack Sarah Peter Alice David Mary Paul Kate Sam Laura Simon Helen Daniel Julia Martin "
    "Nina Oscar Rachel Victor"
)
ROOMS = _words("kitchen garden garage bedroom attic hall office stable barn library studio shop")
LOCKS = _words("gate safe door vault lift tower tunnel bank")
DEEDS = _words("bought lost found sold broke washed painted dropped borrowed")

# What tells things apart: every word can come right before any of the things.
COLOURS = _words("red blue green white black yellow brown pink purple grey")
NATIONS = _words("Swiss Irish Turkish Russian Chinese Italian Danish Swedish Roman Persian")
PLACES = _words("school hotel village city market farm castle church museum palace")
SEASONS = _words("summer winter spring morning evening birthday holiday weekend Monday Friday")
QUALITIES = _words("cheap rare plain strange pretty famous ugly perfect simple special")
SIZES = (("big ", "small "), ("old ", "new "))

# Two times that share their keys, so that a key is found only together with its time.
OCCASIONS = (
    (" today", " tomorrow"),
    (" in May", " in June"),
    (" at noon", " at night"),
    (" on Monday", " on Friday"),
    (" in spring", " in autumn"),
)

# How things are laid out, and what is then done with the one that is asked for.
SCENES = (
    ("The shop has", "{name} buys the"),
    ("The room has", "{name} likes the"),
    ("The bag holds", "{name} wants the"),
    ("The box holds", "{name} takes the"),
    ("Here we see", "{name} gets the"),
)

# Sentences without any fact that is asked for.
FILLERS = (
    "It rains all day.",
    "Nobody is in a hurry.",
    "The evening is very quiet.",
    "A bird sings somewhere outside.",
    "Later the sun comes out again.",
    "The street is almost empty.",
    "There is not much wind.",
    "It is getting late.",
)

# Things that can be owned, carried and kept in a box. A set is a group.
THINGS = tuple(
    _words(line)
    for line in """
    map rope drum key lamp coin
    cake soup bread fish rice salad
    hat cap coat belt shirt tie
    hammer drill saw nail axe shovel
    pen ruler pencil notebook stamp brush
    apple lemon peach lime plum cherry
    guitar violin flute trumpet harp bell
    cup plate bowl spoon fork knife
    ball kite doll puzzle robot puppet
    ring watch crown necklace jewel chain
    book letter diary poster card magazine
    soap towel sponge mirror comb perfume
    bean carrot potato onion tomato corn
    milk juice coffee tea wine beer
    camera phone radio laptop clock tablet
    pillow blanket sheet rug curtain cushion
    candle match torch lantern bulb battery
    shell stone feather leaf bone branch
    bag basket bottle bucket jar barrel
    cheese butter egg ham sausage bacon
    sugar salt pepper honey flour oil
    sword shield helmet spear bow arrow
    tent compass whistle backpack stove sled
    rose violet lily lotus orchid iris
    gold silver copper iron bronze steel
    silk cotton wool leather linen velvet
    novel poem script essay report memo
    ticket passport wallet badge permit visa
    painting statue vase photo sketch mask
    pill cream bandage medicine powder vitamin
    dice trophy medal ribbon flag banner
    screw bolt wire pipe hinge hook
    paint glue tape chalk ink clay
    nut seed berry grape walnut almond
    sauce pasta pizza pie cookie sandwich
    needle thread button cord pin lace
    magnet lens telescope microscope scale thermometer
    cloak robe vest dress skirt jacket
    pear mango banana coconut olive orange
    garlic ginger basil mint parsley thyme
    jam yogurt syrup mustard vinegar cereal
    contract receipt menu calendar dictionary atlas
    keyboard mouse screen cable printer charger
    umbrella cane purse fan stick trunk
    diamond pearl jade marble crystal amber
    kettle pan pot tray jug lid
    boot shoe sock glove sleeve hood
    wheat barley rye hay straw grain
    """.strip().splitlines()
)

# What is said of a person: the words before the value, and the values. A set is a group.
TRAITS = (
    ("works as a", _words("nurse baker pilot farmer teacher lawyer")),
    ("speaks", _words("Greek French German Spanish Dutch Polish")),
    ("plays", _words("tennis football hockey golf rugby basketball")),
    ("lives in", _words("Paris London Rome Berlin Madrid Boston")),
    ("comes from", _words("Canada Brazil Egypt India Kenya Peru")),
    ("keeps a", _words("cat dog horse rabbit parrot turtle")),
    ("studies", _words("history biology chemistry physics music law")),
    ("travels by", _words("bus train car taxi plane tram")),
    ("often feels", _words("happy tired angry proud lonely calm")),
    ("likes", _words("dancing singing swimming reading cooking hiking")),
)
