package shell

import (
	"strings"
	"testing"
)

func TestWhatOnlyAsksHowThingsStandIsAReport(t *testing.T) {
	for _, command := range []string{
		"kubectl --context shop-prod -n shop get pods -o wide", "kubectl logs deploy/refund --tail=300 | grep -i error",
		"kubectl rollout status deployment/refund", "oc describe pod refund-1", "helm -n shop list", "docker compose -f a.yml logs",
		"docker ps -a", "terraform state list", "systemctl status nginx --no-pager", "journalctl -u nginx -n 200",
		"ssh db-1 df -h", "ssh -p 2222 -i key ops@db-1 sudo journalctl -u refund", "ssh web-1 'systemctl status nginx'",
		"aws ec2 describe-instances --profile prod", "aws s3 ls s3://shop", "gcloud compute instances list --project shop",
		"az vm list -d -o table", "dig refund.example", "ping -c 3 db-2", "ip addr show", "cat a.txt && kubectl get pods",
		"bash -lc 'kubectl get pods'", "curl -sS -v https://shop.example/healthz", "curl -X GET -H 'Accept: x' https://shop.example",
		`psql -h db-1 -U ledger -c "select pid, left(query,60) from pg_stat_activity where (pid > 3)"`,
		"mysql -h db -e 'select count(*) from jobs; show tables' shop", `psql -Atc "SELECT 1"`,
	} {
		if e := EffectsOf("", nil, []string{command}); !e.Reports {
			t.Errorf("%q is no report", command)
		}
	}
	if e := EffectsOf("", []string{"bash", "-lc", "kubectl get pods"}, nil); !e.Reports {
		t.Error("what a shell is given is no report")
	}
}

func TestWhatMayChangeSomethingIsNoReport(t *testing.T) {
	for _, command := range []string{
		"kubectl delete pod refund-1", "kubectl -n get delete pod x", "kubectl get pods -o name | xargs kubectl delete",
		"kubectl get cm -o yaml > cm.yaml", "helm upgrade refund charts/refund", "docker rm -f old", "docker compose up -d",
		"terraform apply -auto-approve", "terraform state rm a", "systemctl restart nginx", "journalctl --vacuum-time=2d",
		"ssh db-1 rm -rf /tmp/a", "ssh db-1 'df -h; reboot'", "ssh db-1", "ssh a ssh b df", "aws s3 rm s3://shop/list",
		"aws ec2 terminate-instances --instance-ids i-1", "aws s3api get-object --bucket b --key k f", "gcloud compute instances delete list",
		"az vm start --name list", "ip addr add 10.0.0.1/24 dev eth0", "psql -c 'select pg_terminate_backend(1)'", "ssh db-1 $CMD",
		"curl -d a=1 https://shop.example", "curl -X POST https://shop.example", "curl -sSLo f https://shop.example",
		"curl --json '{}' https://shop.example", "psql -c 'delete from jobs'", "psql -c 'select 1; drop table jobs'",
		"mysql -e 'select 1 into outfile x'", "psql -f a.sql", "psql -c 'select setval(1)'", "psql -c", "mysql < dump.sql",
		"psql -c 'select 1' -f drop.sql", "psql -c 'select 1' -c 'drop table jobs'",
		"psql -c 'with x as (delete from jobs returning id) select id from x'",
		"kubectl get pods; kubectl delete pod a", "bash -c 'kubectl delete pod a'", "eval x",
	} {
		if e := EffectsOf("", nil, []string{command}); e.Reports {
			t.Errorf("%q is a report", command)
		}
	}
}

func TestExitCodesThatAreAnswers(t *testing.T) {
	for command, want := range map[string]Question{
		"systemctl status nginx --no-pager":                                Activity,
		"ssh web-6 sudo systemctl is-active nginx":                         Activity,
		"cd ~/infra && terraform plan -no-color -detailed-exitcode -out a": Drift,
		"terraform plan":                                  NoQuestion,
		"systemctl restart nginx":                         NoQuestion,
		"systemctl status":                                NoQuestion,
		"ssh web-6 grep -q a b":                           NoQuestion,
		"terraform apply -detailed-exitcode":              NoQuestion,
		"systemctl status nginx; systemctl restart nginx": NoQuestion,
		"ssh a " + strings.Repeat("ssh a ", 10_000) + "systemctl status nginx": NoQuestion,
	} {
		if got := EffectsOf("", nil, []string{command}).Asks; got != want {
			t.Errorf("%.80q asks %d, want %d", command, got, want)
		}
	}
}
