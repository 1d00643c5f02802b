"""How running text is read, the same for every part that reads it: where its sentences end, what the stem of a word is.

stems.py      one stemmer: Snowball's, by language code
sentences.py  one splitter: places of sentences, none cut inside a quotation
"""
