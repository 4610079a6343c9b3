// Runs the gateway of gateway.worker.ts and the built objects as a separate process. Arguments: `STATE PORT
// RPC_CHAINS`.

import { join } from 'node:path'
import { startGatewayProcess } from '../../../src/cli/launch/gateway-process.node.ts'
import { SECRETS } from '../../kit/gateway.ts'
import { BUNDLES } from './bundles.ts'

const [state, port, chains] = process.argv.slice(2)
const { url } = await startGatewayProcess({
  root: join(import.meta.dirname, '../../..'),
  bundles: BUNDLES,
  state: state!,
  port: Number(port),
  secrets: SECRETS,
  vars: { TRUST_PROXY: 'off', PIPELINE_PRIVATE: 'on', UPSTREAMS: '[]', RPC_CHAINS: chains! },
  objectVars: { PIPELINE_PRIVATE: 'on', PIPELINE_MINUTE_CREDITS: '0', RPC_CHAINS: chains! },
})
process.stdout.write(`gateway at ${url}\n`)
