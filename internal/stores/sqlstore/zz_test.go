package sqlstore
import ("testing";"time";"os";"path/filepath")
func TestZZ(t *testing.T){
 dir:=t.TempDir()
 s:=open(t,dir); s.exec(t,"PRAGMA synchronous = off"); tk:=newTalk(t,s,1)
 for range 5000 { tk.turn(2<<10) }
 s.Close()
 fi,_:=os.Stat(filepath.Join(dir,FileName))
 for _,lim:=range []int64{1,1<<40} { t0:=time.Now(); s,err:=Open(t.Context(),Config{Dir:dir,CheckBytes:lim}); if err!=nil{t.Fatal(err)}; t.Log(fi.Size(),lim,time.Since(t0)); s.Close() }
 s=open(t,dir); t0:=time.Now(); tk.s=s; if err:=s.DeleteThread(t.Context(),tk.thread);err!=nil{t.Fatal(err)}; t.Log("delete",time.Since(t0)); s.Close()
}
