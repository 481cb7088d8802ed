"""From episodes to figures by way of rows, one an episode, of which none need be kept."""
