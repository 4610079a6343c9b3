// Builds the Workers and the client package once for all conformance tests: two builds at once would take each other's files away.

import { join } from 'node:path'
import { build } from '../../src/cli/launch/build.node.ts'
import { buildPackage } from './package/bundle.ts'

export default async function setup(): Promise<void> {
  await build(join(import.meta.dirname, '../..'))
  buildPackage()
}
