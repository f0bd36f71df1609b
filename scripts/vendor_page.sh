#!/usr/bin/env bash
# Build the page's vendor.js and uplot.css from the packages in vendor_page/package-lock.json, which
# has their hashes. After a change of package.json, `npm install --package-lock-only` in that folder
# updates the lock file. Users do not need npm. NOTICE names the versions and their licences.
# `scripts/vendor_page.sh check` compares the result with the files of the page instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly page="$PWD/src/rulesafe_ros/rulesafe_ros/view/page"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp scripts/vendor_page/* "$scratch"
cd "$scratch"
npm ci --silent
npx esbuild entry.js --bundle --minify --format=esm --legal-comments=eof --outfile=vendor.js
cp node_modules/uplot/dist/uPlot.min.css uplot.css
if [[ ${1:-} == check ]]; then
    cmp vendor.js "$page/vendor.js"
    cmp uplot.css "$page/uplot.css"
else
    cp vendor.js uplot.css "$page/"
fi
