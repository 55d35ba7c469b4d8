#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layers.sh BUILD: holds the house rules on the objects of a build: no include that leaves its room, no
# circle of calls between the files of a room, no call upwards, and nothing in lib but memory, string,
# math and MPFR calls.
set -eu

build=$1
status=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() { echo "layers: $*" >&2; status=1; }

if grep -nE '#include "[^"]*\.\./' $(find lib api server -name "*.[ch]"); then
    fail "an include climbs out of its folder"
fi

# defined SYMBOL FILE and wanted FILE SYMBOL of every object; the kernels of all instruction sets are one file.
for room in lib api server; do
    find "$build/$room" -name '*.o' | sort | while read -r o; do
        name=${o#"$build"/}
        case $name in lib/rotation/kernel_*) name=lib/rotation/kernel.o ;; esac
        nm -P "$o" | awk -v f="$name" '$2 ~ /^[TDBRVWC]$/ {print "D", $1, f} $2 == "U" {print "U", $1, f}'
    done
done | sed 's/@.*//' > "$tmp/all"
awk '$1 == "D" {print $2, $3}' "$tmp/all" | sort -u -k1,1 > "$tmp/defined"
awk '$1 == "U" {print $2, $3}' "$tmp/all" | sort -u > "$tmp/wanted"
join -o 2.2,1.2 "$tmp/defined" "$tmp/wanted" | awk '$1 != $2' | sort -u > "$tmp/arrows"

tsort "$tmp/arrows" > /dev/null 2> "$tmp/circles" || true
if [ -s "$tmp/circles" ]; then
    fail "files that call each other in a circle:"
    sed 's/^tsort: *//' "$tmp/circles" >&2
fi

awk '{split($1, a, "/"); split($2, b, "/"); r["lib"] = 1; r["api"] = 2; r["server"] = 3
      if (r[a[1]] < r[b[1]]) print "  " $1 " -> " $2}' "$tmp/arrows" > "$tmp/up"
if [ -s "$tmp/up" ]; then
    fail "calls upwards:"
    cat "$tmp/up" >&2
fi

# What lib may ask of the world. getenv reads POSENC_ISA, snprintf writes to memory.
allowed='malloc|calloc|realloc|free|aligned_alloc|abort|getenv|qsort|bsearch|v?snprintf|_GLOBAL_OFFSET_TABLE_'
allowed="$allowed|mem(cpy|move|set|cmp|chr|rchr|mem)|str[a-z]*|__(mpfr|gmp)[a-z_0-9]*|mpfr_[a-z_0-9]*|mp[zfqn]_[a-z_0-9]*"
allowed="$allowed|l?l?(sqrt|fabs|floor|ceil|trunc|round|rint|fma|ldexp|frexp|exp2?|log2?|pow|sin|cos|scalbn|nearbyint|nextafter|copysign|fmin|fmax|ilogb|llrint|lrint|modf)[fl]?"
allowed="$allowed|__stack_chk_fail|__[a-z_]*_chk|__cpu_[a-z_0-9]*|__(asan|ubsan|sanitizer|tsan)[a-z_0-9]*|__(u?div|u?mod|mul|pop)[a-z0-9]*"
awk '$2 ~ /^lib\//' "$tmp/wanted" | sort > "$tmp/lib"
join -v 1 "$tmp/lib" "$tmp/defined" | awk '{print $1, $2}' | grep -vE "^($allowed) " > "$tmp/foreign" || true
if [ -s "$tmp/foreign" ]; then
    fail "lib calls more than memory, string, math and MPFR:"
    sed 's/^/  /' "$tmp/foreign" >&2
fi

[ "$status" -ne 0 ] || echo "layers: $(wc -l < "$tmp/arrows") arrows, all downwards, no circle, lib pure"
exit "$status"
