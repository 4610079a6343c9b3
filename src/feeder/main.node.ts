// The feeder's own package. Everything else runs it as `weir feed`.

import { runProgram } from '../core/command-line.node.ts'
import { feedProgram } from './feed.node.ts'

await runProgram(feedProgram('npx weir-feeder'), process.argv.slice(2))
