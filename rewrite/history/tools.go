package history

import (
	"strings"
)

// All that is known of the tools of common agents stands in this file: what a tool of a name is for, and what an
// argument of a name says.

// Kind is what a tool is for.
type Kind uint8

// The kinds of tools; one that is not known is another one.
const (
	KindOther Kind = iota
	KindReading
	KindWriting // and patching, moving and deleting
	KindShell
	KindSearching
	KindListing
	KindFetching // from the web
)

func (k Kind) String() string {
	return [...]string{"other", "reading", "writing", "shell", "searching", "listing", "fetching"}[k]
}

// use is what a tool does with the files that its arguments name.
type use uint8

const (
	unknown   use = iota
	shows         // it shows them
	saves         // it writes them, or deletes them
	alters        // it writes files, but not which ones can be seen
	relocates     // it takes the source away and writes the target
	copies        // it writes the target
	patches       // they stand in a patch
	edits         // its argument command says whether it shows or saves them
	runs          // a shell does it
	computes      // a program does it that is no shell, or one that runs already
	searches
	lists
	fetches
)

// kind is what such a tool is for; one that edits may be for reading too.
func (u use) kind() Kind {
	return [...]Kind{KindOther, KindReading, KindWriting, KindWriting, KindWriting, KindWriting, KindWriting, KindWriting, KindShell, KindShell, KindSearching, KindListing, KindFetching}[u]
}

// tools has the names, folded. Common words are safe here: without an argument that names a file, nothing is claimed.
var tools = map[string]use{
	"read": shows, "readfile": shows, "readfiles": shows, "readfilerange": shows, "readmanyfiles": shows, "readmultiplefiles": shows,
	"readtextfile": shows, "readmediafile": shows, "readcurrentlyopenfile": shows, "readnotebook": shows, "notebookread": shows,
	"view": shows, "viewfile": shows, "viewimage": shows, "viewcodeitem": shows, "open": shows, "openfile": shows, "openentirefile": shows,
	"cat": shows, "fetchfile": shows, "getfilecontents": shows, "getfilecontent": shows, "filereadtool": shows, "fileread": shows,
	"showfile": shows,

	"write": saves, "writefile": saves, "writetofile": saves, "writetextfile": saves, "savefile": saves, "create": saves, "createfile": saves,
	"createtextfile": saves, "createnewfile": saves, "createorupdatefile": saves, "newfile": saves, "overwritefile": saves, "appendfile": saves,
	"filewrite": saves, "filewritetool": saves, "edit": saves, "editfile": saves, "editexistingfile": saves, "editblock": saves,
	"editnotebook": saves, "editnotebookfile": saves, "notebookedit": saves, "multiedit": saves, "multieditfile": saves, "editlines": saves,
	"replace": saves, "replacefilecontent": saves, "multireplacefilecontent": saves, "replacestringinfile": saves,
	"multireplacestringinfile": saves, "replaceinfile": saves, "replacelines": saves, "replacecontent": saves, "replaceregex": saves,
	"replacesymbolbody": saves, "searchreplace": saves, "searchandreplace": saves, "singlefindandreplace": saves, "findandreplace": saves,
	"strreplace": saves, "strreplacefile": saves, "insert": saves, "inserteditintofile": saves, "insertcontent": saves, "insertatline": saves,
	"insertaftersymbol": saves, "insertbeforesymbol": saves, "deletelines": saves, "applydiff": saves, "jsonedittool": saves,
	"undoedit": saves, "delete": saves, "deletefile": saves, "deletepath": saves, "removefile": saves, "removefiles": saves, "rm": saves,
	"updatefile": saves, "modifyfile": saves, "reapply": saves, "fastedit": saves, "morphedit": saves, "download": saves,

	"createdirectory": alters, "mkdir": alters, "createdir": alters, "renamesymbol": alters, "rename": relocates, "pushfiles": alters,
	"movefile": relocates, "movepath": relocates, "renamefile": relocates, "move": relocates, "mv": relocates, "copyfile": copies, "copypath": copies,

	"applypatch": patches, "patch": patches, "applyunifieddiff": patches, "gitapply": patches,

	"strreplaceeditor": edits, "strreplacebasededittool": edits, "texteditor": edits, "fileeditor": edits, "editor": edits, "memory": edits,

	"bash": runs, "shell": runs, "sh": runs, "zsh": runs, "powershell": runs, "pwsh": runs, "cmd": runs, "terminal": runs, "bashtool": runs,
	"executebash": runs, "executecommand": runs, "execcommand": runs, "exec": runs, "execute": runs, "executeshellcommand": runs,
	"shellcommand": runs, "shellexec": runs, "localshell": runs, "unifiedexec": runs, "run": runs, "runcommand": runs, "runcommands": runs,
	"runbash": runs, "runshell": runs, "runshellcommand": runs, "runterminalcmd": runs, "runterminalcommand": runs, "runinterminal": runs,
	"runcmd": runs, "command": runs, "launchprocess": runs, "startprocess": runs, "terminalexecute": runs, "bashexecute": runs,

	"python": computes, "pythoninterpreter": computes, "ipython": computes, "executeipythoncell": computes, "runpython": computes,
	"executecode": computes, "runcode": computes, "codeinterpreter": computes, "executepython": computes, "javascript": computes,
	"runnotebookcell": computes, "writestdin": computes, "bashoutput": computes, "readbash": computes, "writebash": computes,
	"taskoutput": computes, "joboutput": computes, "getterminaloutput": computes, "readcommandoutput": computes, "readprocess": computes,
	"readprocessoutput": computes, "interactwithprocess": computes, "writeprocess": computes,

	"grep": searches, "grepsearch": searches, "grepfiles": searches, "ripgrep": searches, "rg": searches, "search": searches,
	"searchfile": searches, "searchfiles": searches, "searchfilecontent": searches, "searchdir": searches, "searchcode": searches,
	"searchforpattern": searches, "startsearch": searches, "codesearch": searches, "codebasesearch": searches, "codebaseretrieval": searches,
	"semanticsearch": searches, "filesearch": searches, "findsymbol": searches, "findreferencingsymbols": searches,
	"listcodeusages": searches, "sourcegraph": searches, "finder": searches, "websearch": searches, "searchweb": searches,
	"googlewebsearch": searches, "googlesearch": searches, "toolsearch": searches, "lsp": searches, "find": searches,
	"bravewebsearch": searches, "tavilysearch": searches, "exasearch": searches, "websearchexa": searches, "githubsearch": searches,

	"ls": lists, "list": lists, "listdir": lists, "listdirectory": lists, "listdirectorywithsizes": lists, "listfiles": lists,
	"directorytree": lists, "tree": lists, "glob": lists, "globfilesearch": lists, "fileglobsearch": lists, "findfile": lists,
	"findfiles": lists, "findbyname": lists, "findpath": lists, "getfileinfo": lists, "getsymbolsoverview": lists,
	"listcodedefinitionnames": lists, "listalloweddirectories": lists, "analyze": lists,

	"fetch": fetches, "webfetch": fetches, "fetchurl": fetches, "fetchurlcontent": fetches, "fetchwebpage": fetches, "fetchwebcontent": fetches,
	"readurlcontent": fetches, "readwebpage": fetches, "webread": fetches, "visit": fetches, "visitwebpage": fetches, "geturl": fetches,
	"httprequest": fetches, "firecrawlscrape": fetches, "scrape": fetches, "crawl": fetches, "tavilyextract": fetches, "browse": fetches,
}

// says is what an argument is.
type says uint8

const (
	somethingElse says = iota
	aPath              // of a file, or a list of such
	aSource
	aTarget
	aFolder // in which a command runs
	aCommand
	commands // a list of them, one after the other
	words    // of the command
	aQuery
	anAddress
	aPatch
	aRange // which part of a file is wanted
	aRehearsal
	elsewhere // the files are in a service's keeping and not on the disk
	anAside   // what is done is the same with and without it
)

// argument is what an argument says. Of several that say the same, that of the lowest rank counts.
type argument struct {
	says
	rank uint8
}

// argumentNames has the names of arguments, folded.
var argumentNames = map[string]argument{
	"filepath": {aPath, 0}, "absolutepath": {aPath, 0}, "targetfile": {aPath, 0}, "notebookpath": {aPath, 0}, "path": {aPath, 1},
	"relativepath": {aPath, 1}, "relativeworkspacepath": {aPath, 1}, "targetdirectory": {aPath, 1}, "file": {aPath, 2}, "filename": {aPath, 2},
	"paths": {aPath, 3}, "filepaths": {aPath, 3}, "files": {aPath, 3}, "filenames": {aPath, 3}, "targetfiles": {aPath, 3},
	"replacements": {aPath, 4}, "edits": {aPath, 4}, "directorypath": {aPath, 5}, "dirpath": {aPath, 5}, "searchpath": {aPath, 5},
	"searchdirectory": {aPath, 5},

	"source": {aSource, 0}, "sourcepath": {aSource, 0}, "oldpath": {aSource, 0}, "src": {aSource, 1}, "from": {aSource, 1},
	"destination": {aTarget, 0}, "destinationpath": {aTarget, 0}, "newpath": {aTarget, 0}, "dest": {aTarget, 1}, "dst": {aTarget, 1},
	"to": {aTarget, 1}, "target": {aTarget, 1},

	"workdir": {aFolder, 0}, "cwd": {aFolder, 0}, "workingdirectory": {aFolder, 0}, "workingdir": {aFolder, 0}, "cd": {aFolder, 0},
	"directory": {aFolder, 1},

	"command": {aCommand, 0}, "cmd": {aCommand, 0}, "commandline": {aCommand, 0}, "shellcommand": {aCommand, 0}, "script": {aCommand, 1},
	"code": {aCommand, 2}, "action": {aCommand, 3}, "commands": {commands, 0}, "args": {words, 0}, "arguments": {words, 0},

	"pattern": {aQuery, 0}, "query": {aQuery, 0}, "regex": {aQuery, 0}, "searchterm": {aQuery, 0}, "substringpattern": {aQuery, 0},
	"informationrequest": {aQuery, 0}, "globpattern": {aQuery, 0}, "filepattern": {aQuery, 1}, "filemask": {aQuery, 1}, "q": {aQuery, 1},
	"queries": {aQuery, 1}, "search": {aQuery, 1}, "keywords": {aQuery, 1}, "namepath": {aQuery, 1}, "question": {aQuery, 2}, "glob": {aQuery, 3},

	"url": {anAddress, 0}, "urls": {anAddress, 0}, "uri": {anAddress, 1}, "href": {anAddress, 1}, "link": {anAddress, 1},

	"input": {aPatch, 0}, "patch": {aPatch, 0}, "patchtext": {aPatch, 0}, "diff": {aPatch, 1},

	"offset": {aRange, 0}, "limit": {aRange, 0}, "viewrange": {aRange, 0}, "startline": {aRange, 0}, "endline": {aRange, 0},
	"startlineoneindexed": {aRange, 0}, "endlineoneindexedinclusive": {aRange, 0}, "lineoffset": {aRange, 0}, "nlines": {aRange, 0},
	"linerange": {aRange, 0}, "lineranges": {aRange, 0}, "linenumber": {aRange, 0}, "line": {aRange, 0}, "lines": {aRange, 0},
	"head": {aRange, 0}, "tail": {aRange, 0}, "pages": {aRange, 0}, "page": {aRange, 0},

	"dryrun": {aRehearsal, 0},

	"owner": {elsewhere, 0}, "repo": {elsewhere, 0}, "repository": {elsewhere, 0}, "repositoryfullname": {elsewhere, 0},
	"projectid": {elsewhere, 0}, "branch": {elsewhere, 0}, "fileid": {elsewhere, 0}, "bucket": {elsewhere, 0},

	"description": {anAside, 0}, "explanation": {anAside, 0}, "justification": {anAside, 0}, "timeout": {anAside, 0}, "timeoutms": {anAside, 0},
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
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	var buf [longestName]byte
	if u := tools[string(fold(&buf, name))]; u != unknown {
		return u
	}
	rest, server := strings.CutPrefix(name, "mcp_")
	if !server {
		rest, server = strings.CutPrefix(name, "builtin_")
	}
	for server {
		if u := tools[string(fold(&buf, rest))]; u != unknown {
			return u
		}
		_, rest, server = strings.Cut(rest, "_")
	}
	return unknown
}

// argumentOf is what an argument of this name says.
func argumentOf(name []byte) argument {
	var buf [longestName]byte
	return argumentNames[string(fold(&buf, name))]
}
