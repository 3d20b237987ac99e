//go:build linux

package longrun

import (
	"fmt"
	"strings"
)

// step is one answer of the model.
type step struct {
	say   string
	calls []call // none: the turn ends
	// killed says that the server is killed while the model gives this answer, or while the call of it runs. Then the
	// answer is given again, or the call gets a result that says that its outcome is not known.
	killed killed
	// ends says that the run ends with this step.
	ends bool
}

type killed string

const (
	speaking killed = "while the model speaks"
	working  killed = "while a command runs"
)

type call struct {
	tool string
	args map[string]any
	// want stands in the result.
	want    string
	refused bool // the result is an error
}

// id is that of a call of a step.
func id(step, i int) string { return fmt.Sprintf("call_%02d_%d", step, i) }

const (
	workspace = "/mnt/user-data/workspace/"
	uploads   = "/mnt/user-data/uploads/"
	outputs   = "/mnt/user-data/outputs/"

	parts      = 7
	protocol   = 200 // lines that a command prints for each
	killedPart = 3   // the one in which the model is cut off
)

// question is what the model asks the user.
const question = "How shall the summary be signed?"

// request is what the user asks for.
const request = "Compile the survey report from my notes, part by part, and publish it."

// todos are the items of the plan.
func todos() []string {
	return []string{"Look at the uploads", "Write the parts", "Deploy the preview", "Publish the report",
		"Present the result"}
}

// plan writes the plan with so many items done.
func plan(done int) call {
	var items []map[string]string
	for i, text := range todos() {
		status := "pending"
		if i < done {
			status = "completed"
		} else if i == done {
			status = "in_progress"
		}
		items = append(items, map[string]string{"content": text, "status": status})
	}
	return use("write_todos", fmt.Sprintf("%d completed", done), args{"todos": items})
}

type args = map[string]any

func use(tool, want string, with args) call { return call{tool: tool, args: with, want: want} }

func bash(command, want string) call {
	return use("bash", want, args{"description": "work", "command": command})
}

func read(path, want string) call {
	return use("read_file", want, args{"description": "read", "path": path})
}

func ls(path, want string) call {
	return use("ls", want, args{"description": "look", "path": path})
}

func replace(path, old, with string) call {
	return use("str_replace", "", args{"description": "correct", "path": path, "old_str": old, "new_str": with})
}

func view(name string) call {
	return use("view_image", "Successfully read image", args{"image_path": uploads + name})
}

// script is all that the model does, in three runs: to the approval, to the question, to the end.
func script() (steps []step) {
	do := func(say string, calls ...call) *step {
		steps = append(steps, step{say: say, calls: calls})
		return &steps[len(steps)-1]
	}
	do("I plan the work.", plan(0))
	do("", ls(uploads, "notes.txt"), ls(outputs, ""))
	do("", read(uploads+"notes.txt", "interview 40"))
	do("The guide says what the report must have.", read(uploads+"survey guide.md", "Structure"))
	do("", view("chart.png"))
	do("", view("photo.png"))
	do("", plan(1))
	do("The shape of the parts first.", bash("seq -f 'raw measurement %05g of the survey' 1 400",
		"raw measurement 00001"))
	for n := 1; n <= parts; n++ {
		writePart(do, n)
	}
	do("All parts are there.", plan(2),
		use("glob", "part-7.md", args{"description": "parts", "pattern": "part-*.md", "path": workspace}))
	do("I deploy the preview.", bash("echo begun >> deploy.log; sleep 600; echo finished >> deploy.log",
		"")).killed = working
	do("I see how far that came.", bash("cat deploy.log; ls", "begun"))
	do("It began and did not finish; I leave it at that.", plan(3))
	do("The chart once more, it is not in sight any more.", view("chart.png"))
	push := fmt.Sprintf("cd %s; git push origin main; echo pushed >> %spushed.txt; cat %[2]spushed.txt", workspace,
		outputs)
	do("Now I publish.", bash("echo ready >> ready.log; cat ready.log", "ready"), bash(push, "pushed")).ends = true

	do("", read(outputs+"report.md", "Part 7"))
	do("", plan(4))
	do("One thing is open.", use("ask_clarification", question, args{
		"question": question, "clarification_type": "approach_choice", "options": []string{"By the team", "By name"},
	})).ends = true

	summary := outputs + "summary.md"
	do("", use("write_file", "",
		args{"description": "sum up", "path": summary, "content": "# Summary\n\nSeven parts. Signed: DRAFT\n"}))
	do("", use("list_uploaded_files", "survey guide.md", args{}),
		use("write_file", "", args{"description": "thanks", "path": summary, "content": "\nThanks to all.\n",
			"append": true}))
	do("", replace(summary, "DRAFT", "by name"))
	do("", read(summary, "Signed: by name"))
	do("", plan(5))
	do("", use("present_files", "Successfully presented files",
		args{"filepaths": []string{outputs + "report.md", summary}}))
	do("The report has seven parts and is published; the summary is signed by name.").ends = true
	return steps
}

// writePart are the steps for one part of the report: it is written, read, corrected, and added to the report with a
// long protocol of it.
func writePart(do func(string, ...call) *step, n int) {
	path := fmt.Sprintf("%spart-%d.md", workspace, n)
	lines := fmt.Sprintf("{ echo '# Part %d DRAFT'; seq -f 'Finding %[1]d.%%g: the reading was steady.' 1 12; } > %s; wc -l %[2]s", n, path)
	write := do(fmt.Sprintf("I write part %d of the report, from the notes of that day.", n), bash(lines, "13 "))
	if n == killedPart {
		write.killed = speaking
	}
	if n == 2 { // the file was made by a command and not read
		careless := replace(path, " DRAFT", "")
		careless.want, careless.refused = "have not read", true
		do("", careless)
	}
	do("", read(path, fmt.Sprintf("Finding %d.12", n)))
	do("", replace(path, " DRAFT", ""))
	add := fmt.Sprintf("cat %s >> %sreport.md; seq -f 'checked line %%g of part %d against the notes' 1 %d", path,
		outputs, n, protocol)
	do(fmt.Sprintf("Part %d goes into the report.", n), bash(add, fmt.Sprintf("checked line 1 of part %d", n)))
	do("", use("grep", fmt.Sprintf("Finding %d.11", n), args{
		"description": "check", "pattern": fmt.Sprintf("^Finding %d\\.1[0-2]", n), "path": outputs + "report.md",
	}))
}

// report is what the file must hold in the end.
func report() string {
	var b strings.Builder
	for n := 1; n <= parts; n++ {
		fmt.Fprintf(&b, "# Part %d\n", n)
		for i := 1; i <= 12; i++ {
			fmt.Fprintf(&b, "Finding %d.%d: the reading was steady.\n", n, i)
		}
	}
	return b.String()
}
