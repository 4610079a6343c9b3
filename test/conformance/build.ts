// Builds both Workers once for all conformance tests.

import { build } from '../../src/launch/build.node.ts'

export default async function setup(): Promise<void> {
  await build(new URL('../..', import.meta.url).pathname)
}
