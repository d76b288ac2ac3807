"""Microsoft Teams: what the bot says there."""
