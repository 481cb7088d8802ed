"""What trainers stand on: episodes that are stepped through, with rewards, without a server."""
