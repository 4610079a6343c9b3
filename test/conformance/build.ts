// Builds both Workers once for all conformance tests.

import { join } from 'node:path'
import { build } from '../../src/launch/build.node.ts'

export default async function setup(): Promise<void> {
  await build(join(import.meta.dirname, '../..'))
}
