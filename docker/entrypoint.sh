#!/bin/sh
# What a container runs. With options, or without any, it serves the store in /data to every client that reaches the
# container; with --auth FILE only to those that sign. The options are those of `seriatim start` or of DynamoDB Local. With the
# name of another command it runs that: docker run --volume data:/data seriatim verify --path /data
set -eu

case "${1:-}" in
  '' | -*) ;;
  # DynamoDB Local is started by java; `start` is said by those who know this program.
  java | start) shift ;;
  *) exec seriatim "$@" ;;
esac

for argument in "$@"; do
  case "$argument" in
    --auth | --auth=*) exec seriatim start --host 0.0.0.0 --path /data "$@" ;;
  esac
done
exec seriatim start --host 0.0.0.0 --no-auth --allow-service-names --path /data "$@"
