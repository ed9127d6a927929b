package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestPost(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   error
	}{
		{201, `{"id":"ch_1","merchant_ref":"A","cents":5}`, nil},
		{201, `{"id":`, ErrUnclear},
		{402, `card declined`, ErrRefused},
		{429, ``, Busy{After: 7 * time.Second}},
		{500, ``, ErrUnclear},
		{503, ``, ErrUnclear},
		{504, ``, ErrUnclear},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(test.status)
			w.Write([]byte(test.body))
		}))
		receipt, err := Client{URL: server.URL, HTTP: server.Client()}.Post(context.Background(), Charge{Ref: "A", Cents: 5})
		if !errors.Is(err, test.want) || err == nil && receipt.ID != "ch_1" {
			t.Errorf("%d %s: %+v, %v, want %v", test.status, test.body, receipt, err, test.want)
		}
		server.Close()
	}
}

func TestPostBroken(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	_, err := Client{URL: server.URL, HTTP: http.DefaultClient}.Post(context.Background(), Charge{Ref: "A", Cents: 5})
	if !errors.Is(err, ErrUnclear) {
		t.Errorf("%v, want %v", err, ErrUnclear)
	}
}

func TestFind(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("merchant_ref") == "A&B" {
			w.Write([]byte(`[{"id":"ch_2","merchant_ref":"A&B","cents":7}]`))
			return
		}
		w.Write([]byte(`[]`))
	}))
	defer server.Close()
	client := Client{URL: server.URL, HTTP: server.Client()}
	if receipt, found, err := client.Find(context.Background(), "A&B"); err != nil || !found || receipt.ID != "ch_2" {
		t.Errorf("%+v, %v, %v", receipt, found, err)
	}
	if _, found, err := client.Find(context.Background(), "C"); err != nil || found {
		t.Errorf("%v, %v, want none", found, err)
	}
}
