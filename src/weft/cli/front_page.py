"""What `weft --help` prints, made without an import: every command in the place where somebody who does not know it
would look. A test holds it equal to what click would print."""

GROUPS = {
    "Begin": {
        "init": "Make a workspace and lay a pack into it.",
        "run": "Bring a session up to date: run what is still to be done.",
        "plan": "Show what a run would do, and why.",
        "reply": "Answer the gate a run waits at, and go on.",
        "chat": "Talk in a session, with tools and approvals.",
        "ask": "Ask your documents: a short answer with its sources.",
        "research": "Answer a question from a collection, checked sentence by sentence.",
        "open": "Open what a session made in the browser.",
        "serve": "Serve the sessions to browsers and scripts.",
    },
    "While it works": {
        "send": "Say something in a session that is open elsewhere.",
        "approve": "Allow or deny what a tool of a session waits for.",
        "interrupt": "Stop what runs in a session that is open elsewhere.",
        "overrule": "Say otherwise than the verdict on a claim, and why.",
        "sessions": "List, show, follow, verify and remove sessions.",
        "cost": "What models took and cost: by session, step, model, day.",
        "stats": "What came of every step over many runs.",
    },
    "Write your own": {
        "new": "A pipeline, an agent or a skill from a template.",
        "build": "A pipeline, agent, skill or source from a sentence.",
        "pipelines": "List, show and validate pipelines.",
        "agents": "Agents: list, and show what each may use.",
        "skills": "Skills: list, show, bring, take out.",
        "packs": "Packs: list, compare, bring, update, take out.",
        "profile": "Show or change what is known of you.",
        "schedules": "What is begun by itself: list, run, pause, watch.",
        "eval": "Measure what verdicts and pipelines are worth.",
    },
    "Connect": {
        "models": "List, connect, test and choose models.",
        "sources": "Connect MCP servers, APIs, folders and searches as tools.",
        "tools": "List the tools a model may call, and judge a call.",
        "secrets": "What steps may use by name: set, list, remove.",
        "kb": "Collections of documents: search, references, verification.",
        "mcp": "Offer collections and sessions to other programs (MCP).",
        "acp": "Be an agent for an editor (ACP).",
        "import": "Take in what you have in other systems.",
    },
    "Run it for others": {
        "persons": "Who may come into the server, and what they may do.",
        "tokens": "What lets scripts and browsers into the server.",
        "worker": "Work for a shared workspace: take runs from its queue.",
        "workers": "Who works for a shared workspace: list, drain.",
        "batches": "Documents that were queued together: how they stand, again.",
        "workspace": "Move a workspace between files and a shared store.",
    },
    "Look after it": {
        "doctor": "Check the workspace, the disk and every session.",
        "trust": "What you agreed to: code, packs, keys sent to an address.",
        "completion": "Print the shell completion script.",
    },
}
COMMANDS = {name: told for names in GROUPS.values() for name, told in names.items()}
EXIT_CODES = """\
Exit codes:
  0    done
  1    failed
  2    the command line was wrong
  3    waiting for a person
  4    over budget
  5    something would run, or get a key, that nobody agreed to
  130  interrupted; run the same command again to continue"""
_HEAD = """\
Usage: weft [OPTIONS] COMMAND [ARGS]...

  Agent work you can stop, inspect, resume and trust.

Options:
  -V, --version       Show the version and exit.
  --workspace FOLDER  The workspace (default: WEFT_WORKSPACE or ~/.weft).
  --trust HASH        Agree in advance to what has this hash; it is named when
                      something is refused.
  -h, --help          Show this message and exit.
"""


def front_page() -> str:
    parts = [_HEAD]
    for group, names in GROUPS.items():
        parts += [f"{group}:", *(f"  {name:<10}  {told}" for name, told in names.items()), ""]
    return "\n".join([*parts, *(f"  {line}" for line in EXIT_CODES.split("\n"))])
