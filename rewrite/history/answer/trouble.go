package answer

import "strings"

// troubles are the beginnings of words with which a result may tell of a failure.
var troubles = []string{"error", "fail", "exception", "denied", "reject", "refus", "abort", "invalid", "unable",
	"cannot", "can't", "can not", "could not", "couldn't", "not found", "no such", "not exist", "timeout", "timed out",
	"unauthorized", "forbidden", "traceback", "fatal", "unsuccessful", "not applied", "no changes", "no match",
	"declin", "insufficient", "unavailable", "not allowed", "not permitted", "unsupported", "exceed", "expired", "conflict",
	": false", ":false", "http 4", "http 5", "status 4", "status 5", "status: 4", "status: 5",
	`"status": 4`, `"status": 5`, `"status":4`, `"status":5`, `status_code": 4`, `status_code": 5`, `status_code":4`,
	`status_code":5`, `statuscode": 4`, `statuscode": 5`, `statuscode":4`, `statuscode":5`, "blocked",
	"fehler", "fehlgeschlagen", "nicht gefunden", "konnte nicht", "kann nicht", "verweigert", "erreur", "échec", "introuvable",
	"impossible", "refusé", "non accordée", "imposible", "no se pudo", "no se puede", "denegad", "no existe", "errore",
	"impossibile", "negato", "negata", "erro:", "falha", "não foi possível", "ошибк", "не удалось", "не найден", "отказано",
	"エラー", "失敗", "できません", "見つかりません", "拒否", "错误", "錯誤", "失败", "无法", "找不到", "拒绝", "오류", "실패",
	"abgelehnt", "gescheitert", "abgebrochen", "ungültig", "nicht möglich", "échou", "rechazad", "falló", "fallid", "falhou",
	"rejeitad", "rifiutat", "fallit", "non riuscit", "ошибок", "сбой", "исключени", "отклонен", "запрещен", "недоступ",
	"例外", "できない", "無法", "拒絕", "异常", "不足", "超时", "不存在", "未找到", "거부", "할 수 없"}

// SaysNoTrouble reports whether nothing in a result that says something says failure.
func SaysNoTrouble(text string) bool {
	const most = 16 << 10 // bytes; what is longer is not read for this
	if len(text) == 0 || len(text) > most {
		return false
	}
	text = strings.ToLower(text)
	for _, word := range troubles {
		if strings.Contains(text, word) {
			return false
		}
	}
	return true
}
