package form

import (
	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// abroadRows are what tools write in other languages than English, where a word alone does not tell it.
var abroadRows = []Row{
	{Tool: "gcc", Kind: Failure, Whole: true, needs: glance.Fail | glance.Place | glance.Abroad, has: ":",
		like: pattern.Of(`^[^\s:]([^:]|:\\)*:\d+(:\d+)?: ((schwerer )?Fehler|erreur( fatale)?|error fatal|` +
			`errore( fatale)?|erro( fatal)?|(фатальная )?ошибка|(致命的)?エラー|致命的なエラー|致命错误|错误|錯誤|오류)[ \x{a0}]*[:：]`),
		sample: "src/refund.c:31:9: Fehler: »total« nicht deklariert (erste Benutzung in dieser Funktion)"},
	{Tool: "gcc", Kind: Warning, needs: glance.Warn | glance.Place | glance.Abroad, has: ":",
		like: pattern.Of(`^[^\s:]([^:]|:\\)*:\d+(:\d+)?: (Warnung|avertissement|advertencia|aviso|avviso|` +
			`предупреждение|警告|경고)[ \x{a0}]*[:：]`),
		sample: "src/refund.c:28:5: Warnung: unbenutzte Variable »n« [-Wunused-variable]"},
}

// textsAbroad are what shells and commands say of a name behind a colon, in other languages than English.
var textsAbroad = [...]string{
	// German
	"Datei oder Verzeichnis nicht gefunden", "Keine Berechtigung", "Befehl nicht gefunden.",
	"Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
	// French
	"Aucun fichier ou dossier de ce nom", "Aucun fichier ou dossier de ce type", "Permission non accordée",
	"commande introuvable", "Aucun espace disponible sur le périphérique",
	// Spanish
	"No existe el fichero o el directorio", "No existe el archivo o el directorio", "Permiso denegado",
	"orden no encontrada", "No queda espacio en el dispositivo",
	// Portuguese
	"Arquivo ou diretório inexistente", "Arquivo ou diretório não encontrado", "Permissão negada",
	"comando não encontrado", "Não há espaço disponível no dispositivo",
	// Italian
	"File o directory non esistente", "Permesso negato", "comando non trovato",
	// Russian
	"Нет такого файла или каталога", "Отказано в доступе", "команда не найдена",
	"На устройстве не осталось свободного места",
	// Japanese
	"そのようなファイルやディレクトリはありません", "許可がありません", "コマンドが見つかりません", "デバイスに空き領域がありません",
	// Chinese
	"没有那个文件或目录", "权限不够", "未找到命令", "设备上没有空间",
}
