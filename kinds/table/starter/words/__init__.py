"""Words of many languages, one file a language or family; lexicon.py reads them."""
