# go vet -x of 60 packages: vet's command lines, and three packages that do not compile.
go mod init shop >&2
for p in $(seq -w 1 60); do
  mkdir -p carts/cart_$p
  body='return len(items) * 2'
  [ $p = 27 ] && body='return len(items) * rate'
  [ $p = 31 ] && body='return "none"'
  [ $p = 33 ] && body='var unused int; return 0'
  printf 'package cart_%s\n\nfunc Total(items []string) int {\n\t%s\n}\n' $p "$body" > carts/cart_$p/cart.go
done
GOCACHE=$PWD/cache GOFLAGS=-trimpath go build -v -x -p 1 ./... 
