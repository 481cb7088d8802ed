"""A local model server that answers as told, faults included."""
