package event

// Code is why something was done to a request or to an item of it, or why nothing was. The set is closed: a code is
// made where the decision is made, and may be a metric label.
type Code string

// NoCode is that there is nothing to give a reason for.
const NoCode Code = ""
