package glance

import "testing"

func TestWordsOfOtherLanguagesTellWhatALineIsAbout(t *testing.T) {
	for _, c := range []struct {
		line   string
		strong Set
	}{
		{"src/a.c:88:14: Fehler: »druck« nicht deklariert", Fail},
		{"Test 44: mod44_grenzwert ... FEHLGESCHLAGEN", Fail},
		{"erreur : impossible de pousser des références", Fail},
		{"ERREUR [worker-3] connexion perdue", Fail},
		{"Échec de la connexion", Fail},
		{"2 : échec : délai dépassé", Fail},
		{"ERRO [main] falha ao gravar", Fail},
		{"エラー [worker-3] 接続できません", Fail},
		{"[エラー] 接続できません", Fail},
		{"s33.c:12:5: エラー: 宣言されていません", Fail},
		{"错误 [worker-3] 磁盘空间不足", Fail},
		{"o21.c:40:9: 错误：未声明", Fail},
		{"【错误】磁盘空间不足", Fail},
		{"ОШИБКА [worker-3] не удалось открыть", Fail},
		{"ошибка: нет доступа", Fail},
		{"警告 [main] ディスク", Warn},
		{"Warnung: veraltet", Warn},
		{"错误: 0x80070005", Fail},
		{"エラー：0x80004005", Fail},
		{"Ошибка: 0x80070005", Fail},
		{"Ошибок: 5", Fail},
		{"ОШИБКА нет доступа", Fail},
		{"ОШИБКА не найден файл", Fail},
		{"Ошибок: 0.5", Fail},
		{"No.1 エラー：接続できません", Fail},
		{"no данных, ошибка: нет доступа", Fail},
	} {
		if got := Of(c.line).Strong & (Fail | Warn); got != c.strong {
			t.Errorf("%q is strongly about %b, want %b", c.line, got, c.strong)
		}
	}
}

func TestWhatOtherLanguagesDenyOrNameIsNoFailure(t *testing.T) {
	for _, line := range []string{
		"80 Tests bestanden, 0 Fehler", "Fehler: 0", "Keine Fehler gefunden", "Aucune erreur", "Nessun errore",
		"没有错误", "共 0 个错误", "错误：0", "エラーはありません", "エラーなし", "失敗: 0 件", "удалось открыть файл",
		"Ошибок: 0", "Предупреждений: 0, ошибок: 0", "0 ошибок", "Ошибок нет", "Ошибок не обнаружено", "нет ошибок",
		"Сборка завершена без ошибок", "오류 없음", "오류가 없습니다", "오류 0개", "失败: 0, 成功: 5",
		"Build ohne Fehler abgeschlossen", "Compilation sans erreur", "Terminado sin errores", "nenhum erro", "sem erros",
		"compilato senza errori",
	} {
		if g := Of(line); g.Words&(Fail|Trouble) != 0 {
			t.Errorf("%q tells of trouble: %b", line, g.Words)
		}
	}
	for _, line := range []string{"10个失败", "共 20 个错误", "3 个失败"} {
		if g := Of(line); g.Words&Fail == 0 {
			t.Errorf("%q tells of no failure", line)
		}
	}
	for _, line := range []string{ // the names of things
		"エラーコードの一覧を表示します", "错误码说明见下表", "错误处理模块已加载", "エラーログ /var/log/a.log",
	} {
		if g := Of(line); g.Strong != 0 {
			t.Errorf("%q is strongly about %b", line, g.Strong)
		}
	}
}

func TestALongLineOfAnotherScriptIsReadOnce(t *testing.T) {
	const n = 1_000
	word := ""
	for range n {
		word += "ошибк"
	}
	if g := Of(word); g.Words != 0 {
		t.Errorf("a word of %d letters says %b", 5*n, g.Words)
	}
}
