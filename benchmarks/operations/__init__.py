"""Does the study ``operations`` find what was planted, and nothing where nothing was?"""
