"""Where a conversation of Teams is: all that a later call needs, as plain data that can be kept."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from adapters.conversation import Conversation, ConversationKind


class Reference(BaseModel):
    """Read from an activity; goes into the inbox and into notes as JSON."""

    model_config = ConfigDict(frozen=True)

    service_url: str
    tenant: str
    #: As Teams names it, with `;messageid=` where it is a thread of a channel.
    conversation: str
    kind: ConversationKind
    #: The bot's own id there, e.g. "28:app-id".
    bot: str
    bot_name: str = ""
    #: Where the conversation is a channel: its team, as Teams ("19:…@thread.tacv2") and Graph know it.
    team: str | None = None
    team_group: str | None = None
    #: Name of the channel or chat, where Teams told it.
    name: str = ""

    @property
    def channel(self) -> str:
        """The conversation without its thread."""
        return self.conversation.split(";", 1)[0]

    @property
    def root(self) -> str | None:
        """The message that the thread hangs on, in a channel; None elsewhere."""
        _, _, rest = self.conversation.partition(";messageid=")
        return rest or None

    @property
    def direct(self) -> bool:
        """A chat with the bot alone."""
        return self.kind == "direct"

    @property
    def lane(self) -> str:
        """One thread; what is asked in it is answered in order."""
        return f"{self.tenant}:{self.conversation}"

    def in_thread(self, root: str) -> Reference:
        """The thread under that message of the channel."""
        return self.model_copy(update={"conversation": f"{self.channel};messageid={root}"})

    def neutral(self) -> Conversation:
        return Conversation(
            platform="teams",
            tenant=self.tenant,
            id=self.channel,
            kind=self.kind,
            name=self.name,
            thread=self.root,
        )
