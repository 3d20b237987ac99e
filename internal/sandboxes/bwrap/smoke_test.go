//go:build linux
package bwrap
import ("testing";"context";"os";"bytes";"time";"github.com/pudu-ai/pudu/sandbox")
func TestSmoke(t *testing.T){
 p:=New(Config{})
 if err:=p.Probe(t.Context());err!=nil{t.Fatal(err)}
 d,_:=os.MkdirTemp("","ws"); defer os.RemoveAll(d)
 t0:=time.Now()
 b,err:=p.Open(context.Background(),sandbox.Spec{ID:"x",Mounts:[]sandbox.Mount{{Host:d,Path:sandbox.Workspace}}})
 if err!=nil{t.Fatal(err)}
 t.Log(time.Since(t0))
 for _,s:=range []string{"id; pwd; env; ls -la /proc/self/fd; ps aux; cat /proc/1/environ|tr '\\0' '\\n'; tr '\\0' ' ' </proc/1/cmdline|head -c 300; cat /proc/self/cgroup; ulimit -a","sleep 100 & echo hi","true","kill -9 $PPID; sleep 9", "setsid sleep 55 & exit 3"}{
 var out bytes.Buffer
 res,err:=b.Run(t.Context(),sandbox.Command{Script:s,Stdout:&out,Stderr:&out,Timeout:5*time.Second})
 t.Logf("%+v %v\n%s",res,err,out.String())
 }
 t0=time.Now()
 b.Close()
 t.Log(time.Since(t0))
}
