"""What people write or bring, as faces offer it: packs, pipelines, agents, skills, the profile; what they are worth."""
