// The program of the package, and of processes that the commands start.

import { weir } from './weir.node.ts'

await weir(process.argv.slice(2))
