#!/bin/sh
exec /usr/lib/teiten/bin/python3 -I -m teiten "$@"
