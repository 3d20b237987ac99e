#!/usr/bin/env bash
# Builds the image "pudu" for Docker from a program: packaging/image.sh PROGRAM [PACKAGE...]
# The root of Debian's packages is made once and kept in .cache; PACKAGEs that commands are to have beside it make it
# anew.
set -euo pipefail
program=$(realpath "${1:?the program, such as bin/pudu}")
shift
cd "$(dirname "$0")/.."
context=.cache/image
mkdir -p "$context"
if [[ ! -e $context/root.tar || packaging/root.sh -nt $context/root.tar || $# -gt 0 ]]; then
	packaging/root.sh "$context/root.tar" "$@"
fi
cp packaging/Dockerfile "$context/"
cp "$program" "$context/pudu"
exec docker build --tag "${PUDU_IMAGE:-pudu}" "$context"
