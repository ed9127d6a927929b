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
	return [...]Kind{Other, Reading, Writing, Writing, Writing, Writing, Writing,
		Writing, Writing, Shell, Shell, Searching, Listing, Fetching}[u]
}

// tools has the names, folded. Common words are safe here: without an argument that names a file, nothing is claimed.
var tools = map[string]use{
	"read": showing, "readfile": showing, "readfiles": showing, "readfilerange": showing, "readmanyfiles": showing,
	"readmultiplefiles": showing,
	"readtextfile":      showing, "readmediafile": showing, "readcurrentlyopenfile": showing, "readnotebook": showing,
	"notebookread": showing,
	"view":         showing, "viewfile": showing, "viewimage": showing, "viewcodeitem": showing, "open": showing,
	"openfile": showing, "openentirefile": showing,
	"cat": showing, "fetchfile": showing, "getfilecontents": showing, "getfilecontent": showing,
	"filereadtool": showing, "fileread": showing,
	"showfile": showing,

	"write": saving, "writefile": saving, "writetofile": saving, "writetextfile": saving, "savefile": saving,
	"create": saving, "createfile": saving,
	"createtextfile": saving, "createnewfile": saving, "createorupdatefile": saving, "newfile": saving,
	"overwritefile": saving, "appendfile": saving,
	"filewrite": saving, "filewritetool": saving, "edit": saving, "editfile": saving, "editexistingfile": saving,
	"editblock":    saving,
	"editnotebook": saving, "editnotebookfile": saving, "notebookedit": saving, "multiedit": saving,
	"multieditfile": saving, "editlines": saving,
	"replace": saving, "replacefilecontent": saving, "multireplacefilecontent": saving, "replacestringinfile": saving,
	"multireplacestringinfile": saving, "replaceinfile": saving, "replacelines": saving, "replacecontent": saving,
	"replaceregex":      saving,
	"replacesymbolbody": saving, "searchreplace": saving, "searchandreplace": saving, "singlefindandreplace": saving,
	"findandreplace": saving,
	"strreplace":     saving, "strreplacefile": saving, "insert": saving, "inserteditintofile": saving,
	"insertcontent": saving, "insertatline": saving,
	"insertaftersymbol": saving, "insertbeforesymbol": saving, "deletelines": saving, "applydiff": saving,
	"jsonedittool": saving,
	"undoedit":     saving, "delete": erasing, "deletefile": erasing, "deletepath": erasing, "removefile": erasing,
	"removefiles": erasing, "rm": erasing,
	"updatefile": saving, "modifyfile": saving, "reapply": saving, "fastedit": saving, "morphedit": saving,
	"download": saving,

	"createdirectory": altering, "mkdir": altering, "createdir": altering, "renamesymbol": altering,
	"rename": relocating, "pushfiles": altering,
	"movefile": relocating, "movepath": relocating, "renamefile": relocating, "move": relocating, "mv": relocating,
	"copyfile": copying, "copypath": copying,

	"applypatch": patching, "patch": patching, "applyunifieddiff": patching, "gitapply": patching,

	"strreplaceeditor": editing, "strreplacebasededittool": editing, "texteditor": editing, "fileeditor": editing,
	"editor": editing, "memory": editing,

	"bash": running, "shell": running, "sh": running, "zsh": running, "powershell": running, "pwsh": running,
	"cmd": running, "terminal": running, "bashtool": running,
	"executebash": running, "executecommand": running, "execcommand": running, "exec": running, "execute": running,
	"executeshellcommand": running,
	"shellcommand":        running, "shellexec": running, "localshell": running, "unifiedexec": running, "run": running,
	"runcommand": running, "runcommands": running,
	"runbash": running, "runshell": running, "runshellcommand": running, "runterminalcmd": running,
	"runterminalcommand": running, "runinterminal": running,
	"runcmd": running, "command": running, "launchprocess": running, "startprocess": running,
	"terminalexecute": running, "bashexecute": running,

	"python": computing, "pythoninterpreter": computing, "ipython": computing, "executeipythoncell": computing,
	"runpython":   computing,
	"executecode": computing, "runcode": computing, "codeinterpreter": computing, "executepython": computing,
	"javascript":      computing,
	"runnotebookcell": computing, "writestdin": computing, "bashoutput": computing, "readbash": computing,
	"writebash":  computing,
	"taskoutput": computing, "joboutput": computing, "getterminaloutput": computing, "readcommandoutput": computing,
	"readprocess":       computing,
	"readprocessoutput": computing, "interactwithprocess": computing, "writeprocess": computing,

	"grep": searching, "grepsearch": searching, "grepfiles": searching, "ripgrep": searching, "rg": searching,
	"search":     searching,
	"searchfile": searching, "searchfiles": searching, "searchfilecontent": searching, "searchdir": searching,
	"searchcode":       searching,
	"searchforpattern": searching, "startsearch": searching, "codesearch": searching, "codebasesearch": searching,
	"codebaseretrieval": searching,
	"semanticsearch":    searching, "filesearch": searching, "findsymbol": searching,
	"findreferencingsymbols": searching,
	"listcodeusages":         searching, "sourcegraph": searching, "finder": searching, "websearch": searching,
	"searchweb":       searching,
	"googlewebsearch": searching, "googlesearch": searching, "toolsearch": searching, "lsp": searching,
	"find":           searching,
	"bravewebsearch": searching, "tavilysearch": searching, "exasearch": searching, "websearchexa": searching,
	"githubsearch": searching,

	"ls": listing, "list": listing, "listdir": listing, "listdirectory": listing, "listdirectorywithsizes": listing,
	"listfiles":     listing,
	"directorytree": listing, "tree": listing, "glob": listing, "globfilesearch": listing, "fileglobsearch": listing,
	"findfile":  listing,
	"findfiles": listing, "findbyname": listing, "findpath": listing, "getfileinfo": listing,
	"getsymbolsoverview":      listing,
	"listcodedefinitionnames": listing, "listalloweddirectories": listing, "analyze": listing,

	"fetch": fetching, "webfetch": fetching, "fetchurl": fetching, "fetchurlcontent": fetching,
	"fetchwebpage": fetching, "fetchwebcontent": fetching,
	"readurlcontent": fetching, "readwebpage": fetching, "webread": fetching, "visit": fetching,
	"visitwebpage": fetching, "geturl": fetching,
	"fetchpage": fetching, "getpage": fetching, "getwebpage": fetching, "readurl": fetching, "openurl": fetching,
	"fetchcontent": fetching, "fetchhtml": fetching, "fetchmarkdown": fetching, "fetchtxt": fetching,
	"scrapeurl": fetching, "scrapepage": fetching, "extractcontent": fetching, "webextract": fetching,
	"httprequest": fetching, "firecrawlscrape": fetching, "scrape": fetching, "crawl": fetching,
	"tavilyextract": fetching, "browse": fetching,
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
	anAside // what is done is the same with and without it
)

// argument is the meaning of an argument. Of several with one meaning, that of the lowest rank counts.
type argument struct {
	meaning
	rank uint8
}

// argumentNames has the names of arguments, folded.
var argumentNames = map[string]argument{
	"filepath": {aPath, 0}, "absolutepath": {aPath, 0}, "targetfile": {aPath, 0}, "notebookpath": {aPath, 0},
	"path":         {aPath, 1},
	"relativepath": {aPath, 1}, "relativeworkspacepath": {aPath, 1}, "targetdirectory": {aPath, 1},
	"file": {aPath, 2}, "filename": {aPath, 2},
	"paths": {aPath, 3}, "filepaths": {aPath, 3}, "files": {aPath, 3}, "filenames": {aPath, 3},
	"targetfiles":  {aPath, 3},
	"replacements": {aPath, 4}, "edits": {aPath, 4}, "directorypath": {aPath, 5}, "dirpath": {aPath, 5},
	"searchpath":      {aPath, 5},
	"searchdirectory": {aPath, 5},

	"source": {aSource, 0}, "sourcepath": {aSource, 0}, "oldpath": {aSource, 0}, "src": {aSource, 1},
	"from":        {aSource, 1},
	"destination": {aTarget, 0}, "destinationpath": {aTarget, 0}, "newpath": {aTarget, 0}, "dest": {aTarget, 1},
	"dst": {aTarget, 1},
	"to":  {aTarget, 1}, "target": {aTarget, 1},

	"workdir": {aFolder, 0}, "cwd": {aFolder, 0}, "workingdirectory": {aFolder, 0}, "workingdir": {aFolder, 0},
	"cd":        {aFolder, 0},
	"directory": {aFolder, 1},

	"command": {aCommand, 0}, "cmd": {aCommand, 0}, "commandline": {aCommand, 0}, "shellcommand": {aCommand, 0},
	"script": {aCommand, 1},
	"code":   {aCommand, 2}, "action": {aCommand, 3}, "commands": {aCommandList, 0}, "args": {aWordList, 0},
	"arguments": {aWordList, 0},

	"pattern": {aQuery, 0}, "query": {aQuery, 0}, "regex": {aQuery, 0}, "searchterm": {aQuery, 0},
	"substringpattern":   {aQuery, 0},
	"informationrequest": {aQuery, 0}, "globpattern": {aQuery, 0}, "filepattern": {aQuery, 1},
	"filemask": {aQuery, 1}, "q": {aQuery, 1},
	"queries": {aQuery, 1}, "search": {aQuery, 1}, "keywords": {aQuery, 1}, "namepath": {aQuery, 1},
	"question": {aQuery, 2}, "glob": {aQuery, 3},

	"url": {anAddress, 0}, "urls": {anAddress, 0}, "uri": {anAddress, 1}, "href": {anAddress, 1},
	"link": {anAddress, 1},

	"input": {aPatch, 0}, "patch": {aPatch, 0}, "patchtext": {aPatch, 0}, "diff": {aPatch, 1},

	"offset": {aRange, 0}, "limit": {aRange, 0}, "viewrange": {aRange, 0}, "startline": {aRange, 0},
	"endline":             {aRange, 0},
	"startlineoneindexed": {aRange, 0}, "endlineoneindexedinclusive": {aRange, 0}, "lineoffset": {aRange, 0},
	"nlines":    {aRange, 0},
	"linerange": {aRange, 0}, "lineranges": {aRange, 0}, "linenumber": {aRange, 0}, "line": {aRange, 0},
	"lines": {aRange, 0},
	"head":  {aRange, 0}, "tail": {aRange, 0}, "pages": {aRange, 0}, "page": {aRange, 0},

	"dryrun": {aRehearsal, 0},

	"owner": {aService, 0}, "repo": {aService, 0}, "repository": {aService, 0}, "repositoryfullname": {aService, 0},
	"projectid": {aService, 0}, "branch": {aService, 0}, "fileid": {aService, 0}, "bucket": {aService, 0},

	"sessionid": {aSession, 0}, "bashid": {aSession, 0}, "shellid": {aSession, 0}, "taskid": {aSession, 1},
	"processid": {aSession, 1}, "terminalid": {aSession, 1},

	"chars": {someInput, 0},

	"description": {anAside, 0}, "explanation": {anAside, 0}, "justification": {anAside, 0}, "timeout": {anAside, 0},
	"timeoutms":   {anAside, 0},
	"yieldtimems": {anAside, 0},
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
	if u := tools[string(fold(&buf, name))]; u != unknownUse {
		return u
	}
	rest, server := strings.CutPrefix(name, "mcp_")
	if !server {
		rest, server = strings.CutPrefix(name, "builtin_")
	}
	for server {
		if u := tools[string(fold(&buf, rest))]; u != unknownUse {
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
	return argumentNames[string(fold(&buf, name))]
}
