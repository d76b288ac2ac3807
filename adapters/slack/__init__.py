"""Slack: what the bot says there."""
