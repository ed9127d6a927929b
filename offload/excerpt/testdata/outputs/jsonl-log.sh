# A log of 300 JSON lines as Go's log/slog writes it; one job fails.
go mod init jobs >&2
cat > main.go <<'END'
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	for n := 1; n <= 300; n++ {
		if n == 143 {
			log.Error("job failed", "job", n, "queue", "refunds", "attempt", 3, "err", fmt.Errorf("charge order 7143: %w", errors.New("card_declined: do not honor")))
			continue
		}
		log.Info("job done", "job", n, "queue", []string{"refunds", "mails", "errors"}[n%3], "attempt", 1, "took_ms", n*29%77)
	}
}
END
go run .
