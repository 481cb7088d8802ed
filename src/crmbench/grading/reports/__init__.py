"""Whether what a reply says was done is what was done."""
