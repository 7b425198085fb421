"""The agent of the demo: its tools on an `ApiClient`, and the type of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field

from nucleo.agents import Thinker
from nucleo.http import ApiClient, Timeouts
from nucleo.models import ModelClient
from nucleo.tools import Tool, tool

INSTRUCTIONS = """You answer customers' questions about their orders, with the tools you have.
Look every order up before you speak of it. When a tool fails, read what it says: correct your call if that can help,
else take another way, such as the archive (last night's copy of the orders) or a search by the customer's e-mail
address. Before you repeat something that may already have been done, check. When no way is left, say that you could
not find out, and never invent a state."""


class OrderState(BaseModel):
    """The state of one order."""

    number: str = Field(description="The order number, ORD- and four digits")
    status: str = Field(description="Its state, in the word of the order service")


class OrderAnswer(BaseModel):
    """The answer to a customer."""

    found_out: bool = Field(description="Whether you could find out what was asked")
    orders: list[OrderState] = Field(description="Each order that was asked about, empty if you could not find out")
    text: str = Field(description="One or two sentences for the customer")


@dataclass(frozen=True, slots=True)
class Order:
    """An order as the service answers it."""

    number: str
    status: str


class OrderClient(ApiClient):
    """The order service of the shop."""

    service_name = "the order service"
    timeouts = Timeouts(connect=1.0, read=1.0, pool=1.0)

    async def order(self, number: str) -> Order:
        """Fetch one order."""
        return await self.get(f"/orders/{number}", into=Order)

    async def archived(self, number: str) -> Order:
        """Fetch one order from last night's copy."""
        return await self.get(f"/archive/{number}", into=Order)

    async def of_customer(self, customer: str) -> list[Order]:
        """Search the orders of a customer."""
        return await self.get("/orders", params={"customer": customer}, into=list[Order], operation="search")

    async def cancel(self, number: str) -> Order:
        """Cancel one order."""
        return await self.post(f"/orders/{number}/cancel", into=Order)


def order_tools(client: OrderClient) -> Sequence[Tool[..., Any]]:
    """Make the tools of the agent on a client of the order service."""

    @tool
    async def find_order(number: Annotated[str, "The order number"]) -> Order:
        """Find an order by its number in the order service."""
        return await client.order(number)

    @tool
    async def find_archived_order(number: Annotated[str, "The order number"]) -> Order:
        """Find an order by its number in last night's copy, which is slower to change."""
        return await client.archived(number)

    @tool
    async def search_orders(customer: Annotated[str, "The customer's e-mail address"]) -> list[Order]:
        """Search the orders of one customer. An empty list means that there are none."""
        return await client.of_customer(customer)

    @tool
    async def cancel_order(number: Annotated[str, "The order number"]) -> Order:
        """Cancel an order."""
        return await client.cancel(number)

    return find_order, find_archived_order, search_orders, cancel_order


def order_agent(client: OrderClient, model: str | ModelClient) -> Thinker[str, OrderAnswer]:
    """Make the agent that works through the customers' questions."""
    return Thinker(INSTRUCTIONS, tools=order_tools(client), model=model, output=OrderAnswer, name="order agent")
