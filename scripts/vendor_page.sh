#!/usr/bin/env bash
# Build vendor.js and uplot.css of the live view's page from pinned packages, after a version was
# changed. Needs npm, which users do not need. NOTICE lists the versions and their licences.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly page="$PWD/src/rulesafe_ros/rulesafe_ros/view/page"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp scripts/vendor_page.js "$scratch/entry.js"
cd "$scratch"
npm init -y >/dev/null
npm install --silent three@0.187.0 uplot@1.6.32 urdf-loader@0.13.1 esbuild@0.25.0
npx esbuild entry.js --bundle --minify --format=esm --legal-comments=eof --outfile="$page/vendor.js"
cp node_modules/uplot/dist/uPlot.min.css "$page/uplot.css"
