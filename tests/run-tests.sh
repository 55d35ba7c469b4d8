#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run-tests.sh PROGRAM...: runs each test program, prints its report only when it fails, and ends with
# how many tests passed. Every program is run even after a failure.
set -u

passed=0
failed=0
bad=
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for t in "$@"; do
    CMOCKA_MESSAGE_OUTPUT=STDOUT "$t" >"$log" 2>&1
    code=$?
    p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{s+=$1} END{print s+0}')
    f=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{s+=$1} END{print s+0}')
    [ "$code" -eq 0 ] || [ "$f" -gt 0 ] || f=1
    passed=$((passed + p))
    failed=$((failed + f))
    if [ "$f" -gt 0 ]; then
        bad="$bad ${t##*/}"
        grep -v '^\[       OK \]\|^\[ RUN      \]' "$log" | tail -n 60
        echo "FAILED ${t##*/} (exit $code)"
    else
        printf '  ok    %-36s %s\n' "${t##*/}" "$p"
    fi
done
[ -z "$bad" ] || echo "failed:$bad"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
