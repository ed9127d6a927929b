package bench

import (
	"io"
	"strings"
	"testing"

	"epitome/house/missing"
)

func TestNginxConfigIsTakenByNginx(t *testing.T) {
	c, err := nginxContender("nginx")
	if err != nil {
		missing.Skip(t, "no nginx to try the config with: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	lineup := Lineup{Proxies: bareAsSubject(t).Proxies, Progress: io.Discard}
	report, err := Load(t.Context(), LoadOptions{Lineup: lineup, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Skipped) != 0 {
		t.Errorf("%s was skipped: %q", c.Name, report.Skipped)
	}
	wantEmptyTemp(t)
}

func TestNginxTempPathsFollowItsModules(t *testing.T) {
	got := nginxTempPaths("configure arguments: --without-http_uwsgi_module --with-http_ssl_module")
	if want := "  fastcgi_temp_path {dir}/fastcgi;\n  scgi_temp_path {dir}/scgi;\n"; got != want {
		t.Errorf("temp paths %q, want %q", got, want)
	}
}

func TestMissingNginxIsNamed(t *testing.T) {
	lineup := Lineup{Proxies: []Contender{{Name: "epitome"}}, Nginx: "no-such-nginx"}
	field, skipped := lineup.contenders()
	if len(field) != 2 || field[1].Name != bareName {
		t.Errorf("field %v, want the subject and the baseline", field)
	}
	if len(skipped) != 1 || !strings.HasPrefix(skipped[0], "nginx: not found") {
		t.Errorf("skipped %q", skipped)
	}
}
