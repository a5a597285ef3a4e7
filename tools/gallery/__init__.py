"""Shows finished campaigns in docs/gallery: pictures, answers, commands, and whole reports."""
