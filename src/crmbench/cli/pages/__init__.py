"""Commands that show pages in a browser, or write a site of them."""
