package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"epitome/config/configtest"
	"epitome/proxy"
)

// changed is the defaults with another value under key, which no upstream and no route holds.
func changed(key string) Config {
	c := Defaults(configtest.Text())
	v := reflect.ValueOf(&c).Elem()
	for part := range strings.SplitSeq(key, ".") {
		v = v.FieldByNameFunc(func(name string) bool {
			f, _ := v.Type().FieldByName(name)
			return f.Tag.Get("toml") == part
		})
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("changed")
	case reflect.Slice:
		v.Set(reflect.ValueOf([]string{"changed"}))
	case reflect.Float64:
		v.SetFloat(v.Float() / 2)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		v.SetInt(v.Int() + 1)
	}
	return c
}

func TestConfigTomlSaysWhichKeysNeedARestart(t *testing.T) {
	for key, mark := range marks(uncommented()) {
		if regexp.MustCompile(`^(upstreams|clients|routes|prices|rewrite\.tools|rewrite\.bound_thinking|window\.models)`).MatchString(key) {
			if mark == "restart" {
				t.Errorf("config.toml says [restart] for %s, which a reload takes up", key)
			}
			continue
		}
		want := map[string][]string{"restart": {key}, "reload": nil}[mark]
		if got := NeedRestart(Defaults(configtest.Text()), changed(key)); mark == "" || !slices.Equal(got, want) {
			t.Errorf("config.toml says [%s] for %s, needRestart %v", mark, key, got)
		}
	}
	c := Defaults(configtest.Text())
	c.Upstreams, c.Routes = nil, []proxy.RouteRule{{Model: "*", Upstream: "openai"}}
	if got := NeedRestart(Defaults(configtest.Text()), c); got != nil {
		t.Errorf("a change of upstreams and routes needs a restart for %v", got)
	}
}
