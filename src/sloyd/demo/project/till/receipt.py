"""A receipt: its lines, the tax on each, and what the guest pays."""

from dataclasses import dataclass, field
from decimal import Decimal

from till.money import tax_on, written


@dataclass(frozen=True)
class Line:
    """One thing that was ordered. ``price`` is without tax, for one piece."""

    name: str
    price: Decimal
    tax_percent: int = 7
    count: int = 1

    @property
    def net(self) -> Decimal:
        return self.price * self.count

    @property
    def tax(self) -> Decimal:
        return tax_on(self.net, self.tax_percent)


@dataclass
class Receipt:
    """All that one table ordered."""

    lines: list[Line] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.lines.append(line)

    @property
    def total(self) -> Decimal:
        return sum((line.net + line.tax for line in self.lines), Decimal(0))

    def text(self) -> str:
        rows = [
            f"{line.count} {line.name:<20} {written(line.net + line.tax)}" for line in self.lines
        ]
        return "\n".join([*rows, f"  {'Total':<20} {written(self.total)}"])
