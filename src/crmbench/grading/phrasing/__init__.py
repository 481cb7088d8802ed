"""Right and wrong replies, written for the gates; shares no code with what reads them."""
