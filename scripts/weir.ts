// `weir` in the repository: builds the Workers first if their sources changed.

import { join } from 'node:path'
import { build } from '../src/cli/launch/build.node.ts'
import { weir } from '../src/cli/weir.node.ts'

await weir(process.argv.slice(2), () => build(join(import.meta.dirname, '..')))
