"""The agent, which runs on another host: sent over ssh into a Python there, never installed.

It may use the standard library of Python 3.9 and those modules of Teiten's that need no more; for
the few packages that these import there are stand-ins.
"""
