package sandboxtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// RunEscape tries to get out of a provider that says it isolates. The probes are small bash and python3 programs that
// print "ESCAPED" and what they reached. Nothing is sent anywhere but to listeners of the test itself, and to
// addresses that must not be reachable.
func RunEscape(t *testing.T, p sandbox.Provider) {
	if !p.Isolated() {
		t.Fatalf("provider %s does not isolate", p.Name())
	}
	t.Run("Probes", func(t *testing.T) { probes(t, p) })
	t.Run("ServerEnvironment", func(t *testing.T) { serverEnvironment(t, p) })
	t.Run("ServerDescriptors", func(t *testing.T) { serverDescriptors(t, p) })
	t.Run("HostProcesses", func(t *testing.T) { hostPids(t, p) })
	t.Run("HostNetwork", func(t *testing.T) { hostNetwork(t, p) })
	t.Run("HostFolders", func(t *testing.T) { hostFolders(t, p) })
	t.Run("Links", func(t *testing.T) { links(t, p) })
	t.Run("LaterCommands", func(t *testing.T) { laterCommands(t, p) })
	t.Run("OtherSandbox", func(t *testing.T) { otherSandbox(t, p) })
	for _, c := range bombs {
		t.Run(c.name, func(t *testing.T) { c.test(open(t, p, bombLimits)) })
	}
}

// probe runs a script that prints "done" at its end, and "ESCAPED ..." for all that should have been refused.
func (b *bench) probe(name, script string) {
	b.t.Run(name, func(t *testing.T) {
		out, res := b.run(script)
		if strings.Contains(out, "ESCAPED") || !strings.HasSuffix(out, "done\n") {
			t.Errorf("got %+v\n%s", res, out)
		}
	})
}

func (b *bench) python(name, body string) {
	b.probe(name, "/usr/bin/python3 - <<'END_OF_PROBE'\n"+pythonHead+body+"\nprint('done')\nEND_OF_PROBE\n")
}

// pythonHead offers system calls by number (x86-64, arm64) and two ways to say that something was not refused.
const pythonHead = `
import ctypes, errno, fcntl, os, platform, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
intel = platform.machine() == 'x86_64'
def call(what, numbers, *args, allowed=(errno.EPERM, errno.ENOSYS, errno.EACCES)):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(numbers[0 if intel else 1]), *args)
    if r >= 0 or ctypes.get_errno() not in allowed:
        print('ESCAPED', what, r, os.strerror(ctypes.get_errno()))
def refused(what, f, *args):
    try:
        r = f(*args)
    except OSError:
        return
    print('ESCAPED', what, r)
`

func probes(t *testing.T, p sandbox.Provider) {
	b := open(t, p, sandbox.Limits{})
	for _, c := range shellProbes {
		b.probe(c.name, c.script)
	}
	for _, c := range pythonProbes {
		b.python(c.name, c.script)
	}
	b.healthy()
}

var shellProbes = []struct{ name, script string }{
	{"HostFiles", `for f in /etc/shadow /root /home /var /sys /boot /opt /srv /etc/ssh /etc/hostname /run/docker.sock /var/run/docker.sock \
		/run/containerd /run/secrets /var/run/secrets/kubernetes.io /dev/kmsg /dev/mem /dev/sda /dev/vda /dev/kvm /dev/vsock /host /oldroot /newroot; do
		[ ! -e "$f" ] || echo "ESCAPED $f"; done; echo done`},
	{"UsersAreMadeUp",
		`[ "$(wc -l </etc/passwd)" -le 3 ] || echo ESCAPED; [ "$(id -un)" = agent ] || echo ESCAPED; echo done`},
	{"ReadOnly", `for d in / /usr /usr/bin /etc /mnt /mnt/user-data /mnt/skills /run /run/* /dev /bin /lib; do
		{ touch "$d/x" || mkdir "$d/y"; } 2>/dev/null && echo "ESCAPED $d"; done
		for f in /etc/passwd /etc/hosts /usr/bin/bash /mnt/skills/skill.md; do (echo x >>$f) 2>/dev/null && echo "ESCAPED $f"; done
		rm -f /mnt/skills/skill.md 2>/dev/null; mv /mnt/skills/skill.md /tmp 2>/dev/null; chmod 777 /mnt/skills 2>/dev/null && echo ESCAPED chmod
		[ -e /mnt/skills/skill.md ] || echo ESCAPED rm; echo done`},
	{"KernelSettings", `for f in kernel/core_pattern kernel/panic vm/swappiness kernel/hostname net/ipv4/ip_forward kernel/modprobe; do
		(cat /proc/sys/$f >/tmp/v && cat /tmp/v >/proc/sys/$f) 2>/dev/null && echo "ESCAPED $f"; done
		for f in /proc/sysrq-trigger /proc/acpi /proc/kcore; do (echo h >$f) 2>/dev/null && echo "ESCAPED $f"; done; echo done`},
	{"Capabilities", `grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000 && echo ESCAPED
		grep -q 'NoNewPrivs:.1' /proc/self/status || echo ESCAPED new privileges
		grep -q 'Seccomp:.2' /proc/self/status || echo ESCAPED filter; echo done`},
	{"Privileges", `su -c true </dev/null 2>/dev/null && echo ESCAPED su; sudo -n true 2>/dev/null && echo ESCAPED sudo
		dmesg >/dev/null 2>&1 && echo ESCAPED dmesg; hostname escaped 2>/dev/null && echo ESCAPED hostname
		[ "$(hostname)" = sandbox ] || echo ESCAPED name; mknod /tmp/sda b 8 0 2>/dev/null && echo ESCAPED mknod
		chroot /tmp true 2>/dev/null && echo ESCAPED chroot; cp /usr/bin/id /tmp/suid; chmod 4755 /tmp/suid; [ "$(/tmp/suid -u)" = 1000 ] || echo ESCAPED suid; echo done`},
	{"Mounts", `mount -t tmpfs x /tmp 2>/dev/null && echo ESCAPED mount; umount /proc/sys 2>/dev/null && echo ESCAPED umount
		umount -l /mnt/skills 2>/dev/null && echo ESCAPED umount; mount -o remount,rw /mnt/skills 2>/dev/null && echo ESCAPED remount
		mount --bind /tmp /mnt/skills 2>/dev/null && echo ESCAPED bind; echo done`},
	{"Namespaces", `unshare -U true 2>/dev/null && echo ESCAPED user; unshare -Ur true 2>/dev/null && echo ESCAPED root; unshare -n true 2>/dev/null && echo ESCAPED net
		nsenter -t 1 -m true 2>/dev/null && echo ESCAPED nsenter; bwrap --ro-bind / / true 2>/dev/null && echo ESCAPED bwrap; echo done`},
	{"ProcessTable", `n=$(ls /proc | grep -c '^[0-9]'); [ "$n" -lt 12 ] || echo "ESCAPED $n processes"; ls /proc/1/root/root 2>/dev/null && echo ESCAPED
		[ -e /proc/1/root/etc/shadow ] && echo ESCAPED root folder; echo done`},
	{"NoTerminal", `(: </dev/tty) 2>/dev/null && echo ESCAPED; [ -t 0 ] && echo ESCAPED; echo done`},
	{"Descriptors", `for f in /proc/self/fd/*; do l=$(readlink $f); case "$f $l" in
		*/[012]" "*|*" /proc/"*|*/255" "*) ;; *" ") ;; *) echo "ESCAPED $f $l";; esac; done; echo done`},
	{"Python", `[ "$(command -v python3)" = /usr/bin/python3 ] || echo "ESCAPED $(command -v python3)"; echo done`},
	{"Tricks", `(cd .. && cat relative/../../../../etc/shadow) 2>/dev/null && echo ESCAPED
		cat "$(printf '/etc/\x73hadow')" 2>/dev/null && echo ESCAPED; eval "$(echo Y2F0IC9ldGMvc2hhZG93 | base64 -d)" 2>/dev/null && echo ESCAPED
		bash -c 'cat /etc/shad?w' 2>/dev/null && echo ESCAPED; cat /{etc,root}/shadow 2>/dev/null && echo ESCAPED; echo done`},
}

var pythonProbes = []struct{ name, script string }{
	{"SystemCalls", `
Z = ctypes.c_long(0); buf = ctypes.create_string_buffer(512)
call('io_uring_setup', (425, 425), 4, buf)
call('io_uring_enter', (426, 426), 0, 0, 0, 0, Z, Z)
call('keyctl', (250, 219), 0, -3, 0)
call('add_key', (248, 217), b'user', b'x', b'y', 1, -3)
call('request_key', (249, 218), b'user', b'x', Z, 0)
call('bpf', (321, 280), 0, buf, 64)
call('perf_event_open', (298, 241), buf, 0, -1, -1, Z)
call('userfaultfd', (323, 282), 1)
call('unshare', (272, 97), 0x10000000)
call('setns', (308, 268), 0, 0)
call('mount', (165, 40), b'none', b'/tmp', b'tmpfs', Z, Z)
call('open_tree', (428, 428), -100, b'/', 1)
call('fsopen', (430, 430), b'tmpfs', 0)
call('mount_setattr', (442, 442), -100, b'/', 0, buf, 32)
call('pivot_root', (155, 41), b'/', b'/')
call('chroot', (161, 51), b'/tmp')
call('open_by_handle_at', (304, 265), -100, buf, 0)
call('process_vm_readv', (310, 270), 1, buf, 0, buf, 0, 0)
call('pidfd_getfd', (438, 438), 0, 0, 0)
call('kexec_load', (246, 104), Z, Z, Z, Z)
call('init_module', (175, 105), buf, Z, b'')
call('reboot', (169, 142), 0, 0, 0, Z)
call('quotactl', (179, 60), 0, Z, 0, Z)
call('swapon', (167, 224), b'/tmp', 0)
call('acct', (163, 89), b'/tmp')
call('settimeofday', (164, 170), buf, Z)
`},
	{"ReservedSpace", `
f = os.open('reserved', os.O_RDWR | os.O_CREAT)
unsupported = (errno.EOPNOTSUPP,)
for mode in (0, 1, 16): call('fallocate', (285, 47), f, mode, ctypes.c_long(0), ctypes.c_long(1 << 20), allowed=unsupported)
space = ctypes.create_string_buffer((1 << 20).to_bytes(8, 'little').rjust(24, b'\0'), 48)
for name, number in dict(RESVSP=0x40305828, RESVSP64=0x4030582a, ZERO_RANGE=0x40305839).items():
    call(name, (16, 29), f, ctypes.c_long(number), space, allowed=unsupported)
if os.fstat(f).st_blocks: print('ESCAPED space was reserved')
os.posix_fallocate(f, 0, 1 << 20)
if os.fstat(f).st_blocks < 2048: print('ESCAPED libc does not write it')
`},
	{"Clone", `
call('clone3', (435, 435), ctypes.create_string_buffer(88), 88, allowed=(errno.ENOSYS,))
for name, flag in dict(user=0x10000000, mount=0x20000, pid=0x20000000, net=0x40000000).items():
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(56 if intel else 220), ctypes.c_long(flag | 17), ctypes.c_long(0), ctypes.c_long(0), ctypes.c_long(0), ctypes.c_long(0))
    if r == 0: os._exit(0)
    if r > 0: print('ESCAPED clone', name)
import threading
t = threading.Thread(target=lambda: None); t.start(); t.join()
`},
	{"ForeignCalls", `
if intel:
    # A call of the x32 mode is refused; one of the 32 bit mode kills the process (mov eax,20; int 0x80; ret).
    call('x32 getpid', (0x40000000 + 39, 0), allowed=(errno.EPERM,))
    import mmap
    if os.fork() == 0:
        m = mmap.mmap(-1, 4096, prot=7)
        m.write(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3')
        f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
        print('ESCAPED int 0x80', f(), flush=True)
        os._exit(0)
    if not os.WIFSIGNALED(os.wait()[1]): print('ESCAPED int 0x80 did not kill')
`},
	{"Ptrace", `
call('ptrace attach 1', (101, 117), 16, 1, ctypes.c_long(0), ctypes.c_long(0))
call('ptrace seize parent', (101, 117), 0x4206, os.getppid(), ctypes.c_long(0), ctypes.c_long(0))
call('ptrace traceme', (101, 117), 0, 0, ctypes.c_long(0), ctypes.c_long(0))
`},
	{"Sockets", `
for name, family in dict(vsock=40, alg=38, packet=17, bluetooth=31, xdp=44, can=29, tipc=30).items():
    refused(name, socket.socket, family, socket.SOCK_DGRAM if family != 38 else socket.SOCK_SEQPACKET, 0)
refused('raw', socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6): socket.socket(family).close()
`},
	{"NoNetwork", `
# 192.0.2.1 is reserved for documentation, 169.254.169.254 is where clouds keep credentials.
for host in ('169.254.169.254', '192.0.2.1', '10.0.0.1'):
    for port in (53, 80, 443):
        s = socket.socket(); s.settimeout(2)
        try:
            s.connect((host, port)); print('ESCAPED', host, port)
        except TimeoutError: print('ESCAPED', host, port, 'was sent')
        except OSError: pass
names = [n for _, n in socket.if_nameindex() if n != 'lo']
up = [n for n in names if int(open('/sys/class/net/%s/flags' % n).read(), 16) & 1] if os.path.exists('/sys/class/net') else []
if up: print('ESCAPED', up)
if len(open('/proc/net/route').readlines()) > 1: print('ESCAPED routes')
`},
	{"Terminal", `
import pty
a, b = pty.openpty()
refused('TIOCSTI', fcntl.ioctl, b, 0x5412, b'x')
refused('TIOCLINUX', fcntl.ioctl, b, 0x541c, b'x')
`},
	{"Devices", `
for d in os.listdir('/dev'):
    if d not in ('null','zero','full','random','urandom','tty','ptmx','pts','shm','fd','stdin','stdout','stderr','core','console'):
        print('ESCAPED', d)
`},
}

// serverEnvironment looks for variables of the server in every process, and for paths of the host in command lines.
func serverEnvironment(t *testing.T, p sandbox.Provider) {
	for _, name := range []string{"OPENAI_API_KEY", "PGPASSFILE", "MYSQL_PWD", "REDISCLI_AUTH", "DB_PASS", "MAVEN_OPTS",
		"GLIBC_TUNABLES", "LD_DEBUG_OUTPUT"} {
		t.Setenv(name, "/hush-secret")
	}
	b := open(t, p, sandbox.Limits{})
	b.probe("Environ", `cat /proc/[0-9]*/environ | tr '\0' '\n' | grep -a hush-secret && echo ESCAPED; env | grep `+
		`hush && echo ESCAPED; echo done`)
	host := b.folders[sandbox.Workspace]
	b.probe("CommandLines", fmt.Sprintf(`h=%s; cat /proc/[12]/cmdline | grep -aF "${h%%/*}" && echo ESCAPED; echo done`,
		host))
}

// serverDescriptors looks for open files of the server in every process.
func serverDescriptors(t *testing.T, p sandbox.Provider) {
	b := open(t, p, sandbox.Limits{})
	b.probe("OfAllProcesses", `for f in /proc/[0-9]*/fd/*; do case "$(readlink $f)" in /tmp/*|/work/*|/root/*|`+
		`socket:*) echo "ESCAPED $f $(readlink $f)";; esac; done; echo done`)
}

func hostPids(t *testing.T, p sandbox.Provider) {
	b := open(t, p, sandbox.Limits{})
	victim := exec.Command("sleep", "600")
	must(t, victim.Start())
	defer func() {
		victim.Process.Kill()
		victim.Wait()
	}()
	b.probe("Kill",
		fmt.Sprintf(`for p in %d %d; do kill -0 $p 2>/dev/null && echo "ESCAPED $p"; kill -9 $p 2>/dev/null && echo "ESCAPED $p"
		cat /proc/$p/environ 2>/dev/null && echo ESCAPED; (: </proc/$p/mem) 2>/dev/null && echo ESCAPED; done; echo done`, victim.Process.Pid, os.Getpid()))
	if victim.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("the process is gone")
	}
}

func hostNetwork(t *testing.T, p sandbox.Provider) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer tcp.Close()
	name := fmt.Sprintf("pudu-escape-%d", os.Getpid())
	abstract, err := net.Listen("unix", "@"+name)
	must(t, err)
	defer abstract.Close()
	b := open(t, p, sandbox.Limits{})
	b.python("Listeners", fmt.Sprintf(`
refused('tcp', socket.socket().connect, ('127.0.0.1', %d))
refused('abstract', socket.socket(socket.AF_UNIX).connect, '\0%s')
`, tcp.Addr().(*net.TCPAddr).Port, name))
}

// hostFolders looks for the neighbours of the mounted folders.
func hostFolders(t *testing.T, p sandbox.Provider) {
	b := open(t, p, sandbox.Limits{})
	secret := filepath.Join(filepath.Dir(b.folders[sandbox.Workspace]), "neighbour")
	must(t, os.WriteFile(secret, []byte("hush-neighbour"), 0o644))
	b.probe("Neighbours", fmt.Sprintf(`cat %s ../../neighbour /mnt/user-data/../neighbour 2>/dev/null && echo ESCAPED
		grep -rs 'hush-neigh[b]our' /mnt /tmp /run && echo ESCAPED; [ "$(ls /mnt /mnt/user-data | grep -vc :)" -le 8 ] || echo ESCAPED; echo done`, secret))
}

func links(t *testing.T, p sandbox.Provider) {
	b := open(t, p, sandbox.Limits{})
	b.probe("Outward", `ln -s /etc/shadow a; ln -s ../../../../../../../../etc d; ln -s /proc/1/root/etc e; ln -s /proc/1/cwd/etc/shadow f
		cat a d/shadow e/shadow f 2>/dev/null && echo ESCAPED; ln /usr/bin/passwd hard 2>/dev/null && echo ESCAPED hard link; echo done`)
}

// laterCommands leaves things behind that a later command, or a later sandbox of the same files, might obey.
func laterCommands(t *testing.T, p sandbox.Provider) {
	b := open(t, p, sandbox.Limits{})
	b.probe("Leave", `for f in ~/.bashrc ~/.bash_profile ~/.profile ~/.bash_login; do echo 'echo ESCAPED rc' >$f; done
		export BASH_ENV=~/.bashrc LD_PRELOAD=/tmp/x.so; alias ls='echo ESCAPED'; trap 'echo ESCAPED' EXIT; trap - EXIT; ulimit -n 10; umask 0; echo done`)
	b.probe("Obey", `[ -z "$BASH_ENV$LD_PRELOAD" ] || echo ESCAPED; [ "$(ulimit -n)" -gt 10 ] || echo ESCAPED; [ `+
		`"$(umask)" = 0022 ] || echo ESCAPED; echo done`)
}

// otherSandbox looks from one sandbox for another.
func otherSandbox(t *testing.T, p sandbox.Provider) {
	a, b := open(t, p, sandbox.Limits{}), open(t, p, sandbox.Limits{})
	a.run("echo hush-sandbox >/tmp/secret; echo hush-sandbox >/dev/shm/secret; echo hush-sandbox >secret; sleep 600 & ")
	a.run(`/usr/bin/python3 -c 'import socket,time; s=socket.socket(socket.AF_UNIX); s.bind("\0pudu-neighbour"); ` +
		`s.listen(); t=socket.create_server(("127.0.0.1", 45671)); time.sleep(600)' >/dev/null 2>&1 &`)
	until(t, "the neighbour listens", func() bool {
		_, res := a.run(`grep -q pudu-neighbour /proc/net/unix`)
		return res.Exit == 0
	})
	b.probe("Files", `grep -rs 'hush-s[a]ndbox' /tmp /dev/shm /mnt && echo ESCAPED; pgrep sleep && echo ESCAPED; `+
		`pkill -9 sleep && echo ESCAPED; echo done`)
	b.python("Sockets", `
refused('abstract', socket.socket(socket.AF_UNIX).connect, '\0pudu-neighbour')
refused('tcp', socket.socket().connect, ('127.0.0.1', 45671))
`)
	a.want("pgrep -c sleep", "1\n")
}

// bombLimits are small, so that the bombs need not be large.
var bombLimits = sandbox.Limits{Processes: 64, Memory: 192 << 20, Tmp: 16 << 20, Disk: 32 << 20, FileSize: 24 << 20}

var bombs = []struct {
	name string
	test func(*bench)
}{
	{"ForkBomb", forkBomb}, {"PatientForkBomb", patientForkBomb}, {"BackgroundForkBomb", backgroundForkBomb},
	{"Threads", threads}, {"MemoryBomb", memoryBomb}, {"ManySmallMemoryBombs", memoryBombs}, {"TmpFill", tmpFill},
	{"DeviceFolderFill", devFill}, {"WorkspaceFill", workspaceFill}, {"EmptyFiles", emptyFiles},
	{"TidyUpFullWorkspace", tidyUp}, {"FileSize", fileSize}, {"KillEverything", killEverything}, {"Spinners", spinners},
}

// ends checks that an attack is over soon and says which limit it met.
func (b *bench) ends(script, limit string) string {
	b.t.Helper()
	// how soon depends on what else the machine does
	out, res := b.do(sandbox.Command{Script: script, Timeout: 3 * patience})
	if res.TimedOut || res.Limit != limit {
		b.t.Errorf("%+v, want limit %q\n%.500s", res, limit, out)
	}
	b.healthy()
	return out
}

func forkBomb(b *bench) { b.ends(`f() { f | f & }; f; sleep 15`, "processes") }

func patientForkBomb(b *bench) {
	b.ends(`/usr/bin/python3 -c '
import os, time
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: time.sleep(0.01)'`, "processes")
}

func backgroundForkBomb(b *bench) {
	b.run(`(setsid bash -c 'f() { f | f & }; f; while :; do f; sleep 0.1; done' >/dev/null 2>&1 &)`)
	b.healthy()
}

func threads(b *bench) {
	out := b.ends(`/usr/bin/python3 -c '
import threading, time
n = 0
try:
    while True: threading.Thread(target=time.sleep, args=(15,), daemon=True).start(); n += 1
except RuntimeError: print("refused after", n > 30, n < 64, flush=True)
time.sleep(15)'`, "processes")
	if !strings.HasPrefix(out, "refused after True True\n") {
		b.t.Errorf("got %q", out)
	}
}

func memoryBomb(b *bench) {
	_, res := b.run(`/usr/bin/python3 -c 'x = []
while True: x.append(bytearray(b"x" * (8 << 20)))'; exit $?`)
	// The kernel may refuse the memory or kill; both are an end.
	if res.Exit == 0 || res.TimedOut || res.Exit == 137 && res.Limit != "memory" {
		b.t.Errorf("got %+v", res)
	}
	b.healthy()
}

func memoryBombs(b *bench) {
	b.ends(`for i in 1 2 3 4 5 6; do /usr/bin/python3 -c 'import time; x = b"x" * (60 << 20); time.sleep(3)' & done; `+
		`wait`, "memory")
}

func tmpFill(b *bench) {
	out, res := b.run("head -c 20000000 /dev/zero >/tmp/fill")
	if res.Exit == 0 || !strings.Contains(out, "No space left") {
		b.t.Errorf("got %q, %+v", out, res)
	}
	b.healthy()
}

func devFill(b *bench) {
	b.probe("Dev", `for d in /dev /dev/pts /dev/mqueue / /etc /run /run/pudu; do (head -c 1000 /dev/zero >$d/fill) 2>/dev/null && echo ESCAPED $d; done
		head -c 100000000 /dev/zero 2>/dev/null >/dev/shm/fill && echo ESCAPED shm; echo done`)
}

func workspaceFill(b *bench) {
	b.ends(`i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero >f$i || exit 1; sleep 0.005; done`, "disk")
}

func emptyFiles(b *bench) {
	b.ends(`/usr/bin/python3 -c '
import time
for i in range(10**7):
    open("e%d" % i, "w").close()
    if i % 100 == 0: time.sleep(0.005)'`, "disk")
}

func tidyUp(b *bench) {
	b.ends(`i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero >f$i || exit 1; sleep 0.005; done`, "disk")
	_, res := b.run("rm -f f*; ls | wc -l")
	if res.Exit != 0 || res.Limit != "" {
		b.t.Errorf("tidying up: %+v", res)
	}
	until(b.t, "there is room again", func() bool {
		_, res := b.run("head -c 20000000 /dev/zero >again")
		return res.Exit == 0
	})
}

func fileSize(b *bench) {
	if _, res := b.run("exec head -c 30000000 /dev/zero >large"); res.Exit == 0 || res.Limit != "file size" {
		b.t.Errorf("got %+v", res)
	}
}

// killEverything kills all that can be killed, the sandbox's own shell included. It may die of that; nobody may wait
// for ever.
func killEverything(b *bench) {
	var out output
	began := time.Now()
	b.box.Run(context.Background(),
		sandbox.Command{Script: "kill -9 -1; kill -9 1; kill -STOP 1; kill -9 $PPID; exit 0", Stdout: &out,
			Timeout: patience})
	if time.Since(began) > patience/2 {
		b.t.Errorf("waited %v", time.Since(began))
	}
}

// spinners use the processor as much as they like; the server must still be able to end them.
func spinners(b *bench) {
	began := time.Now()
	_, res := b.do(sandbox.Command{Script: "for i in $(seq 16); do while :; do :; done & done; wait",
		Timeout: 500 * time.Millisecond})
	if !res.TimedOut || time.Since(began) > 3*time.Second {
		b.t.Errorf("got %+v", res)
	}
	b.healthy()
}
