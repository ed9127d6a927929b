#!/bin/sh
# Writes the files of a release that name its address:  sh release/files.sh OWNER/NAME TAG
#
# build/install.sh and build/README.md know where the releases are, and build/epitome-chart.tgz is the Helm chart with
# the image of this release.
set -eu

fail() {
	echo "release/files.sh: $*" >&2
	exit 1
}

repository=${1:-} tag=${2:-}
case $repository in
*/*/* | /* | */) fail "REPOSITORY must be owner/name, not $repository" ;;
*/*) ;;
*) fail "REPOSITORY=owner/name is missing: the project's address at github.com" ;;
esac
[ -n "$tag" ] || fail "the tag of the release is missing"
site=https://github.com/$repository
mkdir -p build

sed "s#^releases=\$#&$site/releases#" release/install.sh >build/install.sh

# In an archive, links lead to the files of the same version.
install="\`curl -fsSL $site/releases/latest/download/install.sh | sh\`, \`brew install ${repository%/*}/tap/epitome\`,
or the image \`ghcr.io/$repository\`."
sed -e "s#There is no release yet; build the program from a clone.#$(printf %s "$install" | tr '\n' ' ')#" \
	-e "s#](\([A-Za-z][^:)]*)\)#]($site/blob/$tag/\1#g" \
	-e "s#\(src[set]*=\"\)docs/#\1$site/raw/$tag/docs/#" README.md >build/README.md

rm -rf build/chart
mkdir build/chart
cp -RL deploy/helm/epitome build/chart # the alerts are a link
sed "s#^image: \"\"\$#image: ghcr.io/$repository:$tag#" deploy/helm/epitome/values.yaml >build/chart/epitome/values.yaml
sed "s#^version: .*#version: ${tag#v}#" deploy/helm/epitome/Chart.yaml >build/chart/epitome/Chart.yaml
tar -C build/chart -czf build/epitome-chart.tgz epitome
if tar -tvzf build/epitome-chart.tgz | grep '^[lh]'; then fail "the chart has links, which lead nowhere in an archive"; fi

for file in install.sh README.md chart/epitome/values.yaml; do
	grep -q "$repository" "build/$file" || fail "build/$file does not name $repository"
done
