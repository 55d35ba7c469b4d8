#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install-deps.sh PACKAGE...: installs those Debian packages that are missing. Says nothing and needs no
# network when all are there. Becomes root by sudo only where it must.
set -eu

missing=
for p in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "missing packages:$missing; run as root: apt-get install$missing" >&2; exit 1; }
    as_root=sudo
fi
echo "installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
