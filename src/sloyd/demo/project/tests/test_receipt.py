import unittest
from decimal import Decimal

from till import Line, Receipt


class TaxTest(unittest.TestCase):
    def test_tax_that_is_whole_cents(self):
        self.assertEqual(Line("Tea", Decimal("3.00")).tax, Decimal("0.21"))

    def test_less_than_half_a_cent_is_dropped(self):
        self.assertEqual(Line("Cake", Decimal("4.20")).tax, Decimal("0.29"))

    def test_half_a_cent_is_charged(self):
        # 7 % of 3.50 is 0.245
        self.assertEqual(Line("Café crème", Decimal("3.50")).tax, Decimal("0.25"))

    def test_half_a_cent_is_charged_for_an_odd_cent_too(self):
        # 7 % of 0.50 is 0.035
        self.assertEqual(Line("Biscuit", Decimal("0.50")).tax, Decimal("0.04"))


class ReceiptTest(unittest.TestCase):
    def test_an_empty_receipt_costs_nothing(self):
        self.assertEqual(Receipt().total, Decimal("0"))

    def test_the_total_is_what_the_lines_say(self):
        receipt = Receipt()
        receipt.add(Line("Café crème", Decimal("3.50")))
        receipt.add(Line("Wine", Decimal("4.50"), tax_percent=19, count=2))
        self.assertEqual(receipt.total, Decimal("14.46"))
        self.assertIn("14.46 €", receipt.text())


if __name__ == "__main__":
    unittest.main()
