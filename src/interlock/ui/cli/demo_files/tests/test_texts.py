import unittest

from shop import currencies, messages


class Texts(unittest.TestCase):
    def test_each_currency_has_a_sign(self):
        self.assertTrue(all(currencies.SYMBOLS.values()))

    def test_each_language_has_a_greeting(self):
        self.assertTrue(all(messages.GREETINGS.values()))
