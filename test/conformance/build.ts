// Global setup of the conformance tests: builds the Workers and the client package, installs the browser driver, and
// migrates the databases. Parallel builds would delete each other's files, so `npm test` builds the Workers before it
// starts two projects at once, and only one of them builds the rest.

import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { build } from '../../src/cli/launch/build.node.ts'
import { migrate } from '../../src/cli/launch/gateway-process.node.ts'
import { installBrowser } from '../browser/browser.ts'
import { scratch } from '../kit/program.ts'
import { buildPackage } from './package/bundle.ts'

export default async function setup({ name }: TestProject): Promise<() => void> {
  const root = join(import.meta.dirname, '../..')
  await build(root)
  if (name !== 'minutes') {
    buildPackage()
    installBrowser()
  }
  const { path: state, remove } = scratch()
  await migrate({ root, state })
  process.env.MIGRATED_STATE = state
  return remove
}
