"""The face of a conversation in a terminal: `face.run_chat`."""
