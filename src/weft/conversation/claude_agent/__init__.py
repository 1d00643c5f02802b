"""Conversations and steps on the Claude agent runtime, which runs a loop of its own. Needs the extra `weft[claude]`.

The runtime is a program that asks a model, runs tools and asks again. Our engine does the same, so neither is put
inside the other: they go through the loop together. What the runtime's model says is the answer of one turn of ours;
each of its tool calls is held at the runtime's PreToolUse hook until our log has the intent; what comes back is the
settlement; and the next thing its model says is the continuation. So a turn, an approval, a denial, a sub-conversation
and an interrupt are what they are with every model, and nothing in the engine knows the difference.

child.py                 the process: under a supervisor, in an environment that we make, its key handed over unseen
options.py               how it is started: its prompt, tools, agents, gate
runtime.py               the live program: what it says, by conversation; calls that wait for their ruling
gate.py                  its tools as ours: names, paths, rulings, ends
runtime_conversation.py  the model of a conversation on it, and what it is told when it begins or comes back
transcript.py            whether its transcript is there to go on with
message_reader.py        from what it says to the parts of a turn
small_calls.py           one question in an empty folder: summaries, tests, values of a schema

A step of a pipeline on it is in `conversation/step_files.py`: it writes the artifacts, and is told what is wrong.
"""
