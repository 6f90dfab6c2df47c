"""Tries what the table in docs/trust.md says about programs. Prints what succeeded, as JSON."""

import ctypes
import json
import os
import socket
import stat
import sys

given = json.loads(sys.argv[1])
home, outside = given["home"], given["outside"]
results = {}
if os.path.realpath(os.getcwd()) != given["workspace"]:
    sys.exit("this changes the folder in which it runs: that is not the one that was made for it")


def attempt(name, act):
    try:
        results[name] = bool(act())
    except Exception as error:
        results[name] = False
        print(name, repr(error), file=sys.stderr)


def write(path, text="forged"):
    with open(path, "w") as file:
        file.write(text)
    return True


def any_of(acts):
    """Returns those of several acts that succeeded."""
    done = []
    for act in acts:
        try:
            act()
            done.append(act)
        except OSError:
            pass
    return done


def read(path):
    with open(path, "rb") as file:
        return file.read()


def moved(path):
    os.rename(path, "moved")
    os.rename("moved", path)
    return True


def found(path):
    """Reads a secret, which must not be possible."""
    if b"secret" not in read(path):
        raise OSError("it is empty")


def connected(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)
    return True


def sent(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"datagram", ("127.0.0.1", port))
    return True


def changed(path):
    """Changes rights, times and attributes of a file."""
    attributes = [
        lambda: os.chmod(path, 0o705 if os.path.isdir(path) else 0o604),
        lambda: os.utime(path, (1_000_000, 1_000_000)),
        lambda: os.setxattr(path, "user.forged", b"1"),
    ]
    return any_of(attributes)


def opened(device):
    os.close(os.open("/dev/" + device, os.O_RDONLY | os.O_NONBLOCK))


def capabilities():
    lines = read("/proc/self/status").decode().splitlines()
    kept = [line.split()[1] for line in lines if line.split(":")[0] in ("CapEff", "CapPrm", "CapInh", "CapAmb")]
    return any(int(kept, 16) for kept in kept)


def same_name():
    name = os.uname().nodename.encode()
    if ctypes.CDLL(None, use_errno=True).sethostname(name, len(name)):
        raise OSError(ctypes.get_errno(), "sethostname")
    return True


def written_in(folder):
    path = "%s/workshop-probe-%d" % (folder, os.getpid())
    write(path)
    os.unlink(path)
    return True


guarded = ["settings.yaml", "agents/lead.md", "storage/rules.yaml", "tasks/work.task.md", ".git/config", "AGENTS.md"]
odd_devices = ["fuse", "kvm", "loop-control", "net/tun", "uinput", "kmsg", "vda", "sda", "nvme0n1", "dm-0"]

attempt("write guarded", lambda: any_of([lambda path=path: write(path) for path in guarded]))
attempt("move guarded", lambda: any_of([lambda: moved("agents"), lambda: moved(".git")]))
attempt("create guarded", lambda: any_of([lambda: os.mkdir("templates"), lambda: write(".mcp.json")]))
attempt("change guarded", lambda: [path for path in guarded + ["agents", "."] if changed(path)])
attempt("create at top", lambda: write("new.txt", "new"))
attempt("move at top", lambda: moved("artifacts"))
attempt("replace at top", lambda: write("artifacts/other", "x") and (os.replace("artifacts/other", "README.md") or True))
attempt("write within", lambda: write("artifacts/within", "x"))
attempt("write at top", lambda: write("notes.md", "changed"))
attempt("write outside", lambda: any_of([lambda: write(outside + "/file"), lambda: write(outside + "/new")]))
attempt("change outside", lambda: changed(outside + "/file"))
attempt("write temporary", lambda: written_in(os.environ.get("TMPDIR", "/tmp")))
attempt("share memory", lambda: written_in("/dev/shm"))
attempt("read keys", lambda: any_of([lambda path=path: found(path) for path in given["keys"]]))
attempt("list keys", lambda: os.listdir(home + "/.ssh"))
attempt("read others", lambda: b"letter" in read(home + "/Documents/letter.txt"))
attempt("read closed", lambda: any_of([lambda: found(".env"), lambda: found(".workshop/state")]))
attempt("read process", lambda: b"secret" in read("/proc/%d/environ" % given["process"]))
attempt("end process", lambda: os.kill(given["process"], 0) is None)
attempt("capabilities", capabilities)
attempt("name computer", same_name)
attempt("odd devices", lambda: any_of([lambda device=device: opened(device) for device in odd_devices]))
attempt("make device", lambda: os.mknod("artifacts/device", stat.S_IFCHR | 0o600, os.makedev(1, 3)) or True)
attempt("usual devices", lambda: write("/dev/null") and len(open("/dev/urandom", "rb").read(4)) == 4 and os.openpty())
attempt("terminal", lambda: os.open("/dev/tty", os.O_RDWR))
attempt("socket", lambda: connected(socket.AF_UNIX, given["socket"]))
attempt("abstract socket", lambda: connected(socket.AF_UNIX, "\0" + given["abstract"]))
attempt("tcp", lambda: connected(socket.AF_INET, ("127.0.0.1", given["tcp"])))
attempt("udp", lambda: sent(given["udp"]))
print(json.dumps(results))
