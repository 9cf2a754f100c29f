"""The situations of the inference items: what is said, and what it implies.

A clue holds slots `[a|b]`: with the first words of every slot it implies the first answer, with the second words the
second. Both sides of a slot have equally many words. The answers are never said. {n} is a name; {he}, {him}, {his}
and {He} are its pronouns. The two `wrong` words are of the same kind and implied by neither side; nearly all are
answers elsewhere, so no word is right or wrong by itself.
"""

from __future__ import annotations

from typing import NamedTuple


class Situation(NamedTuple):
    """A plain clue, a subtle one that takes more steps, the answers of the two sides, and two wrong words."""

    plain: str
    subtle: str
    answers: tuple[str, str]
    wrong: tuple[str, str]


class Kind(NamedTuple):
    """What is asked about a situation: two ways to state it, a question with its answer's beginning, and an aside.

    The aside speaks of someone else, {m}, or of another time, and names a wrong word {d}.
    """

    stems: tuple[str, str]
    question: str
    reply: str
    aside: str
    situations: tuple[Situation, ...]


def _read(table: str) -> tuple[Situation, ...]:
    """Situations from blocks of three lines: plain clue, subtle clue, `answer answer / wrong wrong`."""
    lines = [line.strip() for line in table.strip().splitlines()]
    situations = []
    for plain, subtle, words in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        (first, second), (third, fourth) = (half.split() for half in words.split("/"))
        situations.append(Situation(plain, subtle, (first, second), (third, fourth)))
    return tuple(situations)


PLACE = Kind(
    ("At that moment {n} was at the", "All this happened to {n} at the"),
    "Where was {n}?",
    "{n} was at the",
    "The day before, {n} had been at the {d} with {m}.",
    _read("""
{n} chose three [novels|loaves] from the shelf, and a kind woman [stamped|sliced] them.
The room was [silent|warm]. {n} gave the woman {his} [card|money], and she asked {him} to [return|enjoy] \
everything before [the end of May|it was completely cold].
library bakery / beach zoo
{n} paid at the gate and looked at the old [lions|paintings] for an hour.
A guide led the group past a [tiger|statue], and {n} learned how [much it eats|old it is] and why nobody may \
[feed|touch] it.
zoo museum / bank bakery
{n} watched the [waves|cows] and then washed the [sand|mud] off {his} feet.
{n} carried a [towel|bucket] down the path, said hello to a man with a [surfboard|pitchfork], and waited until \
the [tide came in|milk was collected].
beach farm / hospital gym
{n} showed a ticket and heard that the [plane|train] would leave very soon.
{n} read the big board, ran all the way to [gate|track] nine and found a free seat \
[above the left wing|in the last carriage].
airport station / farm museum
{n} lay in bed while a [nurse|maid] came in with some [medicine|towels].
{n} had a small room on the third floor. Before {he} could go home, {he} had to [see the surgeon|pay the bill] \
and thank the [nurses|porter].
hospital hotel / cinema library
{n} took some [popcorn|water] and sat down [before the big screen|on the exercise bike].
While {n} [held the popcorn|lifted the weights], a man behind {him} [laughed at the film|asked for the mats], \
and two hours went by quickly.
cinema gym / station church
{n} waited in silence while the [priest|cashier] [read a prayer|counted the money].
{n} sat on a hard [wooden bench|plastic chair] until the man behind the [candles|glass] began to speak about \
[heaven|loans] in a low voice.
church bank / airport hotel
"""),
)

JOB = Kind(
    ("{n} works as a", "So it is clear that {n} is a"),
    "What is the job of {n}?",
    "{n} is a",
    "{m}, who lives in the same house as {n}, is a {d}.",
    _read("""
People sit down in {n}'s chair, and {he} takes care of their [teeth|hair].
People lean back in {n}'s chair. {He} asks them to [open wide|sit still], and afterwards they see \
[white smiles|short curls] in the mirror.
dentist barber / pilot baker
At work {n} looks out at the [clouds|waves] from [the plane|the ship].
{n} is away from home for days. {He} checks the [wings|ropes] before leaving, and later {he} thinks of the next \
[runway|harbor].
pilot sailor / judge nurse
Every day {n} takes care of thirty [pupils|cows] and thinks about their [homework|milk].
{n} says that the busy part of the year begins in [September|spring], when thirty \
[shy new faces|weak new lambs] need {him} every hour.
teacher farmer / barber plumber
{n} gets up at four and makes [bread|suits] for the whole town.
{n}'s fingers are never without [flour|pins] on them, and in the window every [roll|coat] lies ready for the \
people of the town.
baker tailor / dentist gardener
All day {n} [makes soup|brings pills] for people who are [hungry|ill].
{n} works long shifts and checks everything twice: the [sauces|bandages], the [pans|needles] and the \
[herbs|fevers] that change by the hour.
chef nurse / sailor painter
{n} put on a long [black robe|blue apron] and finished the [trial|portrait].
{n} may look at one face for hours. {He} weighs every [word|shade], and in the end the \
[prison term|finished canvas] is {his} work alone.
judge painter / farmer chef
People call {n} when their [pipes|hedges] need some work.
{n} drives a van full of [wrenches|shovels]. Today {he} looked under a [sink|rose], cleaned the [drain|path] \
and stopped a [leak|weed].
plumber gardener / teacher tailor
"""),
)

FEELING = Kind(
    ("After this {n} felt very", "Because of all this {n} was now very"),
    "How did {n} feel?",
    "{n} felt very",
    "{m}, who lives far away, had felt very {d} that week.",
    _read("""
A letter told {n} that {his} lost dog was [dead|safe].
The doctor called {n} about {his} grandmother in the hospital. She would [never|soon] come home again, and {n} \
[dropped|kissed] the phone.
sad happy / hungry bored
{n} had not [eaten|drunk] anything since the early morning.
{n} had walked since dawn. The last of the [bread|water] was gone by ten, and {he} dreamed of a big \
[plate|glass] of anything at all.
hungry thirsty / proud sad
{n} stood in the [snow|sun] for an hour in [thin|thick] clothes.
In the middle of [January|July] the [heating|fan] in {n}'s small office had stopped, and {he} kept reaching for \
{his} [scarf and gloves|iced lemon water].
cold hot / lonely excited
{n} saw [a snake|deep scratches] on the seat of {his} new car.
{n} had just [turned off the lamp|paid for the repair] when {he} heard \
[slow steps in the attic|someone kick the door again].
afraid angry / thirsty hot
Tomorrow would bring {n} [the same dull work again|the trip of {his} dreams].
{n} looked at the clock again. There were only ten minutes left until the [third|first] \
[talk about tax forms|concert of {his} life].
bored excited / sick cold
{n} [stayed at home without friends|won the big chess game].
On the evening of the big day {n} looked at the [empty chairs|gold medal]: everybody had \
[forgotten about|clapped for] [the party|{his} song].
lonely proud / tired afraid
{n} had [eaten too much old fish|worked two nights without rest].
At noon {n} had [tried the yellow oysters|finished the third shift], and an hour later {he} could hardly keep \
{his} [lunch down|eyes open].
sick tired / happy angry
"""),
)

STATE = Kind(
    ("So now the {t} must be", "{n} can see that the {t} is now"),
    "What is the {t} like now?",
    "The {t} is now",
    "Not far away, {m} was looking at something {d}.",
    _read("""
The glass [bowl] fell from {n}'s hand [onto the stone floor|into the deep river].
{n} turned too fast with the [vase] in {his} arms. It went over the side of the [balcony|boat], and from below \
came a loud [crash|splash].
broken wet / warm hard
{n} left the bottle of [water] [in the snow|near the fire] all night.
{n} forgot the bucket of [water] in the yard. In the morning the thermometer beside it stood at [minus|plus] \
thirty after a long [January|July] night.
frozen warm / dirty ripe
{n} [washed the white|dropped the white] [shirt] [with some soap|in the mud].
The white [dog] ran straight through the [shower|swamp], and {n} looked at its fur and \
[smiled with relief|sighed in despair].
clean dirty / full broken
{n} poured tea [into|from] the [pot] until no more would [fit|come].
At every stop more people got [on|off] the [bus] and nobody got [off|on], until {n} could see \
[no free seat|no other head] in it.
full empty / soft frozen
The green [pear] lay in {n}'s warm kitchen for two [months|days].
{n} put the hard green [tomato] in the sun and came back [half a year|half a week] later to a [terrible|lovely] \
smell in the kitchen.
rotten ripe / wet bright
After sunset {n} turned [off|on] all the lamps in the [room].
The power was gone that evening. {n} [blew out|lit up] the last [ten|fifty] candles in the [hall], and everyone \
[fell silent|cried out] at the sight.
dark bright / rotten clean
{n} left the [butter] [in the sun|in the freezer] for an hour.
{n} needed the [butter] for a cake. It had spent the whole night beside the [oven|ice], and the knife \
[sank right in|slid right off].
soft hard / dark empty
"""),
)

CAUSE = Kind(
    ("All this was because of the", "The reason for this was the"),
    "What was the reason?",
    "The reason was the",
    "In another year {m} had complained to {n} about the {d}.",
    _read("""
On the way to work {n} had to [open an umbrella|wear dark glasses].
Nobody at the picnic had expected it. {n} moved the cake [under the roof|into the shade] and gave the children \
[rubber boots|straw hats] to wear.
rain sun / price noise
In the street {n} covered {his} [ears|nose] with both hands.
{n} moved away from the [drum|fish] factory. Even [thick walls and earplugs|open windows and perfume] had not \
helped {him} in {his} old rooms.
noise smell / ice flood
On the bridge {n} [held on to|slipped and broke] {his} [hat|leg].
All along the shore road [branches bent|cars slid] that day, and {n} walked [leaning forward|very slowly] with \
[one hand on {his} cap|iron nails under {his} boots].
wind ice / baby smell
{n} ran from the house with [smoke in {his} eyes|water in {his} shoes].
The whole street had to leave. When {n} came back, the carpets were [black|soaked], and there was [ash|mud] on \
every wall of the house.
fire flood / traffic salt
{n} [sat in the car for hours|did not buy the red car].
In the end {n} never got [to the wedding|the old piano]. {He} had looked at the long \
[line of cars|row of zeros] and given up.
traffic price / pain sun
{n} always kept a [leash|diaper] and a [ball|bottle] in {his} bag.
Since spring {n} had gone [out in every storm|without any real sleep] again and again, always with \
[an old ball|some warm milk] in {his} hand.
dog baby / fire wind
After the [fall|soup] {n} [took a strong pill|drank three big glasses].
After one minute {n} put the [racket|spoon] down, asked for [some ice|some water] and [held|wiped] {his} \
[elbow|tongue] for a long time.
pain salt / dog rain
"""),
)

TIME = Kind(
    ("From all this {n} could tell that it was", "As {n} knew, it was"),
    "When was this?",
    "It was",
    "{m} had once asked {n} how to spell the word {d}.",
    _read("""
The children made a [snowman|sandcastle] and wore [gloves and boots|hats and shorts].
{n} drove home at eight, [long after dark|still in sunshine], past a lake full of [skaters|swimmers] and a \
stand that sold [hot chestnuts|cold drinks].
winter summer / spring autumn
{n} saw that the leaves on the trees were [young and green|brown and falling].
In {n}'s garden the [first tulips came up|last apples came down], the nights grew [shorter|longer] and the \
swallows [came back|flew south].
spring autumn / winter Christmas
{n} saw the sun [come up|go down] behind the hills.
The street lamps went [off|on], the birds [began|stopped] singing, and {n} heard the neighbor \
[leave for work|come from work] as on every day.
morning evening / noon midnight
The clock struck twelve, and {n} saw the [moon|sun] high above the town.
Both hands of the clock pointed straight up. {n} had been [fast asleep|at work] for three hours, and outside \
there was [hardly any light|hardly any shadow].
midnight noon / morning evening
The children [sang beside the tree|dressed up as witches] and got [presents|candy].
At {n}'s door stood a [tall fir tree|big carved pumpkin]. Three small [angels|ghosts] rang the bell and were \
given [gifts|candy] by everyone.
Christmas Halloween / summer spring
The weekend was [over|near], and {n} drove to work.
{n} [sighed|smiled] at {his} desk in the early light. There were [still five days|only eight hours] of work \
before {he} could rest for two days.
Monday Friday / Saturday Sunday
The new year [began a week ago|begins in a week], and {n} bought a calendar.
The fireworks in the shop were [half price|quite new]. The great party for the new year was one week in the \
[past|future] for {n} and {his} friends.
January December / April June
"""),
)

NEED = Kind(
    ("What {n} needs now is a", "It would help {n} a lot to have a"),
    "What does {n} need?",
    "{n} needs a",
    "{m}, who lives next door, has just bought a {d}.",
    _read("""
{n} cannot get [through the locked door|onto the high roof].
The cat sits [behind the front door|on the garage roof] and cries. {n}, standing outside, cannot \
[get the door open|reach that far up].
key ladder / pen blanket
{n} wants to [drive nails into|make cuts through] the wood.
{n} builds a bird house. The [boards fit well, and the nails are ready|board looks fine, but it is too long], \
and the light is good.
hammer saw / spoon towel
{n} is [wet after a long bath|cold on a hard sofa].
The [swimming lesson|heating season] is over, and {n} [stands dripping|lies shivering] on the [tiles|sofa] \
with bare feet and no warm clothes.
towel blanket / hammer phone
{n} wants to [write down|call up] the number of {his} aunt.
{n} has an aunt in Canada. {He} has [paper, an envelope and a stamp|her number, silence and an hour] and wants \
to tell her everything.
pen phone / ladder knife
{n} wants to [cut the meat|eat the soup] on the table.
The [roast|yogurt] is on the table, and {n} has only a plate. {He} cannot [slice it thin|eat it neatly] with \
{his} fingers.
knife spoon / bandage key
{n} cannot [find the way|see the stairs] in the [strange city|dark cellar].
{n} has stopped [at a crossing in the forest|at the bottom of the cellar] after [two wrong turns|a power cut] \
and does not dare to go on.
map lamp / pillow saw
{n} has [cut {his} finger badly|nothing under {his} head].
On the second day of the trip {n} [slipped with a sharp axe|woke with a stiff neck], and there is [blood|straw] \
[on {his} thumb|under {his} head].
bandage pillow / lamp map
"""),
)

EVENT = Kind(
    ("It is clear that {n} was at a", "All this was part of a"),
    "What was this?",
    "It was a",
    "A week before, {m} had told {n} all about a {d}.",
    _read("""
Everyone wore [white|black], and {n} saw the [bride|widow] near the church.
After a speech about the [young|old] man's [love|life], {n} stepped forward, threw a handful of [rice|earth] \
and embraced the [bride|widow].
wedding funeral / match lesson
{n} clapped as the [band played|runners turned] the last [song|corner].
Thousands of people cheered. {n} stood close to the [stage|track] and saw the [drummer|winner] throw both \
[sticks|shoes] into the crowd.
concert race / funeral picnic
{n} sat on [the grass and ate sandwiches|a chair and learned fractions].
On the [blanket|desk] in front of {n} lay [a cold chicken|a blue ruler] and ten [plums|sums], and {his} friend \
looked at the [ants|clock].
picnic lesson / parade protest
In the street {n} saw [drummers march past with flags|coats at half their price].
{n} had waited on the pavement since seven. At nine the [drums came close|doors flew open], and people pushed \
forward to [see the horses|get the bargains].
parade sale / wedding dinner
In the last minute {n} saw the [king die on stage|goalkeeper miss the ball].
From the [second row|north stand] {n} heard the [curtain come down|whistle blow twice]. Everyone talked about \
the [hero's|keeper's] last [words|mistake].
play match / meeting party
At the long table {n} [read the monthly report|tasted the roast duck].
Ten people sat around the table. {n} asked for the [figures|salt], passed the [report|gravy] to {his} \
[boss|aunt] and nodded at the others.
meeting dinner / concert race
{n} held [a big cake|a big sign] while everybody [sang|shouted] together.
{n} had painted paper [hats|signs] all night. Now {his} friends [danced|marched], and the [neighbors|police] \
asked them to [turn down the music|clear the main road].
party protest / play sale
"""),
)

KINDS = {
    "place": PLACE, "job": JOB, "feeling": FEELING, "state": STATE, "cause": CAUSE, "time": TIME, "need": NEED,
    "event": EVENT,
}  # fmt: skip
