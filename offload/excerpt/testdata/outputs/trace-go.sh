# A Go service that logs, panics with 90 goroutines waiting, is started again and goes on.
go mod init queue >&2
cat > main.go <<'END'
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type order struct{ lines map[string]int }

func (o *order) add(name string) { o.lines[name]++ }

func post(n int) {
	var o order
	if n != 150 {
		o.lines = map[string]int{}
	}
	o.add(fmt.Sprint("line ", n))
}

func main() {
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Add(1)
		go func() { wg.Wait(); fmt.Println(i) }()
	}
	time.Sleep(10 * time.Millisecond)
	from := 1
	if len(os.Args) > 1 {
		from = 151
	}
	for n := from; n <= 300; n++ {
		fmt.Printf("level=info msg=\"order posted\" order=%d errors=0 took=%dms\n", n, n*7%13)
		post(n)
	}
}
END
go build -trimpath -o queue . && { GOTRACEBACK=all ./queue; echo "supervisor: queue exited with 2, starting it again"; ./queue again; }
