package stamp

import "strings"

// CutRank returns a line without the rank of the process before it that wrote it: [rank3]: of PyTorch. isRanked says
// that there was one.
func CutRank(line string) (rest string, isRanked bool) {
	line = strings.TrimLeft(line, " \t")
	n := 0
	if strings.HasPrefix(line, "[") {
		n = rankLen(line)
	}
	return strings.TrimLeft(line[n:], " \t"), n > 0
}

// rankLen returns the length of the rank of a process: [rank3]:
func rankLen(s string) int {
	const start = "[rank"
	if !strings.HasPrefix(s, start) {
		return 0
	}
	n := len(start) + digitsIn(s[len(start):])
	if n == len(start) || !strings.HasPrefix(s[n:], "]:") {
		return 0
	}
	return n + len("]:")
}

// processLen returns the length of the name of a process with its number: (RayTrainWorker pid=4242, ip=10.2.0.7)
func processLen(s string) int {
	const longest = 100
	end := strings.IndexByte(s[:min(len(s), longest)], ')')
	at := strings.Index(s[:max(end, 0)], " pid=")
	if at < 0 || strings.IndexByte(s[:at], ' ') >= 0 || end+1 >= len(s) || s[end+1] != ' ' {
		return 0
	}
	at += len(" pid=")
	rest := s[at+digitsIn(s[at:]) : end]
	if rest != "" && !strings.HasPrefix(rest, ", ip=") {
		return 0
	}
	return end + 1
}

// kernelLen returns the length of a host's name with the kernel's behind it, as they stand behind a time.
func kernelLen(s string) int {
	const name, longest = " kernel: ", 80
	if s == "" || s[0] != ' ' {
		return 0
	}
	at := strings.Index(s[:min(len(s), longest)], name)
	if at < 2 || strings.IndexByte(s[1:at], ' ') >= 0 {
		return 0
	}
	return at + len(name) - 1
}

// logcatLen returns the length of what Android's log puts before a message: a date without a year, a time, a process,
// a thread, and, of errors, their level and their tag.
func logcatLen(s string) int {
	const stamp, longest = len("11-20 09:31:15.001"), 80
	if len(s) <= stamp || s[2] != '-' || s[5] != ' ' || s[8] != ':' || s[11] != ':' || s[14] != '.' {
		return 0
	}
	i := stamp
	for range 2 { // of the process, and of the thread
		n := spacesIn(s[i:])
		k := digitsIn(s[i+n:])
		if n == 0 || k == 0 {
			return 0
		}
		i += n + k
	}
	if i+3 >= len(s) || s[i] != ' ' || strings.IndexByte("VDIWEF", s[i+1]) < 0 || s[i+2] != ' ' {
		return 0
	}
	if s[i+1] == 'E' || s[i+1] == 'F' {
		if end := strings.Index(s[i:min(len(s), i+longest)], ": "); end > 0 {
			return i + end + 1
		}
	}
	return i
}

// levelLen returns the length of a level, a time and a place that stand before each line of a trace, as vLLM has them:
// ERROR 11-20 09:31:19 [core.py:390]   File "x.py". Before what is no line of a trace they are left.
func levelLen(s string) int {
	const start, longest = "ERROR ", 80
	if !strings.HasPrefix(s, start) || len(s) < len(start)+16 || s[8] != '-' || s[14] != ':' || s[17] != ':' {
		return 0
	}
	end := strings.Index(s[:min(len(s), longest)], "]   ")
	if end < 0 || strings.IndexByte(s[:end], '[') != len("ERROR 11-20 09:31:19 ") {
		return 0
	}
	return end + 1
}

// halfDayLen returns the length of a time of day of twelve hours, with a dash behind it: 9:41:05 AM -
func halfDayLen(s string) int {
	n := digitsIn(s)
	if n > 2 || len(s) < n+11 || s[n] != ':' || s[n+3] != ':' || digitsIn(s[n+4:]) != 2 {
		return 0
	}
	if half := s[n+6 : n+9]; half != " AM" && half != " PM" {
		return 0
	}
	n += len(":41:05 AM")
	if !strings.HasPrefix(s[n:], " - ") {
		return 0
	}
	return n + len(" -")
}

// spacesIn returns how many spaces stand at the beginning.
func spacesIn(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
