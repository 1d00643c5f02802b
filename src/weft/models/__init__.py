"""What answers. One contract, one file per way of reaching a model; `embedded` is always there.

model.py    the contract: a request in, a stream of typed parts out
embedded_model.py   answers from a session's documents, always there
embedded/   language processing in plain Python: no key, no network, no weights
"""
