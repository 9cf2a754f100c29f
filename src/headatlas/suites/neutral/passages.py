"""Plain passages that ask for nothing, and the words at which they may be cut."""

from __future__ import annotations

TEXT = """\
The old baker opened his shop before sunrise, while the street was still dark. He lit the oven, rolled the dough on a
long table and put the first loaves on a tray. By the time the school bus came round the corner, the warm smell of
bread had reached every window.

After the storm the garden looked like a battlefield. A branch of the apple tree lay across the lawn, and the flowers
were covered with mud. My grandmother put on her boots, fetched a rake from the shed and began to clean the path,
while the cat watched her from the kitchen window.

On Sunday mornings my uncle takes his small boat to the middle of the lake. He drops the anchor, pours some coffee
into a cup and waits for the fish. Most of the time he comes home with an empty bucket, but his face is red from the
sun and he is in a good mood.

The library in our town is a quiet building with tall windows and creaking stairs. In winter the old men sit near the
heater and read the newspaper, and children lie on the carpet with their picture books. The woman at the desk knows
every visitor and stamps each card with a smile.

When the snow melted, a narrow stream ran down the hill and filled the ditch beside the road. The farmer led his cows
to the upper meadow, where the grass was already green. A young dog ran ahead of them, barked at every bird and came
back with wet paws.

The train stopped in the middle of a field, and nobody told the passengers why. A student took out a sandwich, a
mother sang to her baby, and two soldiers played cards on a suitcase. After a long while the engine coughed, and the
wheels began to turn again.

My sister keeps a wooden box under her bed. It is full of letters from a friend who moved to an island many years ago.
On rainy evenings she makes a pot of tea, sits down on the carpet and reads them one by one until the candle has
burned down.

The fishing village wakes up early. Women carry baskets to the harbour, gulls scream above the roofs, and the first
boats come in with their nets. Later the sun dries the ropes on the wall, the dogs sleep in the shade, and only the
church bell breaks the silence of the afternoon.

A family of mice lived behind the stove in the mill. At night, when the miller had locked the door, they came out and
danced on the floor in the moonlight. They ate the grains that had fallen from the sacks and were back in their hole
before the cock crowed.

The new teacher came into the classroom with a large map under her arm. She hung it on the wall, wiped the board with
a sponge and told the children about a river that flows through a desert. Nobody looked out of the window that
morning, and even the bell was ignored.

In autumn the forest behind the house turns yellow and brown. Squirrels bury their nuts in the soft ground, and the
paths are covered with leaves. People walk there with baskets and knives, look for mushrooms under the trees, and go
home at dusk with dirty shoes and cold hands.

My brother repaired the old bicycle that had stood in the cellar for years. He cleaned the chain with a rag, pumped up
the tyres and painted the frame blue. On the first warm day of spring he rode it to the bakery and came back with a
bag of rolls.

The hotel stood on a cliff above the sea. Every summer the same guests came with their heavy trunks, took the same
rooms and sat at the same tables. In the evening a man played the piano in the hall, and the waves answered him from
the rocks below.

Our neighbour has a parrot that can whistle like a kettle. Whenever the old lady hears the sound, she walks into the
kitchen, finds the stove cold and shakes her head. The bird sits on its perch, closes one eye and waits until she has
settled in her chair again.

The little theatre was full on the opening night. The actors waited behind the curtain, the lights went down, and
somebody in the last row began to cough. Then the music started, a boy in a golden coat stepped on the stage, and the
audience forgot the rain on the roof.

In the mountains the weather changes quickly. The hikers left the hut under a clear sky, but before they had reached
the ridge a thick fog rolled up from the valley. They put on their jackets, held on to the rope and followed the guide
down to the stream.

The market square is empty on most days. On Fridays, however, the farmers put up their stands before dawn and fill
them with cheese, honey and vegetables. Customers push their way through the crowd, taste a slice of melon, and carry
their heavy bags to the bus stop.

My grandfather wore the same brown hat for thirty years. He hung it on a nail beside the door, brushed it on Sundays
and lifted it whenever he met a lady. After his death nobody wanted to throw it away, so it still hangs there and
gathers dust.

The nurse walked through the dark corridor with a small lamp in her hand. Behind one door a patient was snoring,
behind another a radio was playing softly. She opened a window to let in some fresh air, straightened a blanket and
went back to her desk.

Before the wedding the whole house smelled of soap and roses. Aunts ran up and down the stairs with needles and
ribbons, the cook shouted at the butcher, and the bride sat in the garden with bare feet. She ate a pear and looked at
the clouds.

The potter sits at her wheel beside an open door. She presses her thumbs into the wet clay, and slowly a bowl grows
between her fingers. When it is finished, she cuts it off with a wire, places it on a shelf and wipes the sweat from
her forehead.

At the end of our street there is a small pond with reeds and frogs. In spring the boys catch tadpoles there in glass
jars and carry them home to their mothers. In winter the water freezes, and the whole neighbourhood comes with skates,
scarves and hot drinks.

The clock on the tower has been slow for as long as anyone can remember. Farmers set their watches by the sun, and the
teacher rings the bell by hand. Once a young mechanic climbed up with his tools, but the mayor asked him to come down
and leave it alone.

The bus driver knew all the dogs along his route. A black poodle waited at the bridge every morning, and a fat terrier
slept in front of the chemist. He honked at each of them, and on cold days he threw a biscuit out of the window.

The desert is silent at noon. Lizards hide under the stones, and the camels kneel in the shadow of a rock. The traders
drink sweet tea from tiny glasses and talk about the price of salt. Only when the sun is low do they load their bags
and move on.

My mother grows tomatoes on the balcony. She waters them with an old can, ties them to sticks and talks to them when
she thinks that nobody is listening. By August the branches are heavy, and the neighbours find a bowl of red fruit at
their door.

The carpenter chose a plank of oak and laid it on the bench. He drew a line with his pencil, picked up the saw and
began to cut. Yellow dust fell on his shoes, and the sharp smell of fresh wood filled the workshop and drifted out
into the yard.

A thin boy stood outside the pet shop and pressed his nose against the glass. Inside, a puppy was chewing a slipper,
and a rabbit slept in the straw. The owner came to the door, looked at the boy for a moment and invited him to come
in.

The lighthouse keeper climbs the stairs every evening at dusk. He polishes the lens, lights the lamp and writes a few
words in his diary. Then he eats his soup, mends a sock and listens to the wind until the morning ship has passed the
rocks.

On the first day of the holidays we packed the tent and drove to the coast. It rained all night, and the water dripped
through a hole above my pillow. In the morning the sky was blue, our socks hung on a string, and father fried eggs on
a stone.

The queen bee seldom leaves the hive. Thousands of workers fly out at dawn, visit the clover on the slope and come
back with yellow legs. The beekeeper, who wears a veil and moves slowly, takes some honey in July and leaves enough
for the winter.

The painter rented a room under the roof because of the light. She worked until noon, slept on a mattress among her
brushes and lived on bread and onions. When a rich merchant bought one of her portraits, she bought herself a coat and
a bottle of wine.

The night guard walks through the museum with soft shoes. The marble statues look at him with blind eyes, and the
armour of the knights shines in the beam of his torch. He hums a song to keep himself awake and eats an apple beside
the mummy.

Every spring the river rises and floods the lower fields. The farmers move their sheep to the hills and stack the hay
in the loft. When the water has gone, it leaves a layer of black mud behind, and the corn grows taller there than
anywhere else.

The tailor lived with his wife above the shop. All day he sat at the window with a needle in his hand and watched the
carriages go by. Rich customers brought him silk and velvet, but his own jacket had patches on both elbows and a
missing button.

A storm had torn the roof from the barn, so the whole village came to help. The men carried beams, the women cooked a
stew in a huge pot, and the children gathered nails from the grass. At sunset the last board was in place, and
somebody began to play the fiddle.

The airport was nearly empty at that hour. A cleaner pushed his machine across the shining floor, and a pilot bought a
paper cup of coffee. Behind the large windows the planes stood in the rain like sleeping animals, and far away a red
light blinked on a tower.

My cousin works as a cook on a ship. He peels potatoes in a tiny kitchen while the plates slide from one side of the
shelf to the other. When the sea is calm, the sailors eat on deck, throw their bones to the gulls and tell stories
about whales.

The castle has been a ruin for centuries. Ivy covers the walls, crows nest in the tower, and goats climb over the
stones of the gate. In summer a group of students lives in tents beside the moat, digs in the dust and collects bits
of broken pottery.

When the circus came to town, the tents went up on the meadow behind the station. Elephants drank from the fountain,
an acrobat hung her washing between two wagons, and the clown bought a newspaper at the kiosk. The children forgot
their homework and stood at the fence until dark.

The old piano in the cafe had not been tuned for years. Still, a young man with long hair sat down at it on Thursday
evenings and played until the cups were empty. The waitress leaned on the counter, closed her eyes and forgot to wipe
the tables.

In the morning a thin layer of ice covered the puddles in the yard. The hens refused to leave their house, and the
pump was frozen. The farmer's wife poured hot water over the handle, blew on her fingers and carried two buckets to
the stable.

The shoemaker has his bench in a corner of the station. Travellers take off their boots, read the paper and wait in
their socks while he hammers a heel into place. He keeps the nails between his lips, so he rarely talks, but he is a
good listener.

The baby slept in a basket under the cherry tree. Petals fell on the blanket, a bee circled above the pillow, and
somewhere behind the hedge a lawn mower started. The father put down his book, brushed a petal from the tiny nose and
moved the basket into the shade.

The captain looked at the barometer and frowned. He ordered the crew to take in the sails, closed the hatch and tied a
rope around his waist. An hour later the first wave broke over the deck, and the cook lost his soup, his spoon and his
temper.

The shepherd spends the summer in a stone hut high above the trees. He makes cheese from the milk of his goats, carves
spoons from soft wood and goes to bed with the sun. Once a week a boy brings him bread, salt and the news from the
valley.

A fox came into the garden last night. It crossed the snow without a sound, sniffed at the rabbit hutch and drank from
the bowl of the cat. In the morning we found its tracks beside the fence, and the hens were sitting on the highest
branch of the pear tree.

The bridge over the canal is so narrow that only one cart can cross it at a time. Drivers wave, wait and tip their
hats to each other. In the evening couples lean on the railing, feed the swans with bread and watch the barges slide
into the dark.

The dentist has a tank with tropical fish in his waiting room. Nervous patients stare at the bright tails and the
bubbles and forget their pain for a while. A small crab lives under the plastic castle, and it comes out only when the
room is completely quiet.

The miner washed the coal from his face and hung his lamp on the hook. His daughter had laid the table, cut the bread
and put a flower into a glass. They ate without talking, and afterwards he carved a horse for her out of a piece of
pine.

The island has no cars and no policemen. Donkeys carry the luggage of the visitors from the pier to the inn, and the
post comes by boat. In the evening the fishermen play dice in front of the chapel, and the moon climbs out of the sea
behind the olive trees.

The gardener of the palace rises before the king. He sweeps the gravel, cuts the dead roses from the bushes and feeds
the goldfish in the fountain. When the first carriages roll through the gate, he takes his barrow and disappears
behind the hedge like a shadow.

My aunt collects teapots. They stand on the piano, on the shelves and even on the stairs, so that visitors have to
walk with care. Her favourite is a small blue pot with a broken lid, which she bought from a sailor when she was a
girl in a harbour town.

The volcano had been quiet for a hundred years. Farmers grew grapes on its slopes, and shepherds slept in its caves.
One night the dogs began to howl, the wells turned warm, and a thin column of smoke rose into the sky. By morning the
roads were full of carts.

The drummer of the band lives on the fifth floor. He practises on pillows, so that the neighbours can sleep, and
carries his drums down the stairs on Saturdays. After the concert he eats a plate of noodles, walks home through the
empty park and hums the last song.

The kite rose above the beach, pulled at the string and danced in the wind. The girl ran backwards through the sand,
laughed and stepped into a pool of salt water. Her grandfather sat on a towel, held her sandals in his lap and shaded
his eyes with a magazine.

The violin maker lets his wood dry for ten years before he touches it. The boards lie in the attic, where the air is
warm and spiders spin their webs between the beams. When he finally takes down a piece, he knocks on it and listens
like a doctor.

At the edge of the swamp stood a hut on wooden legs. An old woman lived there with a goose and a lame donkey. She
gathered herbs in the fog, dried them above her fire and sold them to the chemist, who paid with candles, sugar and a
little gossip.

The judge took off his robe and sat down on a bench in the park. He fed the pigeons with the crust of his sandwich,
loosened his shoes and watched the children on the swings. For half an hour nobody stood up when he coughed, and he
enjoyed it.

The windows of the toy shop glow until late in December. A tin train runs around a mountain of cotton, a bear beats a
drum, and dolls in velvet dresses sit on a swing. Parents stop on their way home from the office and warm their hands
on a bag of chestnuts.

The diver let himself fall backwards from the boat. Below him the coral shone in the green light, and a turtle passed
so close that he could have touched its shell. He forgot the cold, the heavy tank and the knife in his belt, and
followed it into the dark.

The cellar of the inn smelled of apples and damp stone. Barrels stood along the wall, a ham hung from the ceiling, and
a toad lived under the lowest step. The innkeeper went down with a candle each evening, filled his jug and wished the
toad a good night.

The postman pushed his bicycle up the hill to the last farm. He had only one letter in his bag, and it was wet from
the rain. The farmer's daughter ran towards him across the yard, tore the envelope open and read it under the roof of
the stable.

The glass of the greenhouse was white with steam. Orchids hung from wires, a gardener sprayed the ferns, and a robin
had built her nest in an empty pot. The old professor, who came every Tuesday, drew one leaf in his notebook and then
fell asleep on his stool.
"""

PASSAGES = tuple(" ".join(passage.split()) for passage in TEXT.split("\n\n"))

# The words at which a passage may be cut, by form and by field. Words that are also something else are left out.
WORDS = {
    "singular": {
        "living": """
            grandmother uncle woman farmer student mother baby friend sister miller teacher brother man neighbour lady
            boy nurse patient cook butcher bride mechanic mayor driver chemist carpenter owner keeper father painter
            merchant guard tailor wife cleaner pilot cousin acrobat clown waitress captain shepherd dentist daughter
            gardener king aunt sailor girl grandfather doctor judge professor visitor guide lizard beekeeper drummer
            baker miner shoemaker innkeeper postman diver potter listener crew audience family crowd
            cat bird dog cock parrot poodle terrier puppy rabbit bee fox turtle toad robin donkey goose horse bear crab
            """,
        "thing": """
            shop garden lawn shed kitchen lake library town building hill road meadow field island harbour village
            church classroom river desert forest cellar bakery hotel cliff sea hall theatre ridge valley market house
            street pond tower bridge workshop yard coast hive museum barn airport castle gate station cafe stable kiosk
            park canal inn chapel palace beach attic swamp greenhouse farm office balcony corridor mill hut oven table
            tray window bed carpet desk heater stove door floor wall roof curtain bench shelf counter chair stool
            ceiling fence hedge pier railing mattress pillow blanket fountain bus boat anchor cup bucket newspaper card
            rake suitcase wheel box pot candle map sponge bell bicycle chain rag bag kettle piano rope hat nail lamp
            radio bowl wire pencil lens diary tent string needle coat bottle torch jacket button fiddle machine knife
            barometer hatch spoon basket book kite towel magazine jug envelope letter notebook belt hook barrow drum
            swing slipper sock robe engine plank board branch tree sky rock stream flower petal volcano slope ditch
            corner ship train stage clock cart frame handle hole path plate pool room step violin veil lid moat loft
            hutch mountain leaf perch pump moon storm route row column shell paper fire school circus
            sandwich melon pear biscuit apple stew ham crust slice
            """,
        "body": "face arm hand eye head nose forehead waist elbow thumb stomach shoulder knee",
        "time": "morning afternoon night summer winter day evening week hour autumn moment century",
        "abstract": "smell smile silence mood sound song price death wedding concert temper idea opinion answer",
    },
    "plural": {
        "living": """
            children men women passengers soldiers guests farmers customers boys neighbours traders workers knights
            sailors students shepherds fishermen visitors patients couples policemen mothers hikers cows gulls mice dogs
            frogs tadpoles camels hens goats swans animals goldfish pigeons spiders whales sheep crows actors
            """,
        "thing": """
            loaves baskets boats nets ropes sacks boots knives shoes tyres trunks tables jackets bags needles ribbons
            jars skates scarves tools glasses sticks socks brushes statues planes plates buckets carriages nails tents
            wagons cups carts barges hats shelves drums pillows sandals boards beams candles dresses windows flowers
            rocks trees stones branches clouds roses hills fields slopes reeds puddles mountains bushes rooms
            roofs roads paths walls caves wells stairs books letters wheels cards cars
            dice dolls ferns spoons swings teapots tracks waves webs wires portraits patches bubbles
            mushrooms nuts grains herbs vegetables tomatoes onions eggs potatoes grapes noodles chestnuts apples rolls
            """,
        "body": "tails paws eyes hands feet fingers thumbs legs elbows lips bones ears knees shoulders",
        "time": "mornings evenings days years centuries holidays weeks hours months",
        "abstract": "words stories rules lessons promises opinions answers ideas",
    },
    "mass": {
        "food": "bread coffee tea cheese honey milk sugar salt wine corn soup fruit dough butter",
        "nature": "mud dust sand clay gravel coal hay straw grass wood coral water ice snow rain fog smoke steam air",
        "cloth": "silk velvet cotton wool leather",
        "abstract": "music gossip homework luggage pain advice courage luck",
    },
}  # fmt: skip
