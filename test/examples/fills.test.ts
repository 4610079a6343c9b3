// What examples/fills.py does with fills and failures, without a gateway; through whole ones and cuts it is run in
// test/conformance/examples.test.ts.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const path = join(import.meta.dirname, '../../examples')
const hasPackage = spawnSync('python3', ['-c', 'import websocket']).status === 0
if (!hasPackage) console.log("fills.py is skipped: Debian's python3-websocket is not installed")

/** What a script prints that begins with the program's names. */
function python(script: string): string[] {
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout, stderr } = spawnSync('python3', ['-c', `import fills\n${script}`], { env, encoding: 'utf8' })
  return `${stdout}${stderr}`.trim().split('\n')
}

describe.skipIf(!hasPackage)('fills.py', () => {
  it('shows a fill once that a source tells before a stream which is behind', () => {
    const script = `
def fill(time):
    return {"time": time, "coin": "BTC", "dir": "Buy", "sz": "1", "px": "2", "tid": time}
seen = fills.Fills(["0xA"], 100)
fills.info = lambda question: [fill(101), fill(102)]
seen.catch_up(lambda: None)
seen.settle()
for time in (101, 102, 103):
    seen.take("0xa", fill(time))`
    expect(python(script).map((line) => line.split(' ')[0])).toEqual(['101', '102', '103'])
  })

  it('connects again after an answer that was cut short', () => {
    const script = `
import http.client
ends = iter([http.client.IncompleteRead(b"["), 4401])
def follow(_):
    end = next(ends)
    if isinstance(end, Exception):
        raise end
    return end
fills.follow = follow
fills.time.sleep = lambda _: None
fills.main(["0xa"])`
    expect(python(script)).toEqual([
      expect.stringMatching(/^reconnecting: /),
      'the gateway rejected the connection: 4401',
    ])
  })

  it('stays on a connection on which asking for many wallets takes long, and pings meanwhile', () => {
    const script = `
import json, types
now = 0
fills.time = types.SimpleNamespace(monotonic=lambda: now)
sent = []
frames = [{"channel": "subscriptionResponse"}, {"channel": "pong"}, {"channel": "error", "data": "end", "code": "over"}]
class Socket:
    def send(self, text):
        sent.append(json.loads(text)["method"])
    def settimeout(self, seconds):
        pass
    def recv_data(self):
        global now
        now += 11
        return 1, json.dumps(frames.pop(0))
    def close(self):
        pass
fills.websocket.create_connection = lambda url, timeout: Socket()
asked = []
def info(question):
    global now
    now += 5
    asked.append(question["user"])
    return []
fills.info = info
end = fills.follow(fills.Fills([f"0x{i}" for i in range(20)], 0))
print(end, len(asked), sent.count("ping") > 5)`
    expect(python(script)).toEqual(['over 40 True', 'end'])
  })
})
