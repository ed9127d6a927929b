package load

import (
	"strings"
	"testing"
)

func TestNginxTempPathsFollowItsModules(t *testing.T) {
	got := nginxTempPaths("configure arguments: --without-http_uwsgi_module --with-http_ssl_module")
	if want := "  fastcgi_temp_path {dir}/fastcgi;\n  scgi_temp_path {dir}/scgi;\n"; got != want {
		t.Errorf("temp paths %q, want %q", got, want)
	}
}

func TestMissingNginxIsNamed(t *testing.T) {
	lineup := Lineup{Proxies: []Contender{{Name: "epitome"}}, Nginx: "no-such-nginx"}
	field, skipped := lineup.Contenders()
	if len(field) != 2 || field[1].Name != BareName {
		t.Errorf("field %v, want the subject and the baseline", field)
	}
	if len(skipped) != 1 || !strings.HasPrefix(skipped[0], "nginx: not found") {
		t.Errorf("skipped %q", skipped)
	}
}
