package rules

// pairs are the types of calls that a client answers, with what the server calls them.
var pairs = []struct{ call, output, noun string }{
	{"function_call", "function_call_output", "function call"},
	{"custom_tool_call", "custom_tool_call_output", "custom tool call"},
	{"local_shell_call", "local_shell_call_output", "local shell call"},
	{"shell_call", "shell_call_output", "shell call"},
	{"apply_patch_call", "apply_patch_call_output", "apply patch call"},
	{"computer_call", "computer_call_output", "computer call"},
	{"tool_search_call", "tool_search_output", "tool search call"},
}

// CheckPairs wants each call answered, once and behind it, and each output called for. Calls and outputs need not
// touch. An output without a call_id stands for itself, and so does a search that the server makes.
func CheckPairs(items []*Item) *Refusal {
	for _, p := range pairs {
		l := ledger{noun: p.noun, called: map[string]*Item{}, answered: map[*Item]bool{}}
		for _, i := range items {
			var refused *Refusal
			switch {
			case i.Kind == p.call:
				refused = l.call(i)
			case i.Kind == p.output && len(i.names()) > 0:
				refused = l.answer(i)
			}
			if refused != nil {
				return refused
			}
		}
		if refused := checkAnswered(items, p.call, p.noun, l.answered); refused != nil {
			return refused
		}
	}
	return nil
}

// ledger has the calls of one type.
type ledger struct {
	noun     string
	called   map[string]*Item // by each of their names
	answered map[*Item]bool
}

func (l ledger) call(i *Item) *Refusal {
	for _, name := range i.names() {
		if l.called[name] != nil {
			return Flaw("input", "", "Duplicate %s found with call_id %s.", l.noun, name)
		}
		l.called[name] = i
	}
	return nil
}

func (l ledger) answer(i *Item) *Refusal {
	name := i.names()[0]
	switch call := l.called[name]; {
	case call == nil && i.Call() == "":
		return Flaw("input", "", "No tool call found for %s output with id %s.", l.noun, name)
	case call == nil:
		return Flaw("input", "", "No tool call found for %s output with call_id %s.", l.noun, name)
	case l.answered[call]:
		return Flaw("input", "", "Duplicate tool output found for %s %s.", l.noun, name)
	default:
		l.answered[call] = true
	}
	return nil
}

// checkAnswered wants all calls of one type answered.
func checkAnswered(items []*Item, kind, noun string, answered map[*Item]bool) *Refusal {
	for _, i := range items {
		if i.Kind == kind && len(i.names()) > 0 && !answered[i] && string(i.Fields["async"]) != "true" {
			return Flaw("input", "", "No tool output found for %s %s.", noun, i.names()[0])
		}
	}
	return nil
}

// names are those by which a call and its output find each other. The output of a local shell has an id alone, which is
// that of its call, or its call_id.
func (i *Item) names() []string {
	var all []string
	if call := i.Call(); call != "" {
		all = append(all, call)
	}
	if id := i.ID(); id != "" && i.isLocalShell() {
		all = append(all, id)
	}
	return all
}

func (i *Item) isLocalShell() bool {
	return i.Kind == "local_shell_call" || i.Kind == "local_shell_call_output"
}
