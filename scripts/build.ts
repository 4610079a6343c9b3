// `npm run build` builds all Workers into dist if anything changed.
import { join } from 'node:path'
import { build } from '../src/cli/launch/build.node.ts'

await build(join(import.meta.dirname, '..'))
