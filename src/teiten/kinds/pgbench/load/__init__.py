"""pgbench: its command line, its outputs, its log, and what a trial of it gives."""
