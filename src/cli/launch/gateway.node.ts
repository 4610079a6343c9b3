// The gateway as a separate process: `--state DIR --port N --node URL [--keep MB] [--inspector PORT]`, with secrets and operator
// variables from the environment. Miniflare restarts workerd when it dies, and stops it on SIGINT and SIGTERM.

import { parseArgs } from 'node:util'
import { ROOT } from '../version.node.ts'
import { gatewayVariables } from './args.ts'
import { startGatewayProcess } from './gateway-process.node.ts'

const { values } = parseArgs({
  options: {
    state: { type: 'string' },
    port: { type: 'string' },
    node: { type: 'string' },
    keep: { type: 'string', default: '' },
    inspector: { type: 'string' },
  },
})
const { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET, METRICS_TOKEN = '' } = process.env
if (!values.state || !values.port || !values.node || !ADMIN_TOKEN || !FEED_TOKEN || !KEY_SECRET) {
  process.stderr.write('gateway: needs --state, --port, --node and ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET\n')
  process.exit(2)
}

const variables = gatewayVariables(process.env, values.node, values.keep)
if (!variables.ok) {
  process.stderr.write(`gateway: ${variables.error}\n`)
  process.exit(2)
}
const { url } = await startGatewayProcess({
  root: ROOT,
  state: values.state,
  port: Number(values.port),
  ...(values.inspector === undefined ? {} : { inspectorPort: Number(values.inspector) }),
  secrets: { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET },
  ...variables.value,
  vars: { ...variables.value.vars, METRICS_TOKEN },
})
process.stderr.write(`gateway at ${url}\n`)
