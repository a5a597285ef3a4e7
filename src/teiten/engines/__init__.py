"""Engines that spread tables over several servers; a file for each."""
