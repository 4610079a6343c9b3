import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SupervisedChild } from '../../src/launch/supervised-child.node.ts'

test('a child whose log was removed with its folder is started again, with a new one', async () => {
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
      started: () => void (heard.push(`started, log ${existsSync(log)}`) === 3 && again.resolve()),
      died: (_, how) => void heard.push(how),
    },
  )
  child.start()
  await again.promise
  await child.stop()
  expect(heard).toEqual(['started, log true', 'exit code 0', 'started, log true'])
  rmSync(folder, { recursive: true })
})
