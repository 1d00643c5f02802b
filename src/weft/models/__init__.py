"""What answers. One contract, one file per way of reaching a model; `embedded` is always there.

model.py               the contract: a request in, a stream of typed parts out
answer.py              parts to one answer
file_making.py         for models that make files in a loop of their own
embedded_model.py      answers from a session's documents, always there
embedded/              language processing in plain Python: no key, no network, no weights
anthropic_messages.py  openai_chat.py                            the two main wires, read by http_model.py
openai_responses.py    google.py (with extras)                   through pydantic_layer.py
endpoint.py            where a model is and as whom              (provider_errors.py: what goes wrong there)
local_gguf.py          a file on this machine, with the extra     (gguf_server.py is its process)
retrying.py            tries again where that is safe            (pauses.py: what providers asked for)
replay.py              answers from a recording
structured.py          a value of a given shape from any model   (json_reader.py, json_scan.py)
connections.py         which model is meant, and why             (credentials.py holds the keys)
prices.py              what a call cost
probe.py               what a model can do, by asking it
"""
