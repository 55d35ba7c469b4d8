#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lint.sh: format, static analysis, banned functions and length of files. Fails on any finding.
set -eu

status=0
files=$(git ls-files 'lib/*.[ch]' 'api/*.[ch]' 'server/*.[ch]' 'tests/*.[ch]' 2>/dev/null)
[ -n "$files" ] || files=$(find lib api server tests -name '*.[ch]')

# shellcheck disable=SC2086
clang-format --dry-run -Werror $files || status=1

# shellcheck disable=SC2086
if grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|sscanf|setlocale|alloca)\(' \
    $(echo "$files" | tr ' ' '\n' | grep -E '^(lib|api|server)/'); then
    echo "lint: a banned function" >&2
    status=1
fi

for f in $files; do
    case $f in lib/*|api/*|server/*) ;; *) continue ;; esac
    n=$(wc -l < "$f")
    [ "$n" -le 350 ] || { echo "lint: $f has $n lines (350 at most)" >&2; status=1; }
    head -n 1 "$f" | grep -q 'SPDX-License-Identifier: MIT' || { echo "lint: $f lacks its SPDX line" >&2; status=1; }
done

cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=unusedStructMember --suppress=normalCheckLevelMaxBranches \
    --suppress=varFuncNullUB \
    --suppress=uninitvar:lib/rotation/wide.h -Ilib -Iapi -Iserver -DPE_ISA=portable -D_GNU_SOURCE lib api server || status=1

[ "$status" -ne 0 ] || echo "lint: clean"
exit "$status"
