"""The engine: databases, tools, tasks, episodes and scores. Knows no domain and no model."""
