#!/usr/bin/env sh
# The browser that the page is tested in: Debian's, where there is none yet and this user may install it.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then exit 0; fi
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "There is no Chromium, and it cannot be installed here: the tests of the page will be skipped." >&2
    exit 0
fi
if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium; } > /dev/null; then
    echo "Chromium could not be installed: the tests of the page will be skipped." >&2
fi
