# 30 packages of 12 tests; one converts cents with the wrong rounding.
go mod init shop >&2
for p in $(seq -w 1 30); do
  mkdir -p refund_$p
  { echo "package refund_$p"; echo; echo 'import "testing"'; echo
    echo 'func half(cents, parts int) int { return cents / parts }'; echo
    for t in $(seq 1 12); do
      want="$((100 * t / 2))"; [ "$p-$t" = 14-7 ] && want="$((100 * t / 2 + 1))"
      echo "func TestRefundOfOrder_$t(t *testing.T) {"
      echo "	for _, currency := range []string{\"eur\", \"usd\", \"error-prone\"} {"
      echo "		t.Run(currency, func(t *testing.T) {"
      echo "			t.Logf(\"order %d in %s: 0 errors\", $((p0 + t * 17)), currency)"
      echo "			if got, want := half($((100 * t)), 2), $want; got != want {"
      echo "				t.Errorf(\"half of %d cents is %d, want %d\", $((100 * t)), got, want)"
      echo "			}"
      echo "		})"
      echo "	}"
      echo "}"; echo
    done; } > refund_$p/refund_test.go
done
go test -v ./...
