package excerpt

import (
	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// abroadRows are what tools write in other languages than English, where a word alone does not tell it.
var abroadRows = []row{
	{tool: "gcc", kind: failure, whole: true, needs: glance.Fail | glance.Place | glance.Abroad, has: ":",
		like: pattern.Of(`^[^\s:]([^:]|:\\)*:\d+(:\d+)?: ((schwerer )?Fehler|erreur( fatale)?|error fatal|` +
			`errore( fatale)?|erro( fatal)?|(фатальная )?ошибка|(致命的)?エラー|致命的なエラー|致命错误|错误|錯誤|오류)[ \x{a0}]*[:：]`),
		sample: "src/refund.c:31:9: Fehler: »total« nicht deklariert (erste Benutzung in dieser Funktion)"},
	{tool: "gcc", kind: warning, needs: glance.Warn | glance.Place | glance.Abroad, has: ":",
		like: pattern.Of(`^[^\s:]([^:]|:\\)*:\d+(:\d+)?: (Warnung|avertissement|advertencia|aviso|avviso|` +
			`предупреждение|警告|경고)[ \x{a0}]*[:：]`),
		sample: "src/refund.c:28:5: Warnung: unbenutzte Variable »n« [-Wunused-variable]"},
	// German
	{tool: "shell", kind: failure, end: ": Datei oder Verzeichnis nicht gefunden",
		sample: "cp: a.txt: Datei oder Verzeichnis nicht gefunden"},
	{tool: "shell", kind: failure, end: ": Keine Berechtigung", sample: "cp: a.txt: Keine Berechtigung"},
	{tool: "shell", kind: failure, end: ": Befehl nicht gefunden.", sample: "cp: a.txt: Befehl nicht gefunden."},
	{tool: "shell", kind: failure, end: ": Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
		sample: "cp: a.txt: Auf dem Gerät ist kein Speicherplatz mehr verfügbar"},
	// French
	{tool: "shell", kind: failure, end: ": Aucun fichier ou dossier de ce nom",
		sample: "cp: a.txt: Aucun fichier ou dossier de ce nom"},
	{tool: "shell", kind: failure, end: ": Aucun fichier ou dossier de ce type",
		sample: "cp: a.txt: Aucun fichier ou dossier de ce type"},
	{tool: "shell", kind: failure, end: ": Permission non accordée", sample: "cp: a.txt: Permission non accordée"},
	{tool: "shell", kind: failure, end: ": commande introuvable", sample: "cp: a.txt: commande introuvable"},
	{tool: "shell", kind: failure, end: ": Aucun espace disponible sur le périphérique",
		sample: "cp: a.txt: Aucun espace disponible sur le périphérique"},
	// Spanish
	{tool: "shell", kind: failure, end: ": No existe el fichero o el directorio",
		sample: "cp: a.txt: No existe el fichero o el directorio"},
	{tool: "shell", kind: failure, end: ": No existe el archivo o el directorio",
		sample: "cp: a.txt: No existe el archivo o el directorio"},
	{tool: "shell", kind: failure, end: ": Permiso denegado", sample: "cp: a.txt: Permiso denegado"},
	{tool: "shell", kind: failure, end: ": orden no encontrada", sample: "cp: a.txt: orden no encontrada"},
	{tool: "shell", kind: failure, end: ": No queda espacio en el dispositivo",
		sample: "cp: a.txt: No queda espacio en el dispositivo"},
	// Portuguese
	{tool: "shell", kind: failure, end: ": Arquivo ou diretório inexistente",
		sample: "cp: a.txt: Arquivo ou diretório inexistente"},
	{tool: "shell", kind: failure, end: ": Arquivo ou diretório não encontrado",
		sample: "cp: a.txt: Arquivo ou diretório não encontrado"},
	{tool: "shell", kind: failure, end: ": Permissão negada", sample: "cp: a.txt: Permissão negada"},
	{tool: "shell", kind: failure, end: ": comando não encontrado", sample: "cp: a.txt: comando não encontrado"},
	{tool: "shell", kind: failure, end: ": Não há espaço disponível no dispositivo",
		sample: "cp: a.txt: Não há espaço disponível no dispositivo"},
	// Italian
	{tool: "shell", kind: failure, end: ": File o directory non esistente",
		sample: "cp: a.txt: File o directory non esistente"},
	{tool: "shell", kind: failure, end: ": Permesso negato", sample: "cp: a.txt: Permesso negato"},
	{tool: "shell", kind: failure, end: ": comando non trovato", sample: "cp: a.txt: comando non trovato"},
	// Russian
	{tool: "shell", kind: failure, end: ": Нет такого файла или каталога",
		sample: "cp: a.txt: Нет такого файла или каталога"},
	{tool: "shell", kind: failure, end: ": Отказано в доступе", sample: "cp: a.txt: Отказано в доступе"},
	{tool: "shell", kind: failure, end: ": команда не найдена", sample: "cp: a.txt: команда не найдена"},
	{tool: "shell", kind: failure, end: ": На устройстве не осталось свободного места",
		sample: "cp: a.txt: На устройстве не осталось свободного места"},
	// Japanese
	{tool: "shell", kind: failure, end: ": そのようなファイルやディレクトリはありません", sample: "cp: a.txt: そのようなファイルやディレクトリはありません"},
	{tool: "shell", kind: failure, end: ": 許可がありません", sample: "cp: a.txt: 許可がありません"},
	{tool: "shell", kind: failure, end: ": コマンドが見つかりません", sample: "cp: a.txt: コマンドが見つかりません"},
	{tool: "shell", kind: failure, end: ": デバイスに空き領域がありません", sample: "cp: a.txt: デバイスに空き領域がありません"},
	// Chinese
	{tool: "shell", kind: failure, end: ": 没有那个文件或目录", sample: "cp: a.txt: 没有那个文件或目录"},
	{tool: "shell", kind: failure, end: ": 权限不够", sample: "cp: a.txt: 权限不够"},
	{tool: "shell", kind: failure, end: ": 未找到命令", sample: "cp: a.txt: 未找到命令"},
	{tool: "shell", kind: failure, end: ": 设备上没有空间", sample: "cp: a.txt: 设备上没有空间"},
}
