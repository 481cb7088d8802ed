"""What the store sells: twelve categories, their kinds of goods, and how variants differ."""

from __future__ import annotations

from typing import NamedTuple


class Goods(NamedTuple):
    """One kind of goods.

    Attributes:
        name: Singular, as it ends a product's name.
        price: Usual price in dollars.
        sizes: The sizes that a family may come in; one empty text if it has no sizes.
        pitch: What a description says first.
        detail: What it says next.
    """

    name: str
    price: float
    sizes: tuple[str, ...]
    pitch: str
    detail: str


PERSONS = ("2-Person", "3-Person", "4-Person", "6-Person")
LITRES = ("18 L", "28 L", "40 L", "55 L")
SMALL_LITRES = ("0.5 L", "0.75 L", "1 L", "1.5 L")
LENGTHS = ("Short", "Regular", "Long")
WEAR = ("Small", "Medium", "Large", "Extra Large")
FEET = ("Size 7", "Size 8", "Size 9", "Size 10", "Size 11")
WEIGHTS = ("4 kg", "8 kg", "12 kg", "16 kg")
INCHES = ("20 Inch", "24 Inch", "27 Inch", "29 Inch")
SPANS = ("2 m", "2.5 m", "3 m", "4 m")
CENTIMETRES = ("150 cm", "160 cm", "170 cm", "180 cm")
SEATS = ("2-Seat", "4-Seat", "6-Seat")
ONE = ("",)

COLOURS = (
    "Moss Green", "Slate Grey", "Rust Red", "Sand", "Deep Blue", "Black", "Mustard", "Ivory",
    "Pine Green", "Burnt Orange", "Sky Blue", "Charcoal", "Plum", "Cedar Brown",
)  # fmt: skip

SERIES_STARTS = (
    "Alder", "Ash", "Birch", "Bram", "Cold", "Cran", "Elder", "Fern", "Glen", "Hawk", "Heather",
    "Iron", "Lark", "Marl", "Oak", "Raven",
)  # fmt: skip
SERIES_ENDS = ("brook", "dale", "fell", "field", "mere", "moor", "ridge", "wick")

CATEGORIES: dict[str, tuple[Goods, ...]] = {
    "Tents & Shelters": (
        Goods("Dome Tent", 210, PERSONS, "A free-standing dome with two doors",
             "Pitches in ten minutes and sheds steady rain."),
        Goods("Tunnel Tent", 340, PERSONS, "A roomy tunnel with a covered porch",
             "Holds its shape in wind when the guy lines are set."),
        Goods("Trekking Tent", 280, PERSONS[:3], "A light shelter held up by walking poles",
             "Packs down to the size of a loaf of bread."),
        Goods("Tarp", 64, SPANS, "A square tarp with reinforced corners",
             "Comes with eight pegs and four cords."),
        Goods("Beach Shelter", 72, PERSONS[:3], "A pop-up shade that opens in one motion",
             "Sand pockets keep it in place."),
        Goods("Canopy", 190, SPANS[1:], "A garden canopy on steel legs",
             "The roof is removable and can be washed by hand."),
        Goods("Roof Tent", 1250, PERSONS[:3], "A hard-shell tent for a roof rack",
             "Fits bars between 90 and 130 cm apart."),
        Goods("Groundsheet", 38, SPANS, "A footprint that keeps damp and stones out",
             "Loops match the usual peg points."),
        Goods("Bivy Bag", 96, LENGTHS, "A weatherproof cover for a sleeping bag",
             "The zip runs halfway for easy entry."),
    ),
    "Sleeping Gear": (
        Goods("Down Sleeping Bag", 260, LENGTHS, "A three-season bag filled with traceable down",
             "Comfortable to about freezing."),
        Goods("Fibre Sleeping Bag", 110, LENGTHS, "A washable bag with hollow fibre",
             "Stays warm when it is damp."),
        Goods("Sleeping Mat", 85, LENGTHS, "A self-inflating mat with a non-slip face",
             "A repair patch is in the stuff sack."),
        Goods("Air Mattress", 70, ("Single", "Double"), "A flocked mattress with a built-in pump",
             "Inflates in four minutes."),
        Goods("Camp Cot", 120, LENGTHS[1:], "A folding cot on aluminium legs",
             "Carries up to 130 kg."),
        Goods("Travel Pillow", 24, ONE, "A pillow that rolls into its own cover",
             "The cover comes off for washing."),
        Goods("Hammock", 58, ("Single", "Double"), "A ripstop hammock with tree straps",
             "Hangs in two minutes between trees or posts."),
        Goods("Bag Liner", 32, ("Cotton", "Silk", "Fleece"), "A liner that adds a few degrees",
             "Fits every bag of ours."),
        Goods("Camp Blanket", 49, ("Single", "Double"), "A quilted blanket with a damp-proof back",
             "Snaps shut into a poncho."),
    ),
    "Packs & Bags": (
        Goods("Rolltop Backpack", 95, LITRES, "A waterproof pack with welded seams",
             "The back panel is padded and comes out for drying."),
        Goods("Trekking Backpack", 180, LITRES[1:], "A pack for long walks with a full hip belt",
             "The back length adjusts without tools."),
        Goods("Daypack", 62, LITRES[:2], "A small pack with a bottle pocket on each side",
             "A sleeve inside holds a tablet."),
        Goods("Duffel Bag", 88, LITRES[1:], "A tough bag that can be worn on the back",
             "The end pocket keeps wet things apart."),
        Goods("Waist Pack", 34, ("2 L", "4 L"), "A belt pack that sits flat",
             "Has a key clip and a zipped front."),
        Goods("Wheeled Trunk", 165, ("60 L", "90 L"), "A travel trunk with large wheels",
             "The handle locks at two heights."),
        Goods("Dry Sack", 22, ("5 L", "10 L", "20 L"), "A roll-closed sack of coated nylon",
             "Floats when it is closed with air inside."),
        Goods("Camera Pack", 140, LITRES[:2], "A padded pack that opens at the back",
             "Dividers can be moved to suit two bodies and three lenses."),
        Goods("Child Carrier", 230, ONE, "A carrier with a sunshade and a kickstand",
             "Made for children of up to 18 kg."),
    ),
    "Camp Kitchen": (
        Goods("Gas Stove", 68, ("1-Burner", "2-Burner"), "A stove with wind guards",
             "Runs on threaded gas cartridges."),
        Goods("Wood Stove", 74, ONE, "A folding stove that burns twigs",
             "Nests in its own steel box."),
        Goods("Cook Set", 56, ("2-Person", "4-Person"), "Pots, a pan and bowls that stack",
             "Handles fold away and stay cool."),
        Goods("Cool Box", 118, ("24 L", "36 L", "50 L"), "A box that keeps ice for three days",
             "The lid doubles as a tray."),
        Goods("Insulated Bottle", 29, SMALL_LITRES, "A steel bottle with a double wall",
             "Keeps tea hot for ten hours."),
        Goods("Water Filter", 47, ("1 L", "2 L"), "A squeeze filter for clear streams",
             "The cartridge lasts about 1,000 litres."),
        Goods("Kettle", 35, SMALL_LITRES[1:], "A flat kettle that boils fast",
             "The spout pours without dripping."),
        Goods("Camp Table", 92, ("Small", "Large"), "A roll-top table with locking legs",
             "Stands level on rough ground."),
        Goods("Fire Bowl", 145, ("45 cm", "60 cm"), "A steel bowl on three legs",
             "A grill and a poker are included."),
    ),
    "Footwear": (
        Goods("Hiking Boot", 165, FEET, "A leather boot with a grippy sole",
             "Sold as a pair; the membrane keeps feet dry."),
        Goods("Trail Shoe", 120, FEET, "A light shoe for fast paths",
             "Sold as a pair; the toe is protected."),
        Goods("Approach Shoe", 135, FEET, "A shoe that walks well and climbs a little",
             "Sold as a pair; it can be resoled."),
        Goods("Winter Boot", 150, FEET, "An insulated boot for snow and slush",
             "Sold as a pair; warm to minus 20 degrees."),
        Goods("Sandal", 70, FEET, "A strapped sandal that dries fast",
             "Sold as a pair; three straps adjust."),
        Goods("Rain Boot", 60, FEET, "A natural rubber boot lined with cotton",
             "Sold as a pair; easy to hose clean."),
        Goods("Running Shoe", 115, FEET, "A cushioned shoe for roads",
             "Sold as a pair; the upper is knitted."),
        Goods("Hut Slipper", 42, FEET, "A quilted slipper with a firm sole",
             "Sold as a pair; folds flat for a rucksack."),
        Goods("Gaiter Set", 39, WEAR[:3], "A set of two gaiters that close at the front",
             "Keeps mud and snow out of boots."),
    ),
    "Outdoor Clothing": (
        Goods("Rain Jacket", 155, WEAR, "A two-and-a-half-layer shell with taped seams",
             "The hood fits over a helmet."),
        Goods("Down Jacket", 190, WEAR, "A light jacket with box walls",
             "Packs into its own pocket."),
        Goods("Fleece Pullover", 68, WEAR, "A soft pullover of recycled fleece",
             "Dries overnight on a line."),
        Goods("Softshell Vest", 84, WEAR, "A vest for windy days",
             "Two pockets sit above a hip belt."),
        Goods("Merino Shirt", 66, WEAR, "A fine merino shirt for several days of wear",
             "Flat seams prevent rubbing."),
        Goods("Walking Skirt", 58, WEAR, "A stretch skirt with a zipped pocket",
             "Light enough for summer."),
        Goods("Insulated Parka", 240, WEAR, "A long parka for standing about in the cold",
             "The cuffs are knitted."),
        Goods("Sun Hat", 30, WEAR[:3], "A wide-brimmed hat with a chin cord",
             "Blocks most of the sun's ultraviolet."),
        Goods("Wool Beanie", 26, ONE, "A ribbed beanie of new wool", "One size fits most."),
    ),
    "Cycling": (
        Goods("Touring Bicycle", 980, INCHES[2:], "A steel bicycle with racks front and rear",
             "Arrives mostly built; pedals and bars are fitted at home."),
        Goods("Mountain Bicycle", 1150, INCHES[2:], "A hardtail with disc brakes",
             "The fork has 120 mm of travel."),
        Goods("Kids Bicycle", 310, INCHES[:2], "A light bicycle for growing riders",
             "The saddle rises by 15 cm."),
        Goods("Bike Helmet", 74, WEAR[:3], "A vented helmet with a dial at the back",
             "Replace it after any hard knock."),
        Goods("Pannier", 66, ("12 L", "20 L"), "A rolled pannier that clips on with one hand",
             "Fits racks up to 16 mm thick."),
        Goods("Floor Pump", 45, ONE, "A steel pump with a large gauge",
             "The head fits every common valve."),
        Goods("Bike Light", 38, ("200 Lumen", "600 Lumen"),
             "A rechargeable light on a rubber mount",
             "Runs for five hours on the middle setting."),
        Goods("Bike Lock", 52, ("80 cm", "120 cm"), "A chain lock in a fabric sleeve",
             "Three keys come with it."),
        Goods("Bike Trailer", 290, ("1-Seat", "2-Seat"), "A folding trailer with a rain cover",
             "The tow arm fits most frames."),
    ),
    "Fitness": (
        Goods("Kettlebell", 48, WEIGHTS, "A cast-iron bell with a flat base",
             "The handle is lightly textured."),
        Goods("Dumbbell Set", 130, WEIGHTS, "A set of two bars with plates that screw on",
             "A tray keeps the plates together."),
        Goods("Yoga Mat", 44, ("4 mm", "6 mm"), "A natural rubber mat with a dry grip",
             "A carry strap is included."),
        Goods("Rowing Machine", 620, ONE, "A rower with quiet magnetic resistance",
             "Stands upright when it is not in use."),
        Goods("Exercise Bike", 480, ONE, "A stationary bike with a belt drive",
             "The screen shows cadence and distance."),
        Goods("Treadmill", 890, ONE, "A folding treadmill with a soft deck",
             "Wheels help two people move it."),
        Goods("Resistance Band Set", 28, ("Light", "Medium", "Heavy"), "A set of five fabric bands",
             "A mesh bag and a door anchor come along."),
        Goods("Pull-up Bar", 56, ONE, "A bar for door frames without screws",
             "Holds up to 120 kg."),
        Goods("Weight Bench", 175, ONE, "A bench that tilts to six angles",
             "Folds flat to slide under a bed."),
    ),
    "Water Sports": (
        Goods("Inflatable Kayak", 420, ("1-Seat", "2-Seat"), "A kayak with three air chambers",
             "Pump, paddle and repair kit are included."),
        Goods("Paddle Board", 390, ("2.5 m", "3 m", "3.5 m"), "A stiff inflatable board",
             "Carries rider and gear up to 140 kg."),
        Goods("Wetsuit", 145, WEAR, "A full suit of soft neoprene",
             "The long zip cord makes it easy to close."),
        Goods("Life Vest", 69, WEAR, "A vest with wide arm openings",
             "Straps stay put once they are set."),
        Goods("Swim Fin Set", 46, FEET[1:], "A set of two short fins for training",
             "Soft foot pockets prevent blisters."),
        Goods("Diving Mask", 39, ONE, "A low mask with a clear silicone skirt",
             "Fits narrow and wide faces alike."),
        Goods("Paddle", 64, CENTIMETRES[1:], "A three-part paddle that floats",
             "Length adjusts with a lever."),
        Goods("Swim Buoy", 33, ONE, "A bright buoy with a dry pocket",
             "Follows the swimmer on a waist belt."),
        Goods("Fishing Rod", 88, ("2 m", "2.5 m", "3 m"), "A travel rod in four parts",
             "The case takes a small reel too."),
    ),
    "Winter Sports": (
        Goods("Touring Ski Set", 560, CENTIMETRES, "A set of skis with light bindings",
             "The bases are waxed and ready."),
        Goods("Snowboard", 430, CENTIMETRES[:3], "A forgiving all-round board",
             "Bindings are sold apart."),
        Goods("Snowshoe Set", 160, WEAR[:3], "A set of two snowshoes with steel teeth",
             "Straps close with gloves on."),
        Goods("Ski Helmet", 98, WEAR[:3], "A warm helmet with closable vents",
             "Ear pads come out for washing."),
        Goods("Ski Goggle", 76, ONE, "A goggle with a wide view",
             "A second lens for flat light is included."),
        Goods("Sled", 89, ("1-Seat", "2-Seat"), "A wooden sled on steel runners",
             "The seat is woven by hand."),
        Goods("Ski Pole Set", 54, ("110 cm", "120 cm", "130 cm"), "A set of two aluminium poles",
             "Baskets change without tools."),
        Goods("Ice Skate Set", 105, FEET, "A set of two skates with warm liners",
             "Blades arrive sharpened."),
        Goods("Base Layer Set", 92, WEAR, "A top and long pants of merino",
             "Warm without bulk under a ski suit."),
    ),
    "Garden & Patio": (
        Goods("Garden Bench", 240, ("2-Seat", "3-Seat"), "An acacia bench with a slatted back",
             "Needs two people and half an hour to put together."),
        Goods("Patio Table Set", 680, SEATS, "A table with chairs that stack",
             "The top wipes clean."),
        Goods("Parasol", 130, SPANS[:3], "A tilting parasol with a crank",
             "The base is sold apart."),
        Goods("Raised Bed", 145, ("Small", "Large"), "A larch bed on short legs",
             "A liner for the soil is included."),
        Goods("Garden Hose", 48, ("15 m", "25 m"), "A hose that does not kink",
             "Brass fittings at both ends."),
        Goods("Compost Bin", 84, ("220 L", "340 L"), "A bin with a hatch at the bottom",
             "Panels click together."),
        Goods("Lawn Mower", 360, ("32 cm", "40 cm"), "A quiet mower on a battery",
             "One charge does about 300 square metres."),
        Goods("Porch Swing", 310, SEATS[:1], "A swing with its own steel frame",
             "The canopy can be tilted."),
        Goods("Solar Lantern", 27, ("Small", "Large"), "A lantern that charges by day",
             "Glows for eight hours."),
    ),
    "Home & Storage": (
        Goods("Shoe Rack", 62, ("2-Tier", "3-Tier"), "A bamboo rack for the hallway",
             "Screws and a key are in the box."),
        Goods("Wall Shelf", 54, ("60 cm", "90 cm", "120 cm"), "An oak shelf on hidden brackets",
             "Holds up to 15 kg on a solid wall."),
        Goods("Storage Trunk", 110, ("60 L", "100 L"), "A lidded trunk with soft hinges",
             "Doubles as a seat."),
        Goods("Gear Wardrobe", 390, ("Single", "Double"), "A wardrobe with drying rails",
             "Delivered flat in two parcels."),
        Goods("Coat Stand", 78, ONE, "A beech stand with eight hooks",
             "Put together without tools."),
        Goods("Workbench", 260, ("120 cm", "150 cm"), "A bench with a vice and two drawers",
             "The feet level out uneven floors."),
        Goods("Tool Cabinet", 220, ("3-Drawer", "5-Drawer"), "A steel cabinet on rubber wheels",
             "All drawers lock with one key."),
        Goods("Floor Lamp", 96, ONE, "A reading lamp with a linen shade",
             "Dims in three steps."),
        Goods("Wool Rug", 180, ("120 cm", "170 cm", "240 cm"), "A flat-woven rug of undyed wool",
             "A non-slip underlay is included."),
    ),
}  # fmt: skip
"""The categories in the order in which the store lists them."""
