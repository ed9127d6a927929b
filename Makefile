.PHONY: build check test race fuzz bench tables release licences image nightly

# The program, as ./epitome.
build:
	go build -o epitome .

# Format, vet and staticcheck; the pinned version stands in .ci/run.
check:
	bash .ci/run check

# The README's test command.
test:
	go test ./...

# The same under the race detector; needs a C compiler.
race:
	go test -race ./...

# Every fuzz target for half a minute; FUZZTIME=5m make fuzz for longer.
fuzz:
	bash .ci/run fuzz

# Added latency, CPU and memory against a bare fasthttp proxy.
bench:
	go run . bench load

# The built-in table of prices, from the release that e2e/testdata/node installs: event/prices.go has its name and date.
# Needs npm and node.
tables:
	npm ci --silent --prefix e2e/testdata/node
	node e2e/testdata/node/table.mjs > event/prices/prices.json
	cp e2e/testdata/node/node_modules/@pydantic/genai-prices/LICENSE event/prices/

# For six systems: archives with checksums and bills of materials, in dist, of the commit's tag. It needs goreleaser and
# syft. SNAPSHOT=--snapshot makes them of a commit without a tag.
release:
	goreleaser release --clean $(SNAPSHOT)

# The licences of all modules in the program, which come with each copy of it.
licences:
	@mkdir -p build
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' . | sort -u | \
	(echo "go $$(go env GOVERSION) $$(go env GOROOT)"; cat; \
	 echo "event/prices - event/prices") | \
	while read -r module version dir; do printf '\n== %s %s\n\n' "$$module" "$$version"; \
	  find "$$dir" -maxdepth 1 -iregex '.*/\(licen[cs]e\|copying\|notice\|patents\)\([._-].*\)?' -exec cat {} +; \
	done > build/LICENSES.txt

# The container's image.
image:
	docker build -t epitome .

# What takes longer than a landing may: plays, races, fuzzing, real agents, a browser, other systems, the image.
nightly:
	bash .ci/run nightly
