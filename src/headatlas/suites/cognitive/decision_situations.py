"""Situations for decision-making. Each is a group; no option is in two situations.

Options stand after "the"; the wishes of a situation have the same number of words, so that a twin is a small change.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Needs:
    """Wishes, each served by one option: `frame` has a gap for the wish; `act` is what one does with an option."""

    name: str
    frame: str
    act: str
    served: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Measure:
    """A number on every option. `least`: the smallest is best; else the largest. `limit` has a gap for a number."""

    verb: str
    unit: str
    least: bool
    wish: str
    limit: str


@dataclass(frozen=True)
class Goods:
    """Options that a number on each makes better or worse."""

    name: str
    act: str
    measure: Measure
    options: tuple[str, ...]


@dataclass(frozen=True)
class Avoided:
    """Kinds that somebody may rule out, and what belongs to each kind; every option has or shows one such thing."""

    name: str
    rules_out: str
    act: str
    has: str
    kinds: tuple[tuple[str, tuple[str, ...]], ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Traits:
    """Goals, each calling for one trait, and options that have one trait each."""

    name: str
    act: str
    goals: tuple[tuple[str, str], ...]
    options: tuple[str, ...]


def _needs(name: str, frame: str, act: str, served: str) -> Needs:
    pairs = (pair.split(":") for pair in served.split(", "))
    return Needs(name, frame, act, tuple((wish, option) for wish, option in pairs))


def _goods(name: str, act: str, measure: Measure, options: str) -> Goods:
    return Goods(name, act, measure, tuple(options.split()))


def _traits(name: str, act: str, goals: str, options: str) -> Traits:
    pairs = (pair.split(":") for pair in goals.split(", "))
    return Traits(name, act, tuple((goal, trait) for goal, trait in pairs), tuple(options.split()))


def _avoided(name: str, rules_out: str, act: str, has: str, kinds: str, options: str) -> Avoided:
    pairs = (pair.split(":") for pair in kinds.split(", "))
    return Avoided(name, rules_out, act, has, tuple((k, tuple(i.split())) for k, i in pairs), tuple(options.split()))


NEEDS = (
    _needs("outing", "loves {}", "go to", "music:concert, animals:zoo, paintings:gallery, swimming:pool, films:cinema"),
    _needs("workshop", "wants to {}", "use", "cut wood:saw, drive nails:hammer, dig holes:shovel, paint walls:brush"),
    _needs("helper", "needs help with {}", "call", "teeth:dentist, taxes:accountant, pipes:plumber, pets:vet"),
    _needs("shops", "needs {}", "go to", "bread:bakery, meat:butcher, medicine:pharmacy, flowers:florist"),
    _needs("hobby", "enjoys {}", "buy", "knitting:yarn, fishing:rod, camping:tent, sewing:needle, cycling:helmet"),
    _needs(
        "kitchen", "wants to {}", "use", "boil water:kettle, bake cookies:oven, chill drinks:fridge, mix fruit:blender"
    ),
    _needs("sports", "likes {}", "pack", "tennis:racket, baseball:bat, hockey:stick, archery:bow, boxing:gloves"),
    _needs("travel", "must travel on {}", "take", "rails:train, water:boat, snow:sled, roads:truck"),
    _needs("pets", "wants a pet that {}", "choose", "barks:dog, purrs:cat, sings:canary, swims:goldfish, hops:rabbit"),
    _needs("rooms", "wants to {}", "use", "sleep:bedroom, cook:kitchen, bathe:bathroom, park:garage"),
    _needs("carrying", "has to carry {}", "use", "water:bucket, coins:purse, clothes:suitcase, groceries:basket"),
    _needs("sights", "wants to see {}", "visit", "waves:beach, cows:farm, trees:forest, planes:airport"),
    _needs("office", "wants to {}", "use", "cut paper:scissors, join pages:stapler, rub out:eraser, draw lines:ruler"),
    _needs("first-aid", "has {}", "use", "a headache:aspirin, a cut:bandage, a cough:syrup, a splinter:tweezers"),
    _needs("comfort", "feels {}", "take", "thirsty:juice, hungry:sandwich, sleepy:pillow, cold:blanket, dirty:soap"),
    _needs("craft", "needs {}", "call", "a cake:baker, a suit:tailor, a portrait:painter, a ring:jeweler"),
    _needs(
        "clothes", "needs clothes for {}", "wear", "winter:coat, bedtime:pajamas, jogging:sneakers, surfing:swimsuit"
    ),
    _needs(
        "music", "wants to {}", "play", "press keys:piano, pluck strings:harp, use drumsticks:drum, blow air:trumpet"
    ),
    _needs(
        "garden", "wants to {}", "use", "spray flowers:hose, mow grass:mower, gather leaves:rake, move soil:wheelbarrow"
    ),
    _needs(
        "knowing", "wants to know the {}", "check", "time:clock, weight:scale, temperature:thermometer, date:calendar"
    ),
    _needs(
        "errands",
        "wants to {}",
        "go to",
        "borrow books:library, deposit money:bank, catch trains:station, see plays:theater",
    ),
)

PRICE = Measure("costs", "dollars", True, "wants to spend the least", "has {} dollars")
TIME = Measure("takes", "minutes", True, "wants to save time", "has {} minutes")
DISTANCE = Measure("is", "miles away", True, "wants to walk the least", "can walk {} miles")
WEIGHT = Measure("weighs", "pounds", True, "wants the lightest load", "can lift {} pounds")
SEATS = Measure("seats", "people", False, "wants the most seats", "needs seats for {} people")
HOURS = Measure("lasts", "hours", False, "wants it to last long", "needs it for {} hours")

GOODS = (
    _goods("home", "buy", PRICE, "lamp mirror vase carpet candle"),
    _goods("toys", "buy", PRICE, "doll kite puzzle robot balloon"),
    _goods("garments", "buy", PRICE, "shirt scarf belt jacket dress"),
    _goods("jewels", "buy", PRICE, "necklace bracelet watch crown brooch"),
    _goods("devices", "buy", PRICE, "phone camera radio printer tablet"),
    _goods("tools", "buy", PRICE, "drill ladder pump axe wrench"),
    _goods("transit", "take", TIME, "bus tram taxi ferry subway"),
    _goods("ways", "take", TIME, "bridge tunnel highway path road"),
    _goods("cooking", "cook", TIME, "soup pasta omelet stew rice"),
    _goods("shows", "watch", TIME, "cartoon speech lecture interview quiz"),
    _goods("lodging", "walk to", DISTANCE, "hotel motel inn hostel cabin"),
    _goods("buying", "walk to", DISTANCE, "market mall store kiosk bazaar"),
    _goods("nature", "walk to", DISTANCE, "lake river pond canyon waterfall"),
    _goods("sport-places", "walk to", DISTANCE, "gym court stadium arena rink"),
    _goods("materials", "carry", WEIGHT, "log brick stone beam pipe"),
    _goods("instruments", "carry", WEIGHT, "guitar cello banjo tuba accordion"),
    _goods("luggage", "carry", WEIGHT, "trunk backpack briefcase crate sack"),
    _goods("vehicles", "rent", SEATS, "van jeep limousine wagon car"),
    _goods("boats", "rent", SEATS, "canoe raft yacht sailboat kayak"),
    _goods("furniture", "use", SEATS, "bench sofa table booth counter"),
    _goods("halls", "book", SEATS, "hall lounge patio chapel classroom"),
    _goods("lights", "use", HOURS, "torch lantern bulb flashlight spotlight"),
    _goods("gadgets", "use", HOURS, "laptop headset speaker scanner toy"),
)
# Goods of which one may say that they are big or small, old or new, and of some color.
THINGS = tuple(goods for goods in GOODS if goods.measure in (PRICE, WEIGHT) or goods.name in ("vehicles", "boats"))

TRAITS = (
    _traits(
        "coats",
        "wear",
        "stay warm:thick, stay dry:waterproof, be noticed:bright, save money:cheap",
        "cape cloak parka poncho vest",
    ),
    _traits(
        "horses",
        "choose",
        "win races:fast, pull carts:strong, scare thieves:fierce, calm children:gentle",
        "mare stallion pony donkey mule",
    ),
    _traits(
        "texts",
        "read",
        "laugh loudly:funny, feel fear:scary, finish soon:short, cry hard:sad",
        "tale essay diary poem memoir",
    ),
    _traits(
        "dishes",
        "try",
        "warm up:hot, cool down:frozen, taste sugar:sweet, taste pepper:spicy",
        "pudding broth sauce punch dessert",
    ),
    _traits(
        "blades",
        "use",
        "cut rope:sharp, reach far:long, break rocks:heavy, fit pockets:tiny",
        "spear club hook chisel crowbar",
    ),
    _traits(
        "workers",
        "hire",
        "solve riddles:clever, trust somebody:honest, hear jokes:witty, avoid delays:punctual",
        "clerk porter maid guard cook",
    ),
    _traits(
        "cloths",
        "use",
        "wipe spills:absorbent, see through:transparent, stretch it:elastic, sleep softly:fluffy",
        "sheet ribbon towel curtain rug",
    ),
    _traits(
        "routes",
        "take",
        "avoid hills:flat, enjoy views:scenic, avoid noise:quiet, arrive soon:direct",
        "trail lane alley avenue street",
    ),
    _traits(
        "plants",
        "plant",
        "smell perfume:fragrant, eat berries:edible, get shade:leafy, avoid watering:hardy",
        "bush palm shrub vine fern",
    ),
    _traits(
        "houses",
        "rent",
        "host crowds:spacious, swim daily:coastal, see far:hilltop, walk everywhere:central",
        "cottage castle flat villa bungalow",
    ),
)

AVOIDED = (
    _avoided(
        "menu",
        "eats",
        "order",
        "has",
        "meat:beef pork ham, fish:tuna salmon cod, fruit:apples pears plums, nuts:almonds walnuts pecans",
        "taco wrap salad pie casserole",
    ),
    _avoided(
        "prints",
        "likes",
        "buy",
        "shows",
        "birds:eagles owls crows, insects:bees ants wasps, flowers:roses tulips lilies, fish:sharks trout herring",
        "poster postcard stamp mug sticker",
    ),
    _avoided(
        "stuff",
        "wants",
        "take",
        "is made of",
        "metal:iron steel copper, wood:oak pine maple, stone:marble granite slate, cloth:silk cotton wool",
        "box statue chest frame tray",
    ),
    _avoided(
        "listening",
        "likes",
        "choose",
        "is about",
        "sports:soccer rugby volleyball, science:physics chemistry geology, crime:murder theft, weather:storms rain",
        "podcast blog program article talk",
    ),
    _avoided(
        "lunch",
        "eats",
        "pack",
        "holds",
        "greens:lettuce spinach, sweets:candy fudge, dairy:cheese yogurt, cereals:wheat oats",
        "bag jar basin tin pouch",
    ),
)
