"""Running episodes: one, many at once, and a run on disk that survives being killed."""
