package excerpt
import "testing"
func TestZZ(t *testing.T){
 j:=newJudge()
 for _, s := range []string{
 "Ошибок: 0","Предупреждений: 0, ошибок: 0","    Ошибок: 0","0 ошибок","Ошибок нет","Ошибок не обнаружено","нет ошибок","без ошибок","Сборка завершена без ошибок",
 "10个失败","10 个失败","0个失败","错误: 0x80070005","エラー：0x80004005","Fehler: 0x80070005","error: 0x80070005","没有错误","エラーはありません","エラー 0 件","オ류 없음","오류 없음","오류가 없습니다","오류 0개","錯誤：0","失败：0","失败 0 个","共 0 个错误",
 "Build ohne Fehler abgeschlossen","Compilation sans erreur","sin errores","ningún error","nenhum erro","sem erros","senza errori","pas d'erreur","aucune erreur","keine Fehler","0 Fehler, 0 Warnungen","Fehler: 0","Erreurs: 0","Erreurs : 0","Errores: 0","errori: 0","3 Fehler, 5 Warnungen","3 erreurs",
 "erro := f()","if erro != nil {","error := f()","var erro = 1","erro = foo(1)","error = foo(1)",`  "erro": null,`,`  "error": null,`,`"fehler": 0,`,"aviso = 1","def fehler(x):","fehler: string;","error: string;","Fehler sind menschlich.","Errors are human.","Ein Fehler im System wird so behandelt, dass ...","// Fehler behandeln","# エラー処理","// 错误处理","错误处理函数","例外処理を行う","严重的问题","异常检测","致命","public class 错误 {","impossible to say","It is impossible: no.","refus","Mr. Fallo won","fallo","L'erreur est humaine","Сбой системы маловероятен.","Ошибка","исключение составляет","Исключение: список","авария","сбой","удалось","Не удалось открыть","запрещено",
 "● nginx.service - nginx","   Active: failed (Result: exit-code) since","   Active: inactive (dead)","overlay 50G 50G 0 100% /","/dev/sda1 50G 45G 0 100% /","tmpfs 5 5 0 100% /run","# this must be replaced","kubectl get: Error from server",
 `x 127.0.0.1 "GET / HTTP/1.1" 500 12`,"Warning  Failed x","nginx Restarting (1) 3 seconds ago",
 } { l:=j.look(s,0,len(s)); t.Logf("kind %2d w %d says %2d troubled %-5v %s", l.kind,l.weight,l.says,l.troubled,s) }
 t.Log("plain",plain,"noise",noise,"hint",hint,"warning",warning,"failure",failure,"total",total,"state",state,"loss",loss)
 for _, s := range []string{"Error response from daemon: x\n","Error response from daemon: x\ndone\n","a\nError response from daemon: x","Error from server (NotFound): a\n\n\n","fatal: [web-1]: FAILED! => {}\n...ignoring\n","Error from server: x\nexit code: 1"} { r:=Read(s); t.Logf("%+v %q", r, s)}
}
