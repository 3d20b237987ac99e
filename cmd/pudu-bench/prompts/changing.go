package prompts

import (
	"fmt"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/config"
)

// reuseGoal is how much of what is sent in the changing conversation should begin like the request before, in percent,
// the first request of all included.
const reuseGoal = 95

// give gives a task to a sub-agent.
func give(what string, background bool) wires.Call {
	return use("task",
		fmt.Sprintf(`{"description": %q, "prompt": "Read /mnt/user-data/uploads/numbers.csv and report: %[1]s.", `+
			`"subagent_type": "general-purpose", "background": %t}`, what, background))
}

func write(name, text string) wires.Call {
	return use("write_file", `{"description": "write it down", "path": "`+outputs+name+`", "content": "`+text+`"}`)
}

// changing is a conversation in which all that may change does: facts are learned and forgotten, skills are switched
// off and on, installed and named, tasks are given away, waited for and left in the background, and the user speaks to
// the run at work.
func changing() []turn {
	turns := []turn{
		{
			name: "a task given away", learned: aboutUser, say: "Which week was the best, and which the worst?",
			answers: []answer{
				does(use("ls", `{"description": "see the files", "path": "/mnt/user-data/uploads"}`)),
				does(read(uploads+"numbers.csv"), give("best and worst week", false)),
				does(write("weeks.md", "# Weeks\\n\\nBest: 31. Worst: 34.\\n")),
				does(read(outputs + "weeks.md")),
				says("Week 31 was the best, week 34 the worst."),
			},
		}, {
			name: "a fact learned, a skill named", learned: []string{"Reads the weekly numbers on Fridays"},
			say: "/data-analysis what is the median?",
			answers: []answer{
				does(read(uploads + "numbers.csv")), does(search("31,")), does(search("34,")),
				says("The median is 128 ships a week."),
			},
		}, {
			name: "a fact forgotten, a skill off, a task behind", learned: []string{"-Likes sailing"},
			skills: []string{"-charts"},
			say:    "Look for outliers in the background, and meanwhile begin the letter.",
			answers: []answer{
				does(give("outliers", true)),
				does(write("letter.md", "Dear all,\\n")),
				does(read(outputs + "letter.md")),
				says("The letter is begun."), // then it waits
				does(use("str_replace", `{"description": "say it", "path": "`+outputs+
					`letter.md", "old_str": "Dear all,", "new_str": "Dear all, the worst week was 34."}`)),
				says("The letter names the outlier."),
			},
			said: map[int]string{2: "In English, please.", 3: "And short."},
		}, {
			name: "a skill installed and named, a skill on", skills: []string{"letters", "charts"},
			say: "/letters go over it again",
			answers: []answer{
				does(read(outputs + "letter.md")),
				does(write("letter.md", "Dear board, quay 4 stays closed.\\n")),
				does(read(outputs + "letter.md")),
				says("It begins with what the board has to decide."),
			},
			said: map[int]string{1: "The board decides on quay 4."},
		}, {
			name: "spoken to while it waits for tasks", learned: []string{"-Reads the weekly numbers on Fridays",
				"Reads the weekly numbers on Mondays"}, say: "Compare the quays.", called: "Leave out quay 4.",
			answers: []answer{
				does(give("ships by quay", false), give("delays by quay", false)),
				does(read(uploads + "numbers.csv")),
				says("I have the numbers of six quays."), // then it waits for what is left
				says("The numbers do not tell the quays apart."),
			},
		}, {
			name: "a skill gone while it was in use", skills: []string{"-letters"},
			say: "Thank you. Show me both files.",
			answers: []answer{
				does(use("present_files", `{"filepaths": ["`+outputs+`letter.md", "`+outputs+`weeks.md"]}`)),
				says("Here they are."),
			},
			said: map[int]string{1: "No hurry."},
		}, {
			name: "the next day, a skill named again", day: 1, learned: []string{"Is back from Shanghai"},
			say: "/data-analysis and the mean?", answers: []answer{does(read(uploads + "numbers.csv")),
				does(search("128")), says("130 ships a week.")},
		},
	}
	for i := range turns {
		turns[i].subagents = true
	}
	return turns
}

// changingSettings are those of the defaults, but that no model reviews the skill, and a toolbox.
func changingSettings(w wires.Wire) settings {
	cfg := config.Default()
	cfg.SkillEvolution.FailClosed = false
	return settings{wire: w, cfg: cfg, window: 200_000, files: true, toolbox: packages}
}
