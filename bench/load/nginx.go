package load

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// nginxConfig is a plain streaming reverse proxy. One process without a master, so that its CPU and memory are one
// process's. The body buffer holds the largest measured body, so no body goes through a file. Connections are not
// renewed after a number of requests on either side.
const nginxConfig = `daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile 8192;
pid {dir}/nginx.pid;
error_log {dir}/error.log warn;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy;
{modules}  client_max_body_size 100m;
  client_body_buffer_size 1m;
  keepalive_requests 100000000;
  keepalive_timeout 600s;
  upstream provider {
    server {upstream};
    keepalive 64;
    keepalive_requests 100000000;
  }
  server {
    listen {listen};
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`

// nginxContender returns nginx as a contender, if binary can be run.
func nginxContender(binary string) (Contender, error) {
	path, err := exec.LookPath(binary)
	if err != nil {
		return Contender{}, fmt.Errorf("nginx: not found (%w)", err)
	}
	version, err := exec.Command(path, "-V").CombinedOutput()
	if err != nil {
		return Contender{}, fmt.Errorf("nginx: cannot run %s -V: %w", path, err)
	}
	modules := nginxTempPaths(string(version))
	return Contender{
		Name:    NginxName,
		Command: []string{path, "-e", "{dir}/error.log", "-p", "{dir}", "-c", "{dir}/nginx.conf"},
		prepare: func(dir, listen, upstream string) error {
			fill := strings.NewReplacer("{dir}", dir, "{listen}", listen,
				"{upstream}", strings.TrimPrefix(upstream, "http://"))
			text := fill.Replace(strings.ReplaceAll(nginxConfig, "{modules}", modules))
			return os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(text), 0o600)
		},
	}, nil
}

// nginxTempPaths keeps the modules that nginx was built with from their compiled-in folders, which only root may write.
func nginxTempPaths(version string) string {
	var b strings.Builder
	for _, module := range []string{"fastcgi", "uwsgi", "scgi"} {
		if !strings.Contains(version, "--without-http_"+module+"_module") {
			fmt.Fprintf(&b, "  %s_temp_path {dir}/%s;\n", module, module)
		}
	}
	return b.String()
}
