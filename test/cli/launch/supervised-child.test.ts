import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exitReason, lastErrorLine, restartDelayMs, SupervisedChild } from '../../../src/cli/launch/launch.node.ts'

test('a child whose log was removed with its folder is restarted with a new log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-child-'))
  const log = join(folder, 'log/child.log')
  mkdirSync(join(folder, 'log'))
  const heard: string[] = []
  const again = Promise.withResolvers<void>()
  const child = new SupervisedChild(
    {
      name: 'child',
      args: ['-e', 'require("node:fs").rmSync(process.argv[1], { recursive: true })', join(folder, 'log')],
      env: {},
      log,
    },
    {
      onStart: () => void (heard.push(`started, log ${existsSync(log)}`) === 3 && again.resolve()),
      onExit: (_, how) => void heard.push(how),
    },
  )
  child.start()
  await again.promise
  await child.stop()
  expect(heard).toEqual(['started, log true', 'exit code 0', 'started, log true'])
  rmSync(folder, { recursive: true })
})

test('the delay doubles from 200 ms to 2 s while the child keeps dying, and resets once the child was stable', () => {
  const delays = [0]
  for (let i = 0; i < 6; i++) delays.push(restartDelayMs(delays.at(-1)!, 50))
  expect(delays.slice(1)).toEqual([200, 400, 800, 1_600, 2_000, 2_000])
  expect(restartDelayMs(2_000, 5_000)).toBe(200)
})

test.each([
  [
    'devnet',
    'devnet: http://127.0.0.1:1\ndevnet: cannot write block 347: ENOSPC: no space left on device, write.\n',
    'cannot write block 347: ENOSPC: no space left on device, write.',
  ],
  [
    'the feeder',
    '{"say":"the \\"log\\" is of\\u001b[2J another chain"}\n{"status":{"height":1}}\n',
    'the "log" is of [2J another chain',
  ],
  [
    'Node',
    'node:fs:977\n  handle\n\nTypeError: no such thing\n    at main (file:///x.ts:1:1)\n\nNode.js v24.21.0\n',
    'TypeError: no such thing',
  ],
  [
    'workerd',
    'error *** Uncaught exception ***\nworkerd/util/sqlite.c++:914: failed: SQLite failed; SQLITE_NOTADB\nstack: a b\n}\n',
    'workerd/util/sqlite.c++:914: failed: SQLite failed; SQLITE_NOTADB',
  ],
])('the last error line of %s', (_, log, words) => {
  expect(lastErrorLine(log)).toBe(words)
})

test('the reason has no error line if the log has none, and never more than one line', () => {
  expect(lastErrorLine('')).toBe(null)
  expect(lastErrorLine('gateway at http://127.0.0.1:1\n{"status":{}}\n')).toBe(null)
  expect(lastErrorLine(`devnet: ${'x'.repeat(5000)}`)).toHaveLength(300)
})

test('the reason omits errors before a healthy line of the feeder or the gateway', () => {
  const trouble = '{"say":"nothing listens at 127.0.0.1:1"}\n'
  expect(lastErrorLine(`${trouble}{"status":{"state":"sending","why":null,"height":1}}\n`)).toBe(null)
  expect(lastErrorLine(`Error: no such\ngateway at http://127.0.0.1:1\n`)).toBe(null)
  expect(lastErrorLine(`${trouble}{"status":{"state":"sending","why":"no snapshots","height":1}}\n`)).toMatch(
    /^nothing/,
  )
})

test.each<[number | null, string | null, string]>([
  [null, 'SIGKILL', 'SIGKILL'],
  [null, 'SIGTERM', 'SIGTERM'],
  [0, null, 'exit code 0'],
  [1, null, 'exit code 1: Error: x'],
  [null, 'SIGABRT', 'SIGABRT: Error: x'],
])('a child that ended with %s, %s has no error line for an external signal', (code, signal, how) => {
  expect(exitReason(code, signal, () => 'Error: x\n')).toBe(how)
})
