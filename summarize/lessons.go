package summarize

import (
	"strings"

	"epitome/inject"
	"epitome/summarize/prose"
)

// lessons are what an answer says for later sessions, and the memory that keeps it.
type lessons struct {
	memory *inject.Memory // nil if nothing is learned
	owner  inject.Owner
	said   inject.Learned
}

// learn has a transcript's question also ask what later sessions need to know, where there is a memory for it.
func (j *job) learn() {
	owner := inject.Owner{Scope: j.question.Scope, Project: inject.ProjectName(j.question.Project)}
	if j.deps.Memory == nil || owner.Project == "" || j.way != prose.WayTranscript {
		return
	}
	memory := j.deps.Memory()
	if memory == nil {
		return
	}
	known, err := memory.Read(owner)
	if err != nil {
		j.deps.Log.Warn("nothing is learned of a session", "why", err.Error())
		return
	}
	j.lessons = lessons{memory: memory, owner: owner}
	j.prompt.Learns, j.prompt.Notes = true, known.Inventory()
	j.prompt.Tag = tagFor(&j.question, j.prompt.Notes)
}

// hear reads what an answer says for later sessions: one section behind those of the summary.
func (j *job) hear(said string, isCut bool) {
	said = sections(said, append(headings(), inject.Heading))[inject.Heading]
	if isCut { // the last line may not be whole
		said = said[:strings.LastIndex(said, "\n")+1]
	}
	j.lessons.said = inject.ParseLearned(said)
}

// keepLessons puts what was said into the memory. If that fails, later sessions do not know it.
func (j *job) keepLessons() {
	if j.lessons.memory == nil || j.lessons.said.IsEmpty() {
		return
	}
	if err := j.lessons.memory.Learn(j.lessons.owner, j.lessons.said); err != nil {
		j.deps.Log.Warn("what was learned of a session is lost", "why", err.Error())
	}
}
