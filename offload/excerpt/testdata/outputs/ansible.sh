# ansible-playbook -v of 130 tasks on three local hosts; a task fails on one of them, and is rescued.
{ echo '- hosts: all'; echo '  gather_facts: false'; echo '  tasks:'
  for t in $(seq -w 1 130); do
    if [ $t = 062 ]; then
      printf '    - name: write the error page\n      block:\n        - name: copy the certificate of the site\n          command: "test {{ inventory_hostname }} != web2"\n          changed_when: false\n      rescue:\n        - name: take the old certificate\n          debug: {msg: the old one stays}\n'
    else printf '    - name: check error page %s\n      debug: {msg: "page %s of {{ inventory_hostname }}: 0 errors"}\n' $t $t; fi
  done; } > site.yml
printf 'web1 ansible_connection=local\nweb2 ansible_connection=local\nweb3 ansible_connection=local\n' > hosts
ANSIBLE_NOCOLOR=1 ANSIBLE_LOCAL_TEMP=$PWD/l ANSIBLE_REMOTE_TEMP=$PWD/r ansible-playbook -v -i hosts site.yml -e ansible_python_interpreter=/usr/bin/python3
