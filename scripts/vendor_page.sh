#!/usr/bin/env bash
# Makes the page's vendor.js and uplot.css anew, from pinned packages. For who changes a version: it
# takes npm, users need neither. NOTICE names the versions and their licences.
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
