#!/bin/sh
# Runs agent-cli with these arguments and says in one line what came of it: sh outcome.sh "what changed?" --max-steps 20
# The exit code is that of the run, so that what stands around this script can decide, too.

result=$(agent-cli -p "$@" --output-format json 2>"${TMPDIR:-/tmp}/outcome.$$") && code=0 || code=$?
reason=$(tail -n 1 "${TMPDIR:-/tmp}/outcome.$$")
rm -f "${TMPDIR:-/tmp}/outcome.$$"

# A field of the object whose value is a plain word; `jq -r .outcome` does the same where jq is installed.
field() { printf '%s' "$result" | sed -n "s/.*[{,]\"$1\":\"\([a-z-]*\)\".*/\1/p"; }

case $code in
0) case $(field exhausted) in
    "") echo "answered" ;;
    *) echo "answered, when its $(field exhausted) were used up" ;;
    esac ;;
1) case $(field outcome) in
    loop-detected | no-progress) echo "went in circles: $reason" ;;
    budget-exhausted) echo "ran out of $(field exhausted): $reason" ;;
    guardrail-stop | guardrail-unavailable) echo "stopped by a guardrail: $reason" ;;
    context-overflow) echo "too long for the model: $reason" ;;
    *) echo "failed: $reason" ;;
    esac ;;
2) echo "asked wrongly: $reason" ;;
3) echo "halted, until somebody resets it: $reason" ;;
75) echo "not now, try again later: $reason" ;;
130 | 143) echo "interrupted" ;;
*) echo "ended strangely ($code): $reason" ;;
esac
exit "$code"
