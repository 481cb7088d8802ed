"""Whether a reply stands by what it tells, and whether anything bears it out."""
