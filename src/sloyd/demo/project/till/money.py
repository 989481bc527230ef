"""Amounts of money: whole cents, written the way the café prints them."""

from decimal import Decimal

CENT = Decimal("0.01")


def whole_cents(amount: Decimal) -> Decimal:
    """The amount in whole cents. Half a cent is charged as a whole one."""
    return amount.quantize(CENT)


def tax_on(amount: Decimal, percent: int) -> Decimal:
    """The tax on an amount, in whole cents."""
    return whole_cents(amount * percent / 100)


def written(amount: Decimal) -> str:
    """An amount as it stands on the receipt, such as ``3.50 €``."""
    return f"{whole_cents(amount)} €"
