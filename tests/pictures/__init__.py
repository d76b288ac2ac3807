"""Pictures of what people see, for looking at: Slack's messages, modals and Home as HTML."""
