package markdown
import ("testing";"time";"strings";"fmt")
func TestZZ(t *testing.T){
 for n,s:=range map[string]string{"row":"|"+strings.Repeat("a|",5000)+"\n|"+strings.Repeat("-|",5000)+"\n|"+strings.Repeat("bbb bbb bbb bbb|",5000)+"\n","cell":"|a|b|\n|-|-|\n|"+strings.Repeat("word ",100000)+"|x|\n","para":strings.Repeat("word ",200000),"long":strings.Repeat("w",1000000),"quotes":strings.Repeat(">",20000)+"a","list":strings.Repeat("- ",5000)+"a","amp":strings.Repeat("&",300000),"rows":"|a|b|\n|-|-|\n"+strings.Repeat("|x|y|\n",20000)} {
  b:=time.Now(); o:=Render(s,100,false); d:=time.Since(b); fmt.Println(n,len(s),len(o),d)
 }}
