package action

import (
	"slices"
	"strings"
)

// All that is known of the tools of common agents stands in this file: what a tool of a name is for, and what an
// argument of a name says.

// Kind is what a tool is for.
type Kind uint8

// The kinds of tools; one that is not known is another one.
const (
	Other Kind = iota
	Reading
	Writing // and patching, moving and deleting
	Shell
	Searching
	Listing
	Fetching // from the web
)

func (k Kind) String() string {
	return [...]string{"other", "reading", "writing", "shell", "searching", "listing", "fetching"}[k]
}

// use is what a tool does with the files that its arguments name.
type use uint8

const (
	unknownUse use = iota
	showing        // it shows them
	saving         // it writes them
	erasing        // it deletes them
	altering       // it writes files, but not which ones can be seen
	relocating     // it takes the source away and writes the target
	copying        // it writes the target
	patching       // they stand in a patch
	editing        // its argument command says whether it shows or saves them
	running        // a shell does it
	computing      // a program does it that is no shell, or one that runs already
	searching
	listing
	fetching
)

// kind returns what such a tool is for; one that edits may be for reading too.
func (u use) kind() Kind {
	switch u {
	case showing:
		return Reading
	case saving, erasing, altering, relocating, copying, patching, editing:
		return Writing
	case running, computing:
		return Shell
	case searching:
		return Searching
	case listing:
		return Listing
	case fetching:
		return Fetching
	}
	return Other
}

// useNamed is what a tool of this name, folded, does. Common words are safe here: without an argument that names a
// file, nothing is claimed.
func useNamed(name []byte) use {
	switch string(name) {
	case "read", "readfile", "readfiles", "readfilerange", "readmanyfiles", "readmultiplefiles", "readtextfile",
		"readmediafile", "readcurrentlyopenfile", "readnotebook", "notebookread", "view", "viewfile", "viewimage",
		"viewcodeitem", "open", "openfile", "openentirefile", "cat", "fetchfile", "getfilecontents",
		"getfilecontent", "filereadtool", "fileread", "showfile":
		return showing
	case "write", "writefile", "writetofile", "writetextfile", "savefile", "create", "createfile", "createtextfile",
		"createnewfile", "createorupdatefile", "newfile", "overwritefile", "appendfile", "filewrite",
		"filewritetool", "edit", "editfile", "editexistingfile", "editblock", "editnotebook", "editnotebookfile",
		"notebookedit", "multiedit", "multieditfile", "editlines", "replace", "replacefilecontent",
		"multireplacefilecontent", "replacestringinfile", "multireplacestringinfile", "replaceinfile",
		"replacelines", "replacecontent", "replaceregex", "replacesymbolbody", "searchreplace", "searchandreplace",
		"singlefindandreplace", "findandreplace", "strreplace", "strreplacefile", "insert", "inserteditintofile",
		"insertcontent", "insertatline", "insertaftersymbol", "insertbeforesymbol", "deletelines", "applydiff",
		"jsonedittool", "undoedit", "updatefile", "modifyfile", "reapply", "fastedit", "morphedit", "download":
		return saving
	case "delete", "deletefile", "deletepath", "removefile", "removefiles", "rm":
		return erasing
	case "createdirectory", "mkdir", "createdir", "renamesymbol", "pushfiles":
		return altering
	case "rename", "movefile", "movepath", "renamefile", "move", "mv":
		return relocating
	case "copyfile", "copypath":
		return copying
	case "applypatch", "patch", "applyunifieddiff", "gitapply":
		return patching
	case "strreplaceeditor", "strreplacebasededittool", "texteditor", "fileeditor", "editor", "memory":
		return editing
	case "bash", "shell", "sh", "zsh", "powershell", "pwsh", "cmd", "terminal", "bashtool", "executebash",
		"executecommand", "execcommand", "exec", "execute", "executeshellcommand", "shellcommand", "shellexec",
		"localshell", "unifiedexec", "run", "runcommand", "runcommands", "runbash", "runshell", "runshellcommand",
		"runterminalcmd", "runterminalcommand", "runinterminal", "runcmd", "command", "launchprocess",
		"startprocess", "terminalexecute", "bashexecute":
		return running
	case "python", "pythoninterpreter", "ipython", "executeipythoncell", "runpython", "executecode", "runcode",
		"codeinterpreter", "executepython", "javascript", "runnotebookcell", "writestdin", "bashoutput", "readbash",
		"writebash", "taskoutput", "joboutput", "getterminaloutput", "readcommandoutput", "readprocess",
		"readprocessoutput", "interactwithprocess", "writeprocess":
		return computing
	case "grep", "grepsearch", "grepfiles", "ripgrep", "rg", "search", "searchfile", "searchfiles",
		"searchfilecontent", "searchdir", "searchcode", "searchforpattern", "startsearch", "codesearch",
		"codebasesearch", "codebaseretrieval", "semanticsearch", "filesearch", "findsymbol",
		"findreferencingsymbols", "listcodeusages", "sourcegraph", "finder", "websearch", "searchweb",
		"googlewebsearch", "googlesearch", "toolsearch", "lsp", "find", "bravewebsearch", "tavilysearch",
		"exasearch", "websearchexa", "githubsearch":
		return searching
	case "ls", "list", "listdir", "listdirectory", "listdirectorywithsizes", "listfiles", "directorytree", "tree",
		"glob", "globfilesearch", "fileglobsearch", "findfile", "findfiles", "findbyname", "findpath",
		"getfileinfo", "getsymbolsoverview", "listcodedefinitionnames", "listalloweddirectories", "analyze":
		return listing
	case "fetch", "webfetch", "fetchurl", "fetchurlcontent", "fetchwebpage", "fetchwebcontent", "readurlcontent",
		"readwebpage", "webread", "visit", "visitwebpage", "geturl", "fetchpage", "getpage", "getwebpage",
		"readurl", "openurl", "fetchcontent", "fetchhtml", "fetchmarkdown", "fetchtxt", "scrapeurl", "scrapepage",
		"extractcontent", "webextract", "httprequest", "firecrawlscrape", "scrape", "crawl", "tavilyextract",
		"browse":
		return fetching
	}
	return unknownUse
}

// meaning is what an argument is.
type meaning uint8

const (
	noMeaning meaning = iota
	aPath             // of a file, or a list of such
	aSource
	aTarget
	aFolder // in which a command runs
	aCommand
	aCommandList // a list of them, one after the other
	aWordList    // of the command
	aQuery
	anAddress
	aPatch
	aRange // which part of a file is wanted
	aRehearsal
	aService // the files are in a service's keeping and not on the disk
	aSession // a command that runs already
	someInput
	aMode    // how a file is written
	anAppend // what is there stays, and the rest comes behind it
	anAside  // what is done is the same with and without it

	meanings // how many there are
)

// argument is the meaning of an argument. Of several with one meaning, that of the lowest rank counts.
type argument struct {
	meaning
	rank uint8
}

// argumentNamed is what an argument of this name, folded, means.
func argumentNamed(name []byte) argument {
	switch string(name) {
	case "filepath", "absolutepath", "targetfile", "notebookpath":
		return argument{aPath, 0}
	case "path", "relativepath", "relativeworkspacepath", "targetdirectory":
		return argument{aPath, 1}
	case "file", "filename":
		return argument{aPath, 2}
	case "paths", "filepaths", "files", "filenames", "targetfiles":
		return argument{aPath, 3}
	case "replacements", "edits":
		return argument{aPath, 4}
	case "directorypath", "dirpath", "searchpath", "searchdirectory":
		return argument{aPath, 5}
	case "source", "sourcepath", "oldpath":
		return argument{aSource, 0}
	case "src", "from":
		return argument{aSource, 1}
	case "destination", "destinationpath", "newpath":
		return argument{aTarget, 0}
	case "dest", "dst", "to", "target":
		return argument{aTarget, 1}
	case "workdir", "cwd", "workingdirectory", "workingdir", "cd":
		return argument{aFolder, 0}
	case "directory":
		return argument{aFolder, 1}
	case "command", "cmd", "commandline", "shellcommand":
		return argument{aCommand, 0}
	case "script":
		return argument{aCommand, 1}
	case "code":
		return argument{aCommand, 2}
	case "action":
		return argument{aCommand, 3}
	case "commands":
		return argument{aCommandList, 0}
	case "args", "arguments":
		return argument{aWordList, 0}
	case "pattern", "query", "regex", "searchterm", "substringpattern", "informationrequest", "globpattern":
		return argument{aQuery, 0}
	case "filepattern", "filemask", "q", "queries", "search", "keywords", "namepath":
		return argument{aQuery, 1}
	case "question":
		return argument{aQuery, 2}
	case "glob":
		return argument{aQuery, 3}
	case "url", "urls":
		return argument{anAddress, 0}
	case "uri", "href", "link":
		return argument{anAddress, 1}
	case "input", "patch", "patchtext":
		return argument{aPatch, 0}
	case "diff":
		return argument{aPatch, 1}
	case "offset", "limit", "viewrange", "startline", "endline", "startlineoneindexed",
		"endlineoneindexedinclusive", "lineoffset", "nlines", "linerange", "lineranges", "linenumber", "line",
		"lines", "head", "tail", "pages", "page":
		return argument{aRange, 0}
	case "dryrun":
		return argument{aRehearsal, 0}
	case "owner", "repo", "repository", "repositoryfullname", "projectid", "branch", "fileid", "bucket":
		return argument{aService, 0}
	case "sessionid", "bashid", "shellid":
		return argument{aSession, 0}
	case "taskid", "processid", "terminalid":
		return argument{aSession, 1}
	case "chars":
		return argument{someInput, 0}
	case "mode", "writemode":
		return argument{aMode, 0}
	case "append", "isappend", "appendmode":
		return argument{anAppend, 0}
	case "description", "explanation", "justification", "timeout", "timeoutms", "yieldtimems":
		return argument{anAside, 0}
	}
	return argument{}
}

// longestName is how many bytes a folded name may have to be looked up.
const longestName = 48

// fold writes a name as the tables have it: read_file, read-file and ReadFile are one. A name that is too long is none.
func fold[T string | []byte](buf *[longestName]byte, name T) []byte {
	n := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == ' ':
			continue
		case n == len(buf):
			return nil
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		buf[n] = c
		n++
	}
	return buf[:n]
}

// useOf finds a tool by the last segment of its name. Where servers are set before it by a single underscore, the
// longest known ending counts.
func useOf(name string) use {
	name = ownName(name)
	var buf [longestName]byte
	if u := useNamed(fold(&buf, name)); u != unknownUse {
		return u
	}
	rest, server := strings.CutPrefix(name, "mcp_")
	if !server {
		rest, server = strings.CutPrefix(name, "builtin_")
	}
	for server {
		if u := useNamed(fold(&buf, rest)); u != unknownUse {
			return u
		}
		_, rest, server = strings.Cut(rest, "_")
	}
	return unknownUse
}

// ownName is a tool's name without that of its server, as far as signs part them.
func ownName(name string) string {
	name = name[strings.LastIndexAny(name, "./:")+1:]
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	return name
}

// replacesFiles reports whether a tool that saves files puts others in their place, and does not edit them.
func replacesFiles(name string) bool {
	var buf [longestName]byte
	folded := string(fold(&buf, ownName(name)))
	return slices.ContainsFunc([]string{"write", "create", "save", "newfile"},
		func(s string) bool { return strings.Contains(folded, s) })
}

// argumentOf returns what an argument of this name means.
func argumentOf(name []byte) argument {
	var buf [longestName]byte
	return argumentNamed(fold(&buf, name))
}
