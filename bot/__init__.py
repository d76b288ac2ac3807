"""The application: wires the adapters to the retrieval core."""

__version__ = "0.1.0"
