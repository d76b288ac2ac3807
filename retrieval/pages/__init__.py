"""A document's page as people see it, with the cited words marked."""
