package prompts

import (
	"fmt"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/config"
)

// turn is what the user does, and what the model answers.
type turn struct {
	name string
	// day is the one on which it happens, counted from the first turn's.
	day             int
	plan, subagents bool
	// say is what the user writes, or reply the answer to the model's question. files is what the client tells of the
	// files that came with it, as JSON.
	say, reply, files string
	// learned are facts that are remembered of the user before the turn; one that begins with a minus is forgotten.
	learned []string
	// skills are those that are switched on before the turn; one that begins with a minus is switched off. One that the
	// program does not bring along is installed.
	skills  []string
	answers []answer
	// said is what the user says while the model works on the answer of that number.
	said map[int]string
	// called is what the user says while the first task is at work, which it waits for.
	called string
}

type answer = wires.Answer

func says(text string) answer                         { return answer{Text: text} }
func does(calls ...wires.Call) answer                 { return answer{Calls: calls} }
func saysAnd(text string, calls ...wires.Call) answer { return answer{Text: text, Calls: calls} }
func use(tool, args string) wires.Call                { return wires.Call{Tool: tool, Args: args} }
func times(n int, a answer) (list []answer) {
	for range n {
		list = append(list, a)
	}
	return list
}

func read(path string) wires.Call {
	return use("read_file", `{"description": "see what it says", "path": "`+path+`"}`)
}

func look(name string) wires.Call {
	return use("view_image", `{"image_path": "/mnt/user-data/uploads/`+name+`"}`)
}

// todos is the plan with the first so many steps done.
func todos(done int) wires.Call {
	steps := []string{"Read the files", "Look at the pictures", "Write the notes", "Write the report", "Show it"}
	list := ""
	for i, s := range steps {
		status := "pending"
		if i < done {
			status = "completed"
		} else if i == done {
			status = "in_progress"
		}
		list += fmt.Sprintf(`{"content": %q, "status": %q}, `, s, status)
	}
	return use("write_todos", `{"todos": [`+list[:len(list)-2]+`]}`)
}

const (
	uploads = "/mnt/user-data/uploads/"
	work    = "/mnt/user-data/workspace/"
	outputs = "/mnt/user-data/outputs/"

	summaryText = "The user wants a one-page report on the harbour from the files in /mnt/user-data/uploads. Read so " +
		"far: draft.md (three " +
		"parts, figures by week), numbers.csv. Seen: chart.png, photo.png. Notes are in " +
		"/mnt/user-data/workspace/notes.md. Open: report, presenting it."
)

// scenario is the conversation: a task of 32 model calls, then five turns that follow it.
func scenario() []turn {
	return []turn{
		{
			name: "task", plan: true, subagents: true, answers: task(),
			say: "Please make a one-page report of my draft and the numbers, with what the two pictures show. " +
				"<b>Short</b>, please.",
			files: `[{"filename": "draft.md"}, {"filename": "numbers.csv"}, {"filename": "chart.png"}, {"filename": ` +
				`"photo.png"}]`,
		}, {
			name: "second question", plan: true, subagents: true, say: "Can you also make a version for the board?",
			learned: []string{"Writes for the board of a harbour"},
			answers: []answer{
				does(read(outputs + "report.md")),
				does(use("ask_clarification", `{"question": "How long may it be?", "clarification_type": `+
					`"missing_info", "options": ["half a page", "two pages"]}`)),
			},
		}, {
			name: "reply, next day", day: 1, plan: true, subagents: true, reply: "half a page",
			answers: []answer{
				does(use("write_file", `{"description": "the short version", "path": "`+outputs+
					`board.md", "content": "# Harbour\n\nMore ships, fewer delays.\n"}`)),
				does(use("present_files", `{"filepaths": ["`+outputs+`board.md"]}`)),
				says("The version for the board is in board.md, half a page."),
			},
		}, {
			name: "plain", day: 1, say: "Thanks! What was the best week?", learned: []string{"Likes short answers"},
			answers: []answer{does(read(uploads + "numbers.csv")), says("Week 31: 164 ships.")},
		}, {
			name: "plan again, going round in circles", day: 1, plan: true, subagents: true,
			say: "Find the letter of the harbour master.", answers: append(times(5, does(search("letter"))),
				says("I searched for the letter again and again and did not find it. It is not in your files.")),
		}, {
			name: "last question", day: 1, plan: true, subagents: true, say: "Then leave it. Good-bye!",
			learned: []string{"-Likes short answers"}, answers: []answer{says("Good-bye!")},
		},
	}
}

func search(what string) wires.Call {
	return use("grep", `{"description": "find it", "pattern": "`+what+`", "path": "/mnt/user-data"}`)
}

// task is the first turn. What is repeated, missing, blank or given up too soon is there for the reminder that it
// brings.
func task() []answer {
	return []answer{
		saysAnd("I will read everything first.", todos(0)),
		does(use("ls", `{"description": "see the files", "path": "/mnt/user-data/uploads"}`), read(uploads+"draft.md")),
		does(read(uploads + "numbers.csv")),
		does(search("delay")),
		does(look("chart.png")),
		does(use("write_file", `{"description": "keep notes", "path": "`+work+
			`notes.md", "content": "# Notes\n\n- ships grow \u2013 see chart\n"}`)),
		does(read("/mnt/skills/public/report/SKILL.md")),
		does(todos(1)),
		does(look("photo.png")),
		does(use("str_replace", `{"description": "add the photo", "path": "`+work+
			`notes.md", "old_str": "see chart", "new_str": "see chart and photo"}`)),
		does(use("list_uploaded_files", `{}`)),
		does(todos(2)),
		does(read(work + "plan-1.md")),
		does(read(work + "plan-2.md")),
		does(read(work + "plan-3.md")),
		does(use("glob", `{"description": "find it", "pattern": "**/*.md", "path": "/mnt/user-data"}`)),
		does(search("quay")),
		does(search("quay")),
		does(search("quay")),
		does(search("quay")),
		saysAnd("The archive has the older figures.", read(uploads+"archive.md")),
		says(" "),
		does(read(work + "notes.md")),
		does(use("str_replace", `{"description": "add a week", "path": "`+work+
			`notes.md", "old_str": "# Notes", "new_str": "# Notes on the harbour"}`)),
		does(todos(3)),
		does(use("write_file", `{"description": "begin the report", "path": "`+outputs+
			`report.md", "content": "# The harbour\n\nShips per week have grown since spring.\n"}`)),
		does(use("write_file", `{"description": "go on", "path": "`+outputs+
			`report.md", "content": "\nDelays have not.\n", "append": true}`)),
		does(read(outputs + "report.md")),
		does(use("present_files", `{"filepaths": ["`+outputs+`report.md"]}`)),
		says("The report is ready."),
		does(todos(5)),
		says("The report is in report.md: one page, with what the pictures show."),
	}
}

// scenarioSettings make the conversation reach a compaction and a warning of its budget.
func scenarioSettings(w wires.Wire) settings {
	cfg := config.Default()
	cfg.Summarization.Enabled, cfg.Summarization.Trigger = true, config.Thresholds{{Type: "tokens", Value: 23_400}}
	cfg.ToolProgress.Enabled = true
	cfg.TokenBudget.Enabled, cfg.TokenBudget.MaxTokens = true, 410_000
	return settings{wire: w, cfg: cfg, vision: true, window: 64_000, files: true}
}
