import unittest

from shop import catalog


class Catalog(unittest.TestCase):
    def test_the_cheapest_item_is_an_apple(self):
        self.assertEqual(catalog.cheapest(), "apple")
