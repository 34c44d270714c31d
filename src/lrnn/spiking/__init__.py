"""The network spike by spike: an exact simulation, event by event."""
