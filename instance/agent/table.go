package agent

// Deaf is an agent that reads no base URL from the environment.
type Deaf struct {
	Name     string
	Commands []string // by which it is started
	Write    string   // its setting; ADDRESS is epitome's, without a slash at its end
	Where    string
}

// deaf are the agents that are known to be so.
var deaf = []Deaf{
	{"pi", []string{"pi"}, `"baseUrl": "ADDRESS/v1"`, "a provider of `~/.pi/agent/models.json`"},
	{"Cline", []string{"cline"}, "`ADDRESS/v1` as the base URL (`cline auth -b`)", "its provider \"OpenAI Compatible\""},
	{"Continue", []string{"cn", "continue"}, "`apiBase: ADDRESS/v1`", "a model of `~/.continue/config.yaml`"},
	{"Zed", []string{"zed", "zeditor"}, `"openai": {"api_url": "ADDRESS/v1"}`, "`language_models` of its `settings.json`"},
	{"Goose", []string{"goose", "goosed"}, "`OPENAI_HOST: ADDRESS`", "`~/.config/goose/config.yaml`"},
	{"Kilo Code, Roo Code", []string{"kilo", "kilocode", "roo"}, "`ADDRESS/v1` as the base URL",
		"their provider \"OpenAI Compatible\""},
}
