.PHONY: build check test rows race fuzz bench measure arena figures tables release release-files publish completions licences \
  image deploy-check nightly pictures

# The program, as ./epitome.
build:
	go build -o epitome .

# Format, vet and staticcheck; the pinned version stands in .ci/run.
check:
	bash .ci/run check

# The README's test command.
test:
	go test ./...

# Each behaviour that a user was promised, played through the real program in the APIs where they differ: a table of what
# arrived, and whether the row holds.
rows:
	@mkdir -p build
	go test -count=1 ./cli -run '^Test(Rows|Scripts)$$/^($(PLAYED))$$' -rows $(CURDIR)/build/rows.txt; \
	status=$$?; cat build/rows.txt; exit $$status

PLAYED = chat|messages|responses|$(shell grep -l "^row .*'" cli/testdata/script/* | sed 's|.*/||; s|\.txtar||' | paste -s -d '|' -)

# The same under the race detector; needs a C compiler.
race:
	go test -race ./...

# Every fuzz target for half a minute; FUZZTIME=5m make fuzz for longer.
fuzz:
	bash .ci/run fuzz

# Added latency, CPU and memory against a bare fasthttp proxy.
bench:
	go run . bench load

# Cost, recall and load of the working tree beside another commit: make measure BASE=REF, with SESSIONS and RECALL as
# bench/measure.sh says.
measure:
	bash bench/measure.sh

# What can still be read of conversations that epitome and other methods made smaller: of those that bench/questions.py
# makes, and of more in FILES.
arena:
	bash bench/arena.sh $(FILES)

# The tables of the documents, measured anew; bench/figures.py says which variables name more data. AGREE=1 also writes
# bench/figures.json.
figures:
	python3 bench/figures.py $(if $(AGREE),--agree)

# The built-in table of prices, from the release that e2e/testdata/node installs: event/prices.go has its name and date.
# Needs npm and node.
tables:
	npm ci --silent --prefix e2e/testdata/node
	node e2e/testdata/node/table.mjs > event/prices/prices.json
	cp e2e/testdata/node/node_modules/@pydantic/genai-prices/LICENSE event/prices/

# Where the project and its releases are, at github.com and ghcr.io, as owner/name: make release REPOSITORY=owner/name.
# GitHub's workflows know it.
export REPOSITORY ?= $(GITHUB_REPOSITORY)
TAG = $(shell git tag --points-at HEAD)

# All of a release, in dist: archives for six systems, checksums, bills of materials, the Homebrew cask. It needs
# goreleaser and syft, and publishes nothing. Of a commit without a tag it makes a snapshot.
release: release-files
	goreleaser release --clean --skip=publish$(if $(TAG),, --snapshot) $(RELEASEFLAGS)

# The release of the commit's tag, for all to download, and its image. It needs GITHUB_TOKEN and a login to ghcr.io.
publish: release-files
	goreleaser release --clean
	$(BUILD_IMAGE) --platform linux/amd64,linux/arm64 --push -t ghcr.io/$(REPOSITORY):$(TAG) -t ghcr.io/$(REPOSITORY):latest .

# The install script, the README and the chart that name the address of the releases, in build.
release-files:
	@sh release/files.sh '$(REPOSITORY)' '$(or $(TAG),v0.0.0)'

# Completions for four shells.
completions:
	@mkdir -p build/completions
	for shell in bash zsh fish powershell; do go run . completion $$shell > build/completions/epitome.$$shell || exit; done

# The licences of all modules in the program and of its vocabulary, which come with each copy of it.
licences:
	@mkdir -p build
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' . \
	  github.com/pkoukk/tiktoken-go-loader/assets | sort -u | \
	(echo "go $$(go env GOVERSION) $$(go env GOROOT)"; cat; \
	 echo "event/prices - event/prices") | \
	while read -r module version dir; do printf '\n== %s %s\n\n' "$$module" "$$version"; \
	  find "$$dir" -maxdepth 1 -iregex '.*/\(licen[cs]e\|copying\|notice\|patents\)\([._-].*\)?' -exec cat {} +; \
	done > build/LICENSES.txt

# The container's image, as epitome.
image:
	$(BUILD_IMAGE) -t epitome .

BUILD_IMAGE = docker buildx build -f release/Dockerfile \
  $(if $(REPOSITORY),--label org.opencontainers.image.source=https://github.com/$(REPOSITORY)) \
  $(if $(TAG),--label org.opencontainers.image.version=$(TAG)) --label org.opencontainers.image.licenses=Apache-2.0

# Screenshots of the pages at the end of a demo, in build/pictures; docs/pages has the few that documents show. Needs npm
# and Chromium.
pictures:
	go test -tags e2e -count=1 ./e2e -run Pictures -pictures $(CURDIR)/build/pictures
	cp build/pictures/conversation-top-light-1280.png docs/pages/conversation-light.png
	cp build/pictures/conversation-top-dark-1280.png docs/pages/conversation-dark.png
	cp build/pictures/overview-light-1280.png docs/pages/overview-light.png

# The Helm chart with the values of its examples, and the parts of the compose file without Docker.
deploy-check:
	cd deploy/check && go test -count=1 .
	bash deploy/check/parts.sh

# What takes longer than a landing may: the README's commands, plays, races, fuzzing, outages, real agents, a browser,
# other systems, the image, deploy.
nightly:
	bash .ci/run nightly
