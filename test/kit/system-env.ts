// The environment of a user's shell.

import { delimiter } from 'node:path'

/** It has the Node and the npm of the system, and nothing of the npm that runs the tests. */
export const SYSTEM_ENV: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|WRANGLER_|VITEST|NODE_ENV|TEST$|DEV$)/i.test(name)),
  ),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((path) => !path.includes('node_modules'))
    .join(delimiter),
}
