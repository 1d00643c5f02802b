"""What answers. One contract, one file per way of reaching a model; `embedded` is always there.

embedded/   language processing in plain Python: no key, no network, no weights
"""
