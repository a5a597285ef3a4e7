"""Where load programs run: started, followed, and what they write counted."""
