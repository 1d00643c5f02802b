"""What a shell command would do, told from its text: read twice, judged part by part, refused when in doubt."""
