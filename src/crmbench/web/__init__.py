"""Pages where people look: runs and their episodes, orgs, tasks to play, and a site of results."""
