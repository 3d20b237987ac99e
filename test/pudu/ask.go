package main

import (
	"context"

	"github.com/pudu-ai/pudu/tool"
)

type askArgs struct {
	Action string `json:"action" doc:"What is to be done."`
	Target string `json:"target" doc:"To what."`
}

// question has the form of LangChain's human-in-the-loop middleware, which clients know how to show.
type question struct {
	Requests []request `json:"action_requests"`
	Configs  []review  `json:"review_configs"`
}

type request struct {
	Name        string  `json:"name"`
	Args        askedOf `json:"args"`
	Description string  `json:"description"`
}

type askedOf struct {
	Target string `json:"target"`
}

type review struct {
	Action  string   `json:"action_name"`
	Allowed []string `json:"allowed_decisions"`
}

// askHuman is a tool that pauses the run with a question and then tells the model the answer as it came.
func askHuman() (tool.Tool, error) {
	spec := tool.Spec{Name: "ask_human", Description: "Ask before something is done.", Effect: tool.ReadOnly}
	return tool.New(spec, func(_ context.Context, call *tool.Call, in askArgs) (*tool.Result, error) {
		answer, err := call.Ask(question{
			Requests: []request{{Name: in.Action, Args: askedOf{in.Target}, Description: "May I " + in.Action + " " +
				in.Target + "?"}},
			Configs: []review{{Action: in.Action, Allowed: []string{"approve", "edit", "reject"}}},
		})
		if err != nil {
			return nil, err
		}
		return tool.Text(string(answer)), nil
	})
}
