"""Names of people and places that a world draws from."""

from __future__ import annotations

from typing import NamedTuple

_FIRST = (
    "Aaron Abigail Adele Aidan Alana Alec Alice Amara Amir Andre Angela Anita Anya Arthur Ava "
    "Beatrice Ben Bianca Brandon Bruno Caleb Camille Carla Carmen Cedric Celia Chloe Clara Colin "
    "Connor Cora Dalia Damian Daphne Darius Deborah Derek Diana Dominic Dora Edgar Edith Elena "
    "Eli Elise Emil Emma Erin Esther Ethan Eva Fabian Faith Felix Fiona Flora Frances Gavin Gemma "
    "George Gina Gloria Grace Graham Greta Gwen Hannah Harold Hazel Hector Helen Henry Hugo Ian "
    "Ida Imani Ines Irene Isaac Ivy Jack Jada Jamal Janet Jared Jasmine Joel Jonah Joyce Judith "
    "Julian Kaito Karen Keira Kenji Kirsten Kurt Laila Lana Laura Leah Leon Lewis Liam Lila Linda "
    "Logan Lorena Louis Lucia Luke Lydia Mabel Maia Malik Marcus Margot Maria Martin Maya Megan "
    "Miles Mina Miriam Monica Morgan Nadia Naomi Nathan Nell Nico Nina Noah Nora Oliver Omar "
    "Oscar Owen Pablo Paige Paula Pedro Penny Philip Priya Quentin Rachel Rafael Ravi Rebecca "
    "Renee Rhys Rita Robin Rosa Ruben Ruth Ryan Sabine Salma Samuel Sara Sean Selma Simon Sofia "
    "Stella Tamara Tariq Tessa Theo Tina Tobias Ulla Vera Victor Vivian Walter Wendy Willa Xavier "
    "Yara Yusuf Zoe"
)
_LAST = (
    "Abbott Acosta Adler Ahmed Alvarez Anders Arnold Ashby Atkins Baird Banerjee Barlow Barrera "
    "Bauer Becker Bell Bishop Blake Bloom Boyle Brandt Briggs Brooks Burke Byrne Calder Cardoso "
    "Carver Castillo Chandra Chen Clarke Cole Conrad Cortez Craig Cruz Dalton Daniels Delgado Dhar "
    "Diaz Dixon Doyle Drake Duarte Dunn Eaton Ellis Engel Estrada Evans Farrell Faulkner Ferris "
    "Finch Fischer Fleming Foley Frost Fuentes Gallagher Garza Gibbs Gill Glover Goodwin Graves "
    "Greer Guerra Gupta Hale Hamid Hansen Harmon Hayes Heller Herrera Hobbs Holm Horvath Howe "
    "Hughes Ibarra Ingram Irwin Ito Jacobs Jensen Joshi Kane Kaur Keller Kemp Khan Klein Knox "
    "Koch Kumar Lambert Lang Larsen Leblanc Lopez Lowe Lund Lynch Maddox Malone Marsh Mason Mbeki "
    "Mehta Mercer Meyer Miranda Molina Monroe Moreau Morris Moss Murphy Nakamura Nash Navarro "
    "Nguyen Nolan Norris Novak Ochoa Okafor Olsen Ortega Osborne Pace Palmer Park Parrish Patel "
    "Pereira Petrov Pike Porter Pratt Quinn Ramos Reese Reyes Rhodes Rivera Robles Rojas Rossi "
    "Roy Russo Saito Salazar Sanders Santos Schmidt Shah Shaw Silva Sloan Sosa Stark Stein Stone "
    "Suarez Sutton Tanaka Tate Thorne Torres Tran Tucker Underwood Valdez Vance Vaughn Vega Voss "
    "Wade Walsh Warner Watts Webb Weiss West Whitaker Wong Wood Wright Yates York Young Zamora "
    "Zhang Ziegler"
)
FIRST_NAMES = tuple(_FIRST.split())
LAST_NAMES = tuple(_LAST.split())
MAIL_DOMAINS = ("postbox.example", "quickmail.example", "letterbird.example", "homeline.example")
STORE_DOMAIN = "brackenholt.example"


class State(NamedTuple):
    """A state to which the store ships.

    Attributes:
        code: Two letters.
        weight: Share of the customers, relative to the other states.
        area: A telephone area code of it.
        zone: Time zone of a person who lives there.
        cities: Some of its cities.
    """

    code: str
    weight: float
    area: str
    zone: str
    cities: tuple[str, ...]


_EAST, _MIDDLE = "America/New_York", "America/Chicago"
_MOUNTAIN, _WEST = "America/Denver", "America/Los_Angeles"

STATES = (
    State("CA", 14, "916", _WEST, ("Sacramento", "Fresno", "San Diego", "Oakland", "Redding")),
    State("TX", 11, "512", _MIDDLE, ("Austin", "Dallas", "El Paso", "Lubbock", "Houston")),
    State("NY", 9, "518", _EAST, ("Albany", "Buffalo", "Syracuse", "Ithaca")),
    State("FL", 8, "850", _EAST, ("Tallahassee", "Tampa", "Orlando", "Pensacola")),
    State("WA", 7, "206", _WEST, ("Seattle", "Spokane", "Tacoma", "Bellingham")),
    State("CO", 7, "303", _MOUNTAIN, ("Denver", "Boulder", "Pueblo", "Fort Collins")),
    State("OR", 6, "503", _WEST, ("Portland", "Eugene", "Bend", "Salem")),
    State("IL", 6, "217", _MIDDLE, ("Springfield", "Chicago", "Peoria", "Rockford")),
    State("PA", 6, "717", _EAST, ("Harrisburg", "Pittsburgh", "Erie", "Scranton")),
    State("MI", 5, "517", _EAST, ("Lansing", "Detroit", "Grand Rapids", "Marquette")),
    State("NC", 5, "919", _EAST, ("Raleigh", "Asheville", "Durham", "Wilmington")),
    State("MN", 5, "612", _MIDDLE, ("Minneapolis", "Duluth", "Rochester", "Saint Paul")),
    State("GA", 4, "404", _EAST, ("Atlanta", "Savannah", "Athens", "Macon")),
    State("AZ", 4, "602", _MOUNTAIN, ("Phoenix", "Tucson", "Flagstaff", "Prescott")),
)
