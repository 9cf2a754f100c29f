"""Facts for knowledge recall: relations from an entity to its one answer, all stable and widely known.

Facts come in three tiers, from those that everybody knows to those of a quiz. The facts in `shown` are only ever told
as context and never asked, so that no example tells what another one asks. `also` lists answers of the same relation
that would be accepted as well, or argued about: they are never used as wrong options for that entity.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Facts = dict[str, str]


@dataclass(frozen=True)
class Relation:
    """One relation, its wordings ({} is the entity; statements are continued by the answer) and its facts."""

    name: str
    statements: tuple[str, ...]
    questions: tuple[str, ...]
    tiers: tuple[Facts, Facts, Facts]
    shown: Facts
    also: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # The group of a fact is its entity, or its answer where the answer is what other relations ask about.
    group_by_answer: bool = False
    # Level 3 may name an entity by another fact about it: a wording, and the entity's answer in that other relation.
    detour: str = ""
    detour_facts: Facts = field(default_factory=dict)


def _inverse(**entities_of: str) -> Facts:
    """Many entities with one answer, written the short way: answer="entity, entity"; _ stands for a space."""
    named = {answer.replace("_", " "): entities.split(", ") for answer, entities in entities_of.items()}
    return {entity: answer for answer, entities in named.items() for entity in entities}


CAPITALS: tuple[Facts, Facts, Facts] = (
    {"France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Germany": "Berlin", "Spain": "Madrid", "Russia": "Moscow",
     "China": "Beijing", "Greece": "Athens", "Egypt": "Cairo", "England": "London", "Ireland": "Dublin",
     "Austria": "Vienna", "Cuba": "Havana", "Iraq": "Baghdad"},
    {"Sweden": "Stockholm", "Norway": "Oslo", "Poland": "Warsaw", "Portugal": "Lisbon", "Hungary": "Budapest",
     "Turkey": "Ankara", "Canada": "Ottawa", "Kenya": "Nairobi", "Peru": "Lima", "Thailand": "Bangkok",
     "Iran": "Tehran", "Finland": "Helsinki", "Chile": "Santiago", "Vietnam": "Hanoi"},
    {"Morocco": "Rabat", "Ghana": "Accra", "Uganda": "Kampala", "Romania": "Bucharest", "Latvia": "Riga",
     "Estonia": "Tallinn", "Croatia": "Zagreb", "Ecuador": "Quito", "Nepal": "Kathmandu", "Qatar": "Doha",
     "Serbia": "Belgrade", "Jordan": "Amman", "Syria": "Damascus", "Zambia": "Lusaka"},
)  # fmt: skip
_ALL_CAPITALS = {country: capital for tier in CAPITALS for country, capital in tier.items()}

CAPITAL = Relation(
    "capital",
    ("the capital of {} is", "the capital city of {} is", "the city that is the capital of {} is"),
    ("What is the capital of {}?", "Which city is the capital of {}?"),
    CAPITALS,
    {"Belgium": "Brussels", "Denmark": "Copenhagen", "Bangladesh": "Dhaka", "Somalia": "Mogadishu"},
)
PLACE = Relation(
    "place",
    ("{} is in the country of", "the country where people can visit {} is", "the country on whose map we find {} is"),
    ("In which country is {}?", "Which country must people go to if they want to see {}?"),
    (
        {"the Eiffel Tower": "France", "the Taj Mahal": "India", "the Great Wall": "China", "Mount Fuji": "Japan",
         "Milan": "Italy", "Munich": "Germany", "Barcelona": "Spain", "Sydney": "Australia", "Toronto": "Canada",
         "Mumbai": "India", "Shanghai": "China", "Istanbul": "Turkey", "Osaka": "Japan", "Venice": "Italy",
         "Hamburg": "Germany", "Liverpool": "England", "Marseille": "France", "Machu Picchu": "Peru"},
        {"Krakow": "Poland", "Karachi": "Pakistan", "Lagos": "Nigeria", "Casablanca": "Morocco",
         "Zurich": "Switzerland", "Salzburg": "Austria", "Bergen": "Norway", "Alexandria": "Egypt", "Tijuana": "Mexico",
         "Gothenburg": "Sweden", "Porto": "Portugal", "Mecca": "Saudi Arabia"},
        {"Mombasa": "Kenya", "Cusco": "Peru", "Medellin": "Colombia", "Valparaiso": "Chile", "Aleppo": "Syria",
         "Basra": "Iraq", "Isfahan": "Iran", "Debrecen": "Hungary", "Dubrovnik": "Croatia", "Varna": "Bulgaria",
         "Tartu": "Estonia", "Kumasi": "Ghana", "Guayaquil": "Ecuador", "Petra": "Jordan"},
    ),
    {"Antwerp": "Belgium", "Auckland": "New Zealand", "Kharkiv": "Ukraine", "Durban": "South Africa"},
    group_by_answer=True,
)  # fmt: skip
CONTINENT = Relation(
    "continent",
    ("{} lies on the continent of", "the continent on which {} lies is"),
    ("On which continent does {} lie?", "Which continent is {} a part of?"),
    (
        _inverse(Europe="France, Germany, Spain, Italy, Poland", Asia="China, Japan, India, Thailand, Vietnam",
                 Africa="Kenya, Nigeria, Ethiopia, Ghana", South_America="Brazil, Peru, Argentina, Chile"),
        _inverse(Europe="Sweden, Portugal, Ireland, Hungary", Asia="Nepal, Iran, Pakistan, Mongolia",
                 Africa="Uganda, Senegal, Morocco, Zambia", South_America="Colombia, Ecuador, Bolivia, Venezuela"),
        _inverse(Europe="Latvia, Moldova, Slovenia, Albania", Asia="Bhutan, Laos, Oman, Cambodia",
                 Africa="Malawi, Togo, Burundi, Benin", South_America="Uruguay, Paraguay, Guyana"),
    ),
    _inverse(Europe="Belgium", Asia="Bangladesh", Africa="Somalia"),
    detour="the country whose capital is {}",
    detour_facts=_ALL_CAPITALS,
)  # fmt: skip
CURRENCY = Relation(
    "currency",
    ("the money that people use in {} is called the", "the currency of {} is the", "people in {} pay with the"),
    ("What is the currency of {}?", "What is the money of {} called?"),
    (
        {"Japan": "yen", "India": "rupee", "Mexico": "peso", "Russia": "ruble", "China": "yuan", "England": "pound",
         "Germany": "euro", "France": "euro", "Italy": "euro", "Australia": "dollar", "Canada": "dollar",
         "Cuba": "peso", "Pakistan": "rupee"},
        {"Thailand": "baht", "Poland": "zloty", "Turkey": "lira", "Israel": "shekel", "Brazil": "real",
         "Nigeria": "naira", "Vietnam": "dong", "Hungary": "forint", "Sweden": "krona", "Switzerland": "franc",
         "Argentina": "peso", "Portugal": "euro", "Nepal": "rupee"},
        {"Kenya": "shilling", "Morocco": "dirham", "Romania": "leu", "Malaysia": "ringgit", "Indonesia": "rupiah",
         "Zambia": "kwacha", "Ghana": "cedi", "Ethiopia": "birr", "Kazakhstan": "tenge", "Peru": "sol", "Iran": "rial",
         "Serbia": "dinar", "Uganda": "shilling", "Jordan": "dinar"},
    ),
    {"Bangladesh": "taka", "Ukraine": "hryvnia", "Denmark": "krone", "Botswana": "pula"},
    also={"Brazil": ("rial",), "Iran": ("real",), "Indonesia": ("rupee",), "Sweden": ("krone",)},
    detour="the country whose capital is {}",
    detour_facts=_ALL_CAPITALS,
)  # fmt: skip
LANGUAGE = Relation(
    "language",
    ("the main language of {} is", "most of the people who live in {} speak", "most newspapers in {} are printed in"),
    ("What is the main language of {}?", "Which language do most people in {} speak?"),
    (
        _inverse(Portuguese="Brazil", Spanish="Mexico, Argentina, Cuba, Chile", Arabic="Egypt, Iraq", German="Austria",
                 English="Australia, Jamaica, Scotland", Hebrew="Israel", Persian="Iran", French="Quebec"),
        _inverse(Spanish="Peru, Colombia, Venezuela", Arabic="Syria, Jordan, Libya", Portuguese="Brazil",
                 German="Austria", Hebrew="Israel", English="Ireland, Jamaica", French="Quebec, Monaco"),
        _inverse(German="Liechtenstein", Khmer="Cambodia", Catalan="Andorra", Arabic="Yemen, Qatar, Tunisia",
                 Spanish="Ecuador, Uruguay, Honduras", English="Barbados, Belize", French="Monaco",
                 Romanian="Moldova", Persian="Iran"),
    ),
    _inverse(Dutch="Suriname", Bengali="Bangladesh", Spanish="Nicaragua", Arabic="Sudan"),
    also={"Israel": ("Arabic", "English"), "Quebec": ("English",), "Iraq": ("Persian",),
          "Andorra": ("Spanish", "French"), "Tunisia": ("French",), "Syria": ("French",), "Belize": ("Spanish",),
          "Cambodia": ("French",), "Qatar": ("English", "Persian")},
    detour="the country whose capital is {}",
    detour_facts=_ALL_CAPITALS,
)  # fmt: skip
AUTHOR = Relation(
    "author",
    ('"{}" was written by', 'the writer of "{}" was'),
    ('Who wrote "{}"?', 'Who is the author of "{}"?'),
    (
        {"Romeo and Juliet": "Shakespeare", "Hamlet": "Shakespeare", "Oliver Twist": "Dickens", "The Odyssey": "Homer",
         "Harry Potter": "Rowling", "Pride and Prejudice": "Austen", "The Hobbit": "Tolkien", "The Iliad": "Homer",
         "War and Peace": "Tolstoy", "The Raven": "Poe", "Frankenstein": "Shelley", "Tom Sawyer": "Twain",
         "Dracula": "Stoker", "Don Quixote": "Cervantes", "Animal Farm": "Orwell"},
        {"Great Expectations": "Dickens", "Crime and Punishment": "Dostoevsky", "The Divine Comedy": "Dante",
         "Faust": "Goethe", "Ulysses": "Joyce", "The Great Gatsby": "Fitzgerald", "The Trial": "Kafka",
         "The Canterbury Tales": "Chaucer", "Paradise Lost": "Milton", "Candide": "Voltaire", "Moby-Dick": "Melville",
         "Robinson Crusoe": "Defoe", "Treasure Island": "Stevenson", "The Jungle Book": "Kipling"},
        {"Madame Bovary": "Flaubert", "The Stranger": "Camus", "A Doll's House": "Ibsen", "Mrs Dalloway": "Woolf",
         "The Cherry Orchard": "Chekhov", "Eugene Onegin": "Pushkin", "Dead Souls": "Gogol", "Siddhartha": "Hesse",
         "The Aeneid": "Virgil", "Lolita": "Nabokov", "Brave New World": "Huxley", "Waiting for Godot": "Beckett",
         "Heart of Darkness": "Conrad", "Germinal": "Zola", "Ivanhoe": "Scott"},
    ),
    {"Gulliver's Travels": "Swift", "Peter Pan": "Barrie", "Pygmalion": "Shaw", "Walden": "Thoreau"},
    group_by_answer=True,
)  # fmt: skip
PAINTER = Relation(
    "painter",
    ('"{}" was painted by', 'the artist who painted "{}" was'),
    ('Who painted "{}"?', 'Which artist made the picture "{}"?'),
    (
        {"The Starry Night": "Van Gogh", "The Mona Lisa": "Leonardo", "The Last Supper": "Leonardo",
         "Guernica": "Picasso", "The Night Watch": "Rembrandt", "Water Lilies": "Monet", "The Scream": "Munch",
         "The Creation of Adam": "Michelangelo", "Sunflowers": "Van Gogh", "The Birth of Venus": "Botticelli"},
        {"Girl with a Pearl Earring": "Vermeer", "The Kiss": "Klimt", "The Garden of Earthly Delights": "Bosch",
         "The School of Athens": "Raphael", "The Persistence of Memory": "Dali", "The Milkmaid": "Vermeer",
         "The Peasant Wedding": "Bruegel", "The Potato Eaters": "Van Gogh"},
        {"Nighthawks": "Hopper", "The Hay Wain": "Constable", "American Gothic": "Wood", "Olympia": "Manet",
         "Liberty Leading the People": "Delacroix", "The Fighting Temeraire": "Turner", "The Son of Man": "Magritte",
         "The Dance": "Matisse", "The Card Players": "Cezanne", "The Naked Maja": "Goya"},
    ),
    {"Las Meninas": "Velazquez", "The Ambassadors": "Holbein", "The Raft of the Medusa": "Gericault"},
    also={"The Kiss": ("Munch",), "The Last Supper": ("Dali",), "The Dance": ("Munch",)},
    group_by_answer=True,
)  # fmt: skip
COMPOSER = Relation(
    "composer",
    ('the music of "{}" was written by', 'the composer of "{}" was'),
    ('Who composed "{}"?', 'Who wrote the music of "{}"?'),
    (
        {"The Magic Flute": "Mozart", "The Moonlight Sonata": "Beethoven", "Swan Lake": "Tchaikovsky",
         "The Nutcracker": "Tchaikovsky", "The Four Seasons": "Vivaldi", "The Brandenburg Concertos": "Bach",
         "Don Giovanni": "Mozart", "The Blue Danube": "Strauss", "Fur Elise": "Beethoven",
         "Carmen": "Bizet", "Messiah": "Handel"},
        {"Aida": "Verdi", "Tosca": "Puccini", "The Barber of Seville": "Rossini", "Peer Gynt": "Grieg",
         "Bolero": "Ravel", "The Planets": "Holst", "Rigoletto": "Verdi", "Madama Butterfly": "Puccini",
         "Peter and the Wolf": "Prokofiev", "The Flying Dutchman": "Wagner"},
        {"The Rite of Spring": "Stravinsky", "Pictures at an Exhibition": "Mussorgsky", "Finlandia": "Sibelius",
         "Rhapsody in Blue": "Gershwin", "Clair de Lune": "Debussy", "The Enigma Variations": "Elgar",
         "The Trout Quintet": "Schubert", "The Firebird": "Stravinsky", "Parsifal": "Wagner"},
    ),
    {"The Bartered Bride": "Smetana", "The Carnival of the Animals": "Saint-Saens", "The Creation": "Haydn"},
    group_by_answer=True,
)  # fmt: skip
SCIENCE = Relation(
    "science",
    ("the person best known for {} is", "when people speak of {}, they think of"),
    ("Who is best known for {}?", "Which person is famous for {}?"),
    (
        {"the law of gravity": "Newton", "the theory of relativity": "Einstein", "the theory of evolution": "Darwin",
         "the discovery of radium": "Curie", "the discovery of penicillin": "Fleming", "the first telephone": "Bell",
         "the invention of dynamite": "Nobel", "the printing press": "Gutenberg", "the light bulb": "Edison",
         "the first assembly line": "Ford"},
        {"the periodic table": "Mendeleev", "the orbits of planets": "Kepler", "the laws of heredity": "Mendel",
         "the vaccine against rabies": "Pasteur", "the smallpox vaccine": "Jenner", "the polio vaccine": "Salk",
         "the first radio": "Marconi", "the first electric battery": "Volta", "the uncertainty principle": "Heisenberg",
         "the interpretation of dreams": "Freud", "the discovery of radium": "Curie"},
        {"the equations of electromagnetism": "Maxwell", "the exclusion principle": "Pauli",
         "the quantum of action": "Planck", "the discovery of the neutron": "Chadwick",
         "the discovery of the electron": "Thomson", "the discovery of the nucleus": "Rutherford",
         "the expansion of the universe": "Hubble", "the theory of continental drift": "Wegener",
         "the first computer program": "Lovelace", "the difference engine": "Babbage",
         "the discovery of Uranus": "Herschel"},
    ),
    {"the circulation of the blood": "Harvey", "the model of the atom with fixed orbits": "Bohr",
     "the classification of plants": "Linnaeus"},
    also={"the polio vaccine": ("Pasteur",), "the theory of evolution": ("Mendel",),
          "the orbits of planets": ("Newton",)},
    group_by_answer=True,
)  # fmt: skip
OCCUPATION = Relation(
    "occupation",
    ("{} was a famous", "in the history books, {} is a great", "the whole world knows {} as a great"),
    ("What was the work of {}?", "What is {} famous as?"),
    (
        _inverse(painter="Picasso, Rembrandt, Monet", composer="Mozart, Beethoven, Bach",
                 scientist="Einstein, Newton, Darwin", writer="Shakespeare, Dickens, Tolstoy",
                 philosopher="Plato, Socrates, Aristotle", explorer="Columbus, Magellan"),
        _inverse(painter="Vermeer, Klimt, Matisse", composer="Chopin, Verdi, Vivaldi",
                 scientist="Galileo, Pasteur, Faraday", writer="Kafka, Chekhov, Orwell",
                 philosopher="Kant, Descartes, Confucius", explorer="Amundsen, Shackleton"),
        _inverse(painter="Titian, Caravaggio, Hokusai", composer="Mahler, Puccini, Sibelius",
                 scientist="Heisenberg, Mendel, Rutherford", writer="Ibsen, Balzac, Flaubert",
                 philosopher="Spinoza, Hegel, Kierkegaard", explorer="Pizarro, Balboa, Tasman"),
    ),
    _inverse(painter="Velazquez", composer="Brahms", scientist="Linnaeus", philosopher="Epicurus"),
    also={"Aristotle": ("scientist", "writer"), "Plato": ("writer",), "Newton": ("philosopher",),
          "Descartes": ("scientist", "writer"), "Kant": ("writer",), "Galileo": ("philosopher",),
          "Einstein": ("philosopher",), "Darwin": ("explorer", "writer"), "Kierkegaard": ("writer",),
          "Confucius": ("writer",), "Spinoza": ("writer",), "Hegel": ("writer",), "Tolstoy": ("philosopher",),
          "Heisenberg": ("philosopher",), "Kafka": ("philosopher",)},
)  # fmt: skip
YOUNG = Relation(
    "young",
    ("the young of the {} is called a", "when the {} is still a baby, people call it a"),
    ("What is the young of the {} called?", "What do people call the baby of the {}?"),
    (
        {"dog": "puppy", "cat": "kitten", "cow": "calf", "sheep": "lamb", "horse": "foal", "bear": "cub",
         "hen": "chick", "frog": "tadpole", "deer": "fawn", "kangaroo": "joey", "lion": "cub", "elephant": "calf"},
        {"swan": "cygnet", "goose": "gosling", "seal": "pup", "whale": "calf", "tiger": "cub", "wolf": "pup",
         "butterfly": "caterpillar", "zebra": "foal", "goat": "kid", "toad": "tadpole"},
        {"hare": "leveret", "bat": "pup", "koala": "joey", "moose": "calf", "camel": "calf", "llama": "cria",
         "pigeon": "squab", "moth": "caterpillar", "donkey": "foal", "trout": "fry"},
    ),
    {"giraffe": "calf", "leopard": "cub", "wallaby": "joey", "ewe": "lamb"},
    also={"dog": ("pup",), "deer": ("calf",), "wolf": ("cub", "puppy"), "seal": ("calf",),
          "whale": ("pup",), "swan": ("chick",), "goose": ("chick",), "pigeon": ("chick",), "tiger": ("kitten",),
          "lion": ("kitten",), "koala": ("cub", "kid"), "kangaroo": ("kid",), "moose": ("fawn", "kid"),
          "hare": ("kitten",), "bear": ("kid",), "camel": ("foal",), "elephant": ("kid",)},
)  # fmt: skip
SOUND = Relation(
    "sound",
    ("the sound that the {} makes is called a", "if the {} makes a noise, it will be a"),
    ("What is the sound of the {} called?", "Which sound does the {} make?"),
    (
        {"dog": "bark", "cat": "meow", "cow": "moo", "duck": "quack", "lion": "roar", "pig": "grunt", "bee": "buzz",
         "snake": "hiss", "owl": "hoot", "frog": "croak", "wolf": "howl", "mouse": "squeak", "horse": "neigh"},
        {"crow": "caw", "goose": "honk", "sheep": "bleat", "donkey": "bray", "dove": "coo", "hen": "cluck",
         "turkey": "gobble", "cricket": "chirp", "bear": "growl"},
        {"goat": "bleat", "pigeon": "coo", "bull": "bellow", "seal": "bark", "mosquito": "buzz", "tiger": "roar",
         "toad": "croak", "sparrow": "chirp", "mule": "bray"},
    ),
    {"rattlesnake": "rattle", "songbird": "tweet", "puppy": "yelp", "parrot": "squawk"},
    also={"dog": ("howl", "growl"), "cat": ("hiss", "growl"), "lion": ("growl",), "bear": ("roar", "grunt", "bellow"),
          "pig": ("squeak",), "wolf": ("bark", "growl"), "goose": ("hiss",), "cow": ("bellow",), "frog": ("chirp",),
          "bull": ("roar", "moo", "grunt"), "seal": ("roar", "growl", "bellow"), "tiger": ("growl", "bellow"),
          "snake": ("buzz",), "cricket": ("buzz",), "horse": ("grunt",), "bee": ("hiss",), "crow": ("croak",),
          "hen": ("coo",), "owl": ("hiss", "coo"), "mosquito": ("chirp",), "toad": ("chirp", "bark")},
)  # fmt: skip
HOME = Relation(
    "home",
    ("the home of the {} is called a", "the place in which the {} lives is called a"),
    ("What is the home of the {} called?", "What do people call the place where the {} lives?"),
    (
        {"bee": "hive", "bird": "nest", "spider": "web", "horse": "stable", "rabbit": "burrow", "dog": "kennel",
         "pig": "sty", "king": "palace", "hen": "coop", "bear": "den", "queen": "palace", "fox": "den"},
        {"monk": "monastery", "beaver": "lodge", "mole": "burrow", "nun": "convent", "wolf": "den", "eagle": "nest",
         "prisoner": "jail", "hen": "coop", "pig": "sty"},
        {"squirrel": "drey", "otter": "holt", "bat": "roost", "pigeon": "loft", "wasp": "nest",
         "badger": "sett", "rabbit": "burrow"},
    ),
    {"termite": "mound", "sultan": "palace", "robin": "nest"},
    also={"bee": ("nest",), "rabbit": ("den", "nest", "sty"), "hen": ("nest",), "dog": ("den",), "fox": ("burrow",),
          "beaver": ("den", "burrow"), "badger": ("burrow", "den"), "otter": ("den", "burrow"), "squirrel": ("nest",),
          "nun": ("monastery",), "monk": ("convent",), "bat": ("nest",),
          "pigeon": ("nest", "roost"), "wasp": ("hive",), "mole": ("nest",), "wolf": ("burrow",), "eagle": ("roost",),
          "bird": ("roost",)},
)  # fmt: skip
ANIMAL_CLASS = Relation(
    "animal-class",
    ("the {} is a kind of", "in a book about animals, the {} is given as a type of"),
    ("What kind of animal is the {}?", "Which group of animals does the {} belong to?"),
    (
        _inverse(mammal="whale, dog, horse, mouse", bird="eagle, owl, duck, penguin", fish="salmon, shark, trout, tuna",
                 reptile="snake, lizard, crocodile, turtle", insect="ant, bee, butterfly, mosquito"),
        _inverse(mammal="bat, dolphin, seal, kangaroo", bird="ostrich, swan, pigeon, flamingo",
                 fish="herring, eel, cod", reptile="tortoise, alligator, iguana, cobra",
                 insect="beetle, wasp, cricket, moth"),
        _inverse(mammal="platypus, manatee, lemur, porcupine", bird="kestrel, puffin, heron, magpie",
                 fish="carp, halibut, sturgeon", reptile="gecko, python, chameleon, viper",
                 insect="cicada, aphid, weevil, locust"),
    ),
    _inverse(mammal="walrus", bird="stork", reptile="boa", fish="sardine"),
)  # fmt: skip
COLOR = Relation(
    "color",
    ("the usual color of {} is", "the right color for {} in a picture is"),
    ("What is the usual color of {}?", "Which color is right for {} in a picture?"),
    (
        _inverse(yellow="ripe bananas, ripe lemons", white="fresh snow, fresh milk", green="fresh grass, fresh spinach",
                 red="fresh blood, ripe strawberries", black="burnt wood, pure coal",
                 orange="fresh carrots, ripe pumpkins", blue="clear skies", brown="milk chocolate, wet soil"),
        _inverse(yellow="sunflower petals, egg yolk", white="polar bears, table salt",
                 green="lettuce leaves, emerald stones", red="fire trucks, ruby stones",
                 black="printer ink, road tar", blue="sapphire stones",
                 orange="tangerine peel, apricot skin", brown="coffee beans, tree bark", pink="wild flamingos"),
        _inverse(green="malachite stones, jade beads", purple="amethyst stones, ripe eggplants",
                 black="onyx beads, jet beads", blue="lapis stones, cobalt glass",
                 red="garnet beads, cooked lobsters", yellow="pure sulfur",
                 orange="monarch butterflies", white="chalk cliffs"),
    ),
    _inverse(white="cotton balls", green="pine needles", red="stop signs", blue="cornflower petals"),
    also={"ripe bananas": ("green",), "ripe pumpkins": ("yellow", "green"), "apricot skin": ("yellow", "pink"),
          "milk chocolate": ("black", "white"), "wet soil": ("black", "red"), "burnt wood": ("brown",),
          "pure coal": ("brown",), "tree bark": ("white", "black"), "coffee beans": ("green", "black"),
          "road tar": ("brown",), "printer ink": ("blue",), "wild flamingos": ("red", "orange", "white"),
          "jade beads": ("white", "purple", "black"), "garnet beads": ("purple", "green", "brown", "orange", "black"),
          "monarch butterflies": ("black", "white"), "onyx beads": ("white",), "cooked lobsters": ("orange", "pink"),
          "ripe eggplants": ("black", "white"), "fire trucks": ("yellow", "white"), "lettuce leaves": ("red",),
          "ruby stones": ("pink",), "sapphire stones": ("pink", "yellow"), "sunflower petals": ("orange",),
          "egg yolk": ("orange",), "fresh carrots": ("purple", "yellow"), "tangerine peel": ("green",)},
)  # fmt: skip
MATERIAL = Relation(
    "material",
    ("{} is usually made from", "{} is a product that people make from"),
    ("What is {} usually made from?", "From what do people usually make {}?"),
    (
        {"cheese": "milk", "bread": "flour", "wine": "grapes", "paper": "wood", "glass": "sand", "chocolate": "cocoa",
         "popcorn": "corn", "ketchup": "tomatoes", "steel": "iron", "yogurt": "milk", "cake": "flour",
         "cider": "apples"},
        {"butter": "cream", "tofu": "soybeans", "beer": "barley", "leather": "skin", "sushi": "rice",
         "hummus": "chickpeas", "guacamole": "avocados", "charcoal": "wood", "pottery": "clay", "pasta": "wheat",
         "mustard": "seeds"},
        {"linen": "flax", "marzipan": "almonds", "brass": "copper", "bronze": "copper", "mead": "honey", "sake": "rice",
         "tahini": "sesame", "sauerkraut": "cabbage", "tequila": "agave", "polenta": "corn", "parchment": "skin",
         "kimchi": "cabbage", "rum": "sugar"},
    ),
    {"risotto": "rice", "jerky": "meat", "rubber": "latex"},
    also={"bread": ("corn", "wheat", "barley"), "cheese": ("cream",), "chocolate": ("milk", "cream", "sugar"),
          "beer": ("wheat", "rice", "corn"), "wine": ("apples",), "cake": ("milk", "wheat", "sugar"),
          "pasta": ("rice",), "hummus": ("seeds", "sesame"), "tahini": ("seeds",), "marzipan": ("sugar", "honey"),
          "steel": ("sand",), "mead": ("sugar",), "tequila": ("sugar",), "leather": ("wood",), "cider": ("grapes",)},
)  # fmt: skip
PART = Relation(
    "part",
    ("the {} is a part of the", "the {} is always found as a part of the"),
    ("What is the {} a part of?", "Of which bigger thing is the {} a part?"),
    (
        {"thumb": "hand", "toe": "foot", "nostril": "nose", "knee": "leg", "elbow": "arm", "tongue": "mouth",
         "petal": "flower", "sleeve": "shirt", "branch": "tree", "bedroom": "house", "finger": "hand", "heel": "foot",
         "collar": "shirt", "attic": "house"},
        {"retina": "eye", "cochlea": "ear", "biceps": "arm", "keel": "ship", "pedal": "bicycle", "chimney": "house",
         "iris": "eye", "stanza": "poem", "handlebar": "bicycle", "deck": "ship"},
        {"cerebellum": "brain", "cornea": "eye", "tibia": "leg", "humerus": "arm", "pistil": "flower", "nave": "church",
         "hippocampus": "brain", "stamen": "flower", "fibula": "leg", "eardrum": "ear", "ventricle": "heart",
         "altar": "church"},
    ),
    {"crankshaft": "engine", "fuselage": "airplane", "hilt": "sword", "trigger": "gun"},
    also={"thumb": ("arm",), "finger": ("arm",), "toe": ("leg",), "heel": ("leg",), "petal": ("tree",),
          "pistil": ("tree",), "stamen": ("tree",), "deck": ("house",),
          "iris": ("flower",), "branch": ("flower",), "pedal": ("ship",), "ventricle": ("brain",)},
)  # fmt: skip
MONTH = Relation(
    "next-month",
    ("the month that comes right after {} is", "on the calendar, {} is followed by"),
    ("Which month comes right after {}?", "What is the next month after {}?"),
    (
        {"January": "February", "February": "March", "March": "April", "April": "May", "May": "June",
         "August": "September", "September": "October", "December": "January"},
        {}, {},
    ),
    {"July": "August", "November": "December"},
)  # fmt: skip
LETTER = Relation(
    "next-letter",
    ("in the Greek alphabet, {} is followed by", "the Greek letter that comes right after {} is"),
    ("Which Greek letter comes right after {}?", "In the Greek alphabet, what is the next letter after {}?"),
    (
        {},
        {"alpha": "beta", "beta": "gamma", "gamma": "delta", "delta": "epsilon", "eta": "theta",
         "theta": "iota", "kappa": "lambda"},
        {"iota": "kappa", "lambda": "mu", "mu": "nu", "pi": "rho", "rho": "sigma", "sigma": "tau", "phi": "chi"},
    ),
    {"zeta": "eta", "psi": "omega", "xi": "omicron"},
)  # fmt: skip
SYMBOL = Relation(
    "symbol",
    ("the chemical symbol for {} is", "in the periodic table, the letters for {} are"),
    ("What is the chemical symbol for {}?", "Which letters stand for {} in the periodic table?"),
    (
        {},
        {"gold": "Au", "iron": "Fe", "silver": "Ag", "lead": "Pb", "sodium": "Na", "copper": "Cu", "calcium": "Ca",
         "chlorine": "Cl"},
        {"tin": "Sn", "mercury": "Hg", "antimony": "Sb", "magnesium": "Mg", "manganese": "Mn", "arsenic": "As",
         "cadmium": "Cd", "platinum": "Pt"},
    ),
    {"zinc": "Zn", "helium": "He", "neon": "Ne"},
)  # fmt: skip

RELATIONS = (
    CAPITAL, PLACE, CONTINENT, CURRENCY, LANGUAGE, AUTHOR, PAINTER, COMPOSER, SCIENCE, OCCUPATION, YOUNG, SOUND, HOME,
    ANIMAL_CLASS, COLOR, MATERIAL, PART, MONTH, LETTER, SYMBOL,
)  # fmt: skip
