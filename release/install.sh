#!/bin/sh
# Installs epitome on Linux or macOS:  sh install.sh [VERSION]
#
# It downloads the archive of the newest version, or of VERSION, verifies its checksum, and puts the program into
# ~/.local/bin. EPITOME_BIN names another folder, EPITOME_RELEASES another address of the releases.
set -eu

# In a release, their address.
releases=

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

# download NAME: saves a file of the release in the current folder.
download() {
	if command -v curl >/dev/null; then
		curl -fsSL -o "$1" "$from/$1"
	else
		wget -q -O "$1" "$from/$1"
	fi || fail "cannot download $from/$1"
}

# Everything is in a function, so that a script that arrives in part does nothing.
install() {
	releases=${EPITOME_RELEASES:-$releases}
	[ -n "$releases" ] || fail "this is no release's script; EPITOME_RELEASES=URL names the address of the releases"
	bin=${EPITOME_BIN:-$HOME/.local/bin}
	from=$releases/latest/download
	[ $# -eq 0 ] || from=$releases/download/v${1#v}

	case $(uname -s) in
	Linux) system=linux ;;
	Darwin) system=darwin ;;
	*) fail "this script knows Linux and macOS only; $releases has an archive for Windows" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) machine=amd64 ;;
	aarch64 | arm64) machine=arm64 ;;
	*) fail "no archive for $(uname -m); build epitome with Go: go build -o epitome ." ;;
	esac

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cd "$work"
	download SHA256SUMS
	grep "_${system}_$machine.tar.gz\$" SHA256SUMS >sum || fail "$from has no archive for $system on $machine"
	archive=$(cut -c 67- sum) # behind 64 digits and two blanks
	download "$archive"
	if command -v sha256sum >/dev/null; then
		sha256sum -c sum >/dev/null 2>&1
	else
		shasum -a 256 -c sum >/dev/null 2>&1
	fi || fail "the checksum of $archive is wrong; nothing was installed"

	tar -xzf "$archive"
	mkdir -p "$bin"
	cp "${archive%.tar.gz}/epitome" "$bin/epitome.new"
	mv -f "$bin/epitome.new" "$bin/epitome" # works while the old one runs
	echo "Installed $("$bin/epitome" version | head -n 1) as $bin/epitome."
	case :$PATH: in
	*:"$bin":*) ;;
	*) echo "Add $bin to your PATH." ;;
	esac
	echo "Next:    epitome demo"
	echo "To undo: rm $bin/epitome"
}

install "$@"
