"""The sections of the page about one run, one in each file, named SECTION; the page discovers them here."""
