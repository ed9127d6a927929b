package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"epitome/internal/fakeapi"
)

// agentProgram is a command that scripts give to "epitome run". Its arguments are what it does, one after the other:
//
//	env        print the variables that run is to set
//	save=FILE  write them into FILE
//	args       print all arguments, and do nothing further
//	chat       ask $OPENAI_BASE_URL for a chat completion, with a credential, and print the answer as it comes
//	messages   ask $ANTHROPIC_BASE_URL for a message, with a credential, and print the answer
//	wait       print "waiting", wait for a signal, and print it
//	until=FILE print "waiting", and wait until FILE is there
//	die        be killed by SIGTERM
//	exit=CODE  exit
func agentProgram() {
	for _, step := range os.Args[1:] {
		verb, object, _ := strings.Cut(step, "=")
		if verb == "args" {
			fmt.Printf("%q\n", os.Args)
			return
		}
		if err := act(verb, object); err != nil {
			fmt.Fprintf(os.Stderr, "agent: cannot %s: %v\n", step, err)
			os.Exit(99)
		}
	}
}

func act(verb, object string) error {
	switch verb {
	case "env":
		fmt.Print(baseURLs())
	case "save":
		return os.WriteFile(object, []byte(baseURLs()), 0o600)
	case "chat":
		return say(os.Getenv("OPENAI_BASE_URL")+"/chat/completions", "Authorization", "Bearer sk-secret")
	case "messages":
		return say(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "x-api-key", "sk-ant-secret")
	case "wait":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		fmt.Println("waiting")
		fmt.Println("got", <-signals)
	case "until":
		fmt.Println("waiting")
		if !fakeapi.Eventually(func() bool { _, err := os.Stat(object); return err == nil }) {
			return fmt.Errorf("there is no %s", object)
		}
	case "die":
		self, _ := os.FindProcess(os.Getpid())
		if err := self.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		select {}
	case "exit":
		code, err := strconv.Atoi(object)
		if err == nil {
			os.Exit(code)
		}
		return err
	}
	return nil
}

func baseURLs() (text string) {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "COPILOT_PROVIDER_BASE_URL",
		"NO_PROXY", "no_proxy"} {
		if value, set := os.LookupEnv(name); set {
			text += name + "=" + value + "\n"
		}
	}
	return text
}

// say posts a request that streams and prints the answer.
func say(url, header, credential string) error {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		return err
	}
	req.Header.Set(header, credential)
	client := http.Client{Timeout: fakeapi.Patience}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Println(resp.Status)
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}
