"""Conversations and steps on programs of others that run a loop of their own: agents by ACP, and Codex.

As with the Claude runtime (`claude_agent`), neither loop is put inside the other: they go through it together. What
the agent says is the answer of one turn of ours; what it asks us for (a permission, a file) is a tool call of that
turn, judged by our rules and kept in the log before it happens; what comes back is its settlement; and what it says
then is the continuation. What it does without asking is only told, as it tells it, and held by the boundary alone.

runtime.py             the process, in our boundary and environment; messages both ways; calls that wait for a ruling
acp.py                 how an agent is spoken to by the Agent Client Protocol
codex.py               how Codex is spoken to by its app server
agent_conversation.py  the model of a conversation on it, and the connection that it is

To stop it is to end the process. The next one goes on with the agent's own record of the conversation where it has one,
and is told in short what was said since; else it is told in short what was said.
"""
