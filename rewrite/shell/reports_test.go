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
		"kubectl get pods; kubectl delete pod a", "bash -c 'kubectl delete pod a'", "eval x", "./host a", "/tmp/top",
		"bash -c 'kubectl get pods' > pods.txt", "kubectl cluster-info dump --output-directory=d", "terraform providers lock",
		"docker --log-level info rm -f old", "kubectl --user get delete pod a", "ss -K dst db-1", "journalctl --sync",
		"journalctl --relinquish-var", "ip a a 10.0.0.1/24 dev eth0", "ip link s eth0 up", "ip route replace default via a",
		"ssh -tp 22 host rm -rf /a",
	} {
		if e := EffectsOf("", nil, []string{command}); e.Reports {
			t.Errorf("%q is a report", command)
		}
	}
}

// What is not known to ask may do anything: options and names are no verbs.
func TestARequestThatMayChangeSomethingIsNoReport(t *testing.T) {
	for _, command := range []string{
		"curl --data-ascii a=1 https://shop.example", "curl --form-string a=1 https://shop.example", "curl -D h.txt https://shop.example",
		"curl --cookie-jar jar https://shop.example", "curl --req POST https://shop.example", "curl --trace f https://shop.example",
		"curl -Q 'DELE a' ftp://shop.example", "curl -sXPOST https://shop.example", "curl -w '%output{f}' https://shop.example",
		"aws lambda invoke --function-name list-orders out.json", "aws sqs purge-queue --queue-url list",
		"aws s3api copy-object --key list", "aws iot-data get-thing-shadow --thing-name a out.json",
		"gcloud functions call list-orders", "gcloud pubsub topics publish orders list", "gcloud compute instances add-tags list",
		"az webapp up --name list-orders", "az vm run-command invoke --name show",
		"psql -o f -c 'select 1'", "psql -af drop.sql -c 'select 1'", "psql -c 'select 1' '-cdrop table jobs'",
		`psql -c 'select "pg_terminate_backend"(1)'`, "psql -c 'select pg_terminate_backend (1)'", "psql -c 'select shop.count(1)'",
		"psql -c 'select 掃除(1)'", `mysql -e 'select 1 /*!into outfile "x"*/'`, `mysql -e 'select 1 \! rm a'`, "mysql --tee=f -e 'select 1'",
		"mysql -e 'describe analyze update jobs'",
		"gh pr create --fill", "gh run rerun 7", "gh pr view 7 && gh pr merge 7", "gh $WHAT view 7", "./gh pr view 7",
	} {
		if e := EffectsOf("", nil, []string{command}); e.Reports {
			t.Errorf("%q is a report", command)
		}
	}
	for _, command := range []string{
		"curl -s -o /dev/null -w '%{http_code}' https://shop.example", "curl -sfL --max-time 5 -uops:x https://shop.example",
		"aws s3 ls", "aws --region eu-1 rds describe-db-instances --db-instance-identifier shop", "gcloud run services list",
		"gcloud compute ssl-certificates describe shop", "az aks show -g shop -n shop", "ip -br addr show eth0",
		"psql -qAt -d shop -c 'select id from (select id from jobs) a where id in (1, 2)'", `mysql -psecret -N -e 'show tables\G'`,
		"docker logs refund > /dev/null", "systemctl --user --no-pager status refund", "/usr/bin/dig refund.example",
		"gh pr diff 142 2>&1 | head -500; gh -R shop/refund run view 7 --log-failed; gh issue list --json id",
		"glab mr view 7 && gh release view v1.2",
	} {
		if e := EffectsOf("", nil, []string{command}); !e.Reports {
			t.Errorf("%q is no report", command)
		}
	}
}

func TestExitCodesThatAreAnswers(t *testing.T) {
	for command, want := range map[string]Question{
		"systemctl status nginx --no-pager":                                    Activity,
		"ssh web-6 sudo systemctl is-active nginx":                             Activity,
		"cd ~/infra && terraform plan -no-color -detailed-exitcode -out a":     Drift,
		"gh pr checks 142 2>&1":                                                Checks,
		"gh pr merge 142":                                                      NoQuestion,
		"git push && gh pr checks":                                             NoQuestion,
		"terraform plan":                                                       NoQuestion,
		"systemctl restart nginx":                                              NoQuestion,
		"systemctl status":                                                     NoQuestion,
		"ssh web-6 grep -q a b":                                                NoQuestion,
		"terraform apply -detailed-exitcode":                                   NoQuestion,
		"systemctl status nginx; systemctl restart nginx":                      NoQuestion,
		"./deploy.sh; systemctl status nginx":                                  NoQuestion,
		"systemctl restart nginx; systemctl is-active nginx":                   NoQuestion,
		"terraform apply; terraform plan -detailed-exitcode":                   NoQuestion,
		"make; bash -c 'systemctl status nginx'":                               NoQuestion,
		"bash -c 'make; systemctl status nginx'":                               NoQuestion,
		"uptime; systemctl status nginx":                                       Activity,
		"ssh a " + strings.Repeat("ssh a ", 10_000) + "systemctl status nginx": NoQuestion,
	} {
		if got := EffectsOf("", nil, []string{command}).Asks; got != want {
			t.Errorf("%.80q asks %d, want %d", command, got, want)
		}
	}
}
