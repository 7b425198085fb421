"""The shop of the demo: its orders, its customers' questions, and what a right answer to each would be."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRecord:
    """An order as the shop keeps it.

    Attributes:
        number: ``ORD-`` and four digits.
        customer: The customer's e-mail address.
        status: Where it is.
        archived: Whether last night's copy has it too.
    """

    number: str
    customer: str
    status: str
    archived: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A customer's question.

    Attributes:
        text: What the customer wrote.
        statuses: What a right answer states for each order; empty where no honest answer exists.
    """

    text: str
    statuses: tuple[tuple[str, str], ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the shop's services, misbehaving as they do, let anybody find the answer."""
        return bool(self.statuses)


ORDERS: Final = {
    order.number: order
    for order in (
        OrderRecord(number="ORD-1042", customer="ada@example.com", status="shipped"),
        OrderRecord(number="ORD-1043", customer="ada@example.com", status="delivered"),
        OrderRecord(number="ORD-1044", customer="grace@example.com", status="packed"),
        OrderRecord(number="ORD-1045", customer="grace@example.com", status="shipped"),
        OrderRecord(number="ORD-1046", customer="alan@example.com", status="delivered"),
        OrderRecord(number="ORD-1047", customer="alan@example.com", status="packed", archived=False),
        OrderRecord(number="ORD-1048", customer="edsger@example.com", status="returned"),
        OrderRecord(number="ORD-1049", customer="edsger@example.com", status="packed", archived=False),
        OrderRecord(number="ORD-1050", customer="barbara@example.com", status="packed"),
    )
}

QUESTIONS: Final = (
    Question(text="Where is my order 1042?", statuses=(("ORD-1042", "shipped"),)),
    Question(text="What happened to order ORD-9999? I am kurt@example.com."),
    Question(text="Has ORD-1043 arrived?", statuses=(("ORD-1043", "delivered"),)),
    Question(text="Is ORD-1044 on its way?", statuses=(("ORD-1044", "packed"),)),
    Question(text="How far is ORD-1045?", statuses=(("ORD-1045", "shipped"),)),
    Question(text="Did you deliver ORD-1046?", statuses=(("ORD-1046", "delivered"),)),
    Question(text="Please look up ORD-1047, I am alan@example.com.", statuses=(("ORD-1047", "packed"),)),
    Question(text="What is the state of ORD-1048?", statuses=(("ORD-1048", "returned"),)),
    Question(text="Where is ORD-1049?"),
    Question(text="Cancel ORD-1050, please.", statuses=(("ORD-1050", "cancelled"),)),
    Question(
        text="Which of ORD-1042 and ORD-1044 is further along?",
        statuses=(("ORD-1042", "shipped"), ("ORD-1044", "packed")),
    ),
)
