package fakeapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// StartS3 serves a bucket as ServeS3 does, and puts its credentials into the environment.
func StartS3(tb testing.TB, fails func(w http.ResponseWriter, r *http.Request) (isAnswered bool)) (address string) {
	tb.Helper()
	tb.Setenv("AWS_ACCESS_KEY_ID", "id")
	tb.Setenv("AWS_SECRET_ACCESS_KEY", "sk-planted-secret")
	return ServeS3(tb, fails)
}

// ServeS3 serves a bucket for whoever shows any credentials, and returns its address as offload.bucket has it. What fails
// has answered, the service does not see.
func ServeS3(tb testing.TB, fails func(w http.ResponseWriter, r *http.Request) (isAnswered bool)) (address string) {
	tb.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("team"); err != nil {
		tb.Fatal(err)
	}
	service := gofakes3.New(backend).Server()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fails(w, r) {
			service.ServeHTTP(w, r)
		}
	}))
	tb.Cleanup(web.Close)
	return "s3://team/some/prefix?region=us-east-1&path_style=true&endpoint=" + url.QueryEscape(web.URL)
}
